// An explanation as a picture: the instance's graph, nodes coloured by label, atoms with their
// letters, the explained node marked, the selected edges bold, the motif shaded.
#pragma once

#include "pgexplainer/datasets/dataset.h"
#include "pgexplainer/explain/explanation.h"
#include "pgexplainer/report/graph_picture.h"

namespace pgexplainer {

struct ExplanationPictureOptions {
  bool ground_truth = true;      ///< shade the motif, where it is known
  std::int64_t max_nodes = 400;  ///< larger instances show only what is near the explanation
  std::string title;             ///< empty = "node 400", "graph 3", "link 3-17"
};

/// Scores are drawn as shares of their range in this instance.
GraphPicture explanation_picture(const Dataset& dataset, const Explanation& explanation,
                                 const ExplanationPictureOptions& options = {});

}  // namespace pgexplainer
