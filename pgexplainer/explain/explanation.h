// What an explainer says about one prediction: a score for every edge that could have mattered, and
// ways to choose the edges that are shown.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

/// Class probabilities.
struct Prediction {
  std::vector<float> probability;

  [[nodiscard]] std::int64_t predicted_class() const;  ///< the first of the largest
};

/// Ids of nodes and edges are the dataset's. Rank edges by score; its scale is the method's own.
struct Explanation {
  Instance instance;
  std::vector<NodeId> nodes;           ///< of the instance
  std::vector<NodeId> targets;         ///< the nodes that are explained; empty for a graph
  std::vector<EdgeId> edges;           ///< of the instance
  std::vector<NodeId> source, target;  ///< of each edge
  std::vector<EdgeId> reverse;         ///< position of the edge in the other direction, or kNoEdge
  std::vector<float> score;            ///< of each edge: higher = more important
  std::vector<float> feature_score;    ///< of each feature; empty = not explained
  std::vector<std::uint8_t> selected;  ///< of each edge: part of the explanatory subgraph
  Prediction prediction;               ///< on the whole instance
  Prediction prediction_kept;          ///< with the selected edges alone
  Prediction prediction_removed;       ///< without the selected edges
  bool sampled = false;                ///< of a part of the instance, as CutOptions says

  /// How far to rely on the selected edges, from 0 to 1: the share of the predicted class's
  /// probability that they keep alone and that is gone without them. NaN if predictions are
  /// missing.
  [[nodiscard]] double confidence() const;
};

/// Drops all edges but the selected ones, and all nodes but their ends and the targets.
void keep_selected(Explanation& explanation);

/// Gives both directions of an edge the mean of their scores.
void merge_directions(Explanation& explanation);

// Choices of edges, one flag per edge. Both directions of an edge are chosen together, by the mean
// of their scores; of equal scores the earlier edge comes first.

/// The k best edges, both directions counted as one.
std::vector<std::uint8_t> top_k(const Explanation& explanation, std::int64_t k);
/// Every edge with a score of at least `threshold`.
std::vector<std::uint8_t> at_least(const Explanation& explanation, double threshold);
/// |G_s| <= B: the best edges while their number, each direction counted, stays within the budget.
std::vector<std::uint8_t> within_budget(const Explanation& explanation, std::int64_t budget);
/// All other edges.
std::vector<std::uint8_t> complement(std::span<const std::uint8_t> selected);
/// The chosen edges that hang together with a target; for a graph, the largest connected part (of
/// equal ones the first).
std::vector<std::uint8_t> connected_part(const Explanation& explanation,
                                         std::span<const std::uint8_t> selected);

struct SelectionOptions {
  std::int64_t top_k = 10;
  std::int64_t max_selected = 0;
  double threshold = 0;
  bool use_threshold = false;
  bool connected = false;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("top_k", &SelectionOptions::top_k, Bounds{0, 1e15},
          "edges in the explanatory subgraph, both directions counted as one");
    field("max_selected", &SelectionOptions::max_selected, Bounds{0, 1e15},
          "instead: at most so many edges, each direction counted; 0 = off");
    field("use_threshold", &SelectionOptions::use_threshold, Bounds{},
          "instead: all edges whose score is at least --threshold");
    field("threshold", &SelectionOptions::threshold, Bounds{}, "the score for --use-threshold");
    field("connected", &SelectionOptions::connected, Bounds{},
          "then keep only the part around the explained node (of a graph: the largest part)");
  }
};
std::vector<std::uint8_t> select_edges(const Explanation& explanation,
                                       const SelectionOptions& options);

}  // namespace pgexplainer
