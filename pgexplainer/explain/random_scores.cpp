#include "pgexplainer/explain/random_scores.h"

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/explained_row.h"

namespace pgexplainer {

Scores RandomScores::score(const InstanceGraph& instance, GnnRun&) const {
  RandomStream random = instance_stream(seed_, instance.instance);
  Scores scores;
  scores.edge.resize(at(instance.num_edges()));
  for (float& value : scores.edge) value = static_cast<float>(random.uniform());
  return scores;
}

}  // namespace pgexplainer
