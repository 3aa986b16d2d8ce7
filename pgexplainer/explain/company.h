// A graph beside another one: would it still get its class in the company of a graph that the
// network gives another one?
//
// What is left of a masked graph is unlike any graph the network has seen (lone atoms, bare
// frames), and the network's answer for it says as much about that as about the edges kept. Beside
// a whole graph of another class it has to bring the evidence for its own class itself: what both
// classes have in common is there already. For graph classification; both are read out as one
// graph, which needs a readout that is not a sum. Source: our own measurements,
// docs/reliability.md.
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/explain/explained_model.h"
#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer {

/// Some graphs of a dataset, by the classes that the network gives them.
struct Company {
  std::vector<InstanceGraph> graphs;
  std::vector<std::vector<std::size_t>> of_other_class;  ///< for every class, which have another

  /// The u-th, u in [0, 1), of the graphs of another class than c; null if there is none.
  [[nodiscard]] const InstanceGraph* other_than(std::size_t c, double u) const {
    if (c >= of_other_class.size() || of_other_class[c].empty()) return nullptr;
    const auto& others = of_other_class[c];
    return &graphs[others[static_cast<std::size_t>(u * static_cast<double>(others.size()))]];
  }
};

/// At most 512 graphs, evenly chosen from the dataset, and as many as fit into little memory; none
/// that is too large for the model's limit. No company at all for a network that gives a graph
/// beside its own copy another prediction.
Company gather_company(const ExplainedModel& model, ThreadPool& pool);

/// The graph's row of logits as a function of the mask of its own edges, its company whole. As
/// ExplainedRow; `both` is memory.
class InCompany {
 public:
  InCompany(const InstanceGraph& graph, const InstanceGraph& company, GnnRun& run,
            InstanceGraph& both)
      : row_(unite(graph, company, both), run), num_edges_(both.edges.size()) {}

  std::span<const float> forward(std::span<const float> mask) {
    mask_.assign(mask.begin(), mask.end());
    mask_.resize(num_edges_, 1.0F);
    return row_.forward(mask_);
  }
  void backward(std::span<const float> dlogits, std::span<float> dmask) {
    dmask_.assign(num_edges_, 0.0F);
    row_.backward(dlogits, dmask_);
    for (std::size_t e = 0; e < dmask.size(); ++e) dmask[e] += dmask_[e];
  }

 private:
  ExplainedRow row_;
  std::size_t num_edges_;
  std::vector<float> mask_, dmask_;
};

}  // namespace pgexplainer
