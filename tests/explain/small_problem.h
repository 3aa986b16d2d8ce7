// Small datasets with networks to explain, quick enough to fit explainers on in every test.
#pragma once

#include <memory>
#include <vector>

#include "pgexplainer/core/random.h"
#include "pgexplainer/datasets/ba_2motifs.h"
#include "pgexplainer/datasets/tree_cycles.h"
#include "pgexplainer/explain/pg_explainer.h"
#include "pgexplainer/model/architecture.h"
#include "pgexplainer/model/native_gnn.h"

namespace pgexplainer {

inline Dataset small_tree_cycles(std::uint64_t seed) {
  TreeCyclesOptions options;
  options.tree_levels = 4;
  options.num_motifs = 6;
  return generate_tree_cycles(options, seed);
}

inline Dataset small_ba_2motifs(std::uint64_t seed) {
  Ba2motifsOptions options;
  options.num_graphs = 12;
  options.base_nodes = 8;
  return generate_ba_2motifs(options, seed);
}

/// A dataset, a network with random parameters, and the two together.
struct SmallProblem {
  Dataset dataset;
  std::shared_ptr<const Gnn> gnn;
  ExplainedModel model;

  SmallProblem(Dataset data, std::vector<std::int64_t> hidden = {6, 6, 6},
               std::uint64_t model_seed = 3)
      : dataset(std::move(data)),
        gnn(make_gnn(random_network(dataset, std::move(hidden), model_seed))),
        model(gnn, dataset) {}
  SmallProblem(Dataset data, std::shared_ptr<const Gnn> network)
      : dataset(std::move(data)), gnn(std::move(network)), model(gnn, dataset) {}
  SmallProblem(const SmallProblem&) = delete;
  SmallProblem& operator=(const SmallProblem&) = delete;

  /// Fresh biases are zero, and then the normalisation of the first layer makes all nodes of
  /// Tree-Cycles equal; so every parameter is drawn.
  static std::shared_ptr<const NativeGnn<float>> random_network(const Dataset& dataset,
                                                                std::vector<std::int64_t> hidden,
                                                                std::uint64_t seed) {
    ArchitectureOptions options;
    options.hidden = std::move(hidden);
    const auto network =
        std::make_shared<NativeGnn<float>>(make_architecture(options, dataset), "test", seed);
    RandomStream random(seed, RandomPurpose::test);
    for (const Parameter& p : network->layout().parameters())
      if (p.trainable)
        for (std::size_t i = 0; i < p.size; ++i)
          network->theta()[p.offset + i] = static_cast<float>(random.normal());
    return network;
  }
};

/// The instances [first, last).
inline std::vector<Instance> instances_between(std::int64_t first, std::int64_t last) {
  std::vector<Instance> instances;
  for (std::int64_t id = first; id < last; ++id) instances.push_back({id});
  return instances;
}

inline PGExplainerOptions quick_options(const std::string& objective = "ranking") {
  PGExplainerOptions options;
  options.objective = objective;
  options.epochs = 4;
  options.hidden = {8};
  options.restarts = 0;
  return options;
}

inline FitReport fit(PGExplainer& explainer, const ExplainedModel& model,
                     const std::vector<Instance>& instances, int threads = 1) {
  ThreadPool pool(threads);
  return explainer.fit(model, instances, pool, {});
}

inline std::vector<Explanation> explain(PGExplainer& explainer, const ExplainedModel& model,
                                        const std::vector<Instance>& instances, int threads = 1) {
  ThreadPool pool(threads);
  return explain(model, explainer, instances, {}, pool);
}

}  // namespace pgexplainer
