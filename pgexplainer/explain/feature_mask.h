// Which node features matter to a population (Appendix D): one concrete mask over the features,
// shared by all instances, learnt like the ranking of edges: keep the features of the mask and the
// prediction should stay, remove them and it should go, at every sparsity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/model/gnn.h"
#include "pgexplainer/model/instance_graph.h"
#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer {

struct FeatureMaskOptions {
  std::int64_t epochs = 100;
  double lr = 0.05;
  double tau = 1.0;
};

/// One logit per feature, higher = more important. `predicted` is the model's class of each graph.
std::vector<float> fit_feature_mask(const Gnn& gnn, std::span<const InstanceGraph* const> graphs,
                                    std::span<const std::size_t> predicted,
                                    const FeatureMaskOptions& options, std::uint64_t seed,
                                    ThreadPool& pool);

}  // namespace pgexplainer
