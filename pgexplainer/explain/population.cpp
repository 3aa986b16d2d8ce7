#include "pgexplainer/explain/population.h"

#include <cmath>

#include "pgexplainer/core/error.h"
#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {

Population gather_population(const ExplainedModel& model, std::span<const Instance> instances,
                             std::span<const std::size_t> wanted, const PGExplainerOptions& options,
                             ThreadPool& pool) {
  Population population;
  population.members.resize(instances.size());
  const auto pieces = static_cast<std::int64_t>(wanted.size());
  struct Cutter {
    InstanceCutter cutter;
    std::unique_ptr<GnnRun> run;
  };
  std::vector<std::unique_ptr<Cutter>> cutters(at(pool.size()));
  pool.run(pieces, [&](std::int64_t piece, int worker) {
    auto& own = cutters[at(worker)];
    if (!own) own.reset(new Cutter{model.new_cutter(), model.gnn().new_run()});
    const std::size_t i = wanted[at(piece)];
    Member& member = population.members[i];
    own->cutter.cut(instances[i], member.graph);
    member.pairs = EdgePairs(member.graph.reverse);
    const Prediction prediction = predict(member.graph, *own->run, {});
    member.predicted = at(prediction.predicted_class());
    for (const float p : prediction.probability)
      if (!std::isfinite(p))
        throw_bad_input("the model's prediction for instance {} is not a number",
                        member.graph.instance.id);
    const std::vector<float> nothing(member.graph.edges.size(), 0.0F);
    member.without_edges = predict(member.graph, *own->run, nothing).probability[member.predicted];
    // The ranking objective reads the predicted class alone.
    if (options.objective == "ranking" || options.target == "soft") {
      member.p = prediction.probability;
      return;
    }
    member.p.assign(prediction.probability.size(), 0.0F);
    std::size_t target = member.predicted;
    if (options.target == "label") {
      target = at(model.dataset().y[at(member.graph.instance.id)]);
      if (target >= member.p.size())
        throw_bad_input("instance {} has label {}, but the model knows {} classes",
                        member.graph.instance.id, target, member.p.size());
    }
    member.p[target] = 1.0F;
  });

  if (options.objective == "ranking" && options.company && model.gnn().task() == Task::graph)
    population.company = gather_company(model, pool);
  std::vector<NodeId> row(at(model.dataset().graph.num_nodes()), kNoNode);
  for (const std::size_t i : wanted) {
    Member& member = population.members[i];
    for (const NodeId node : member.graph.nodes) {
      if (row[at(node)] == kNoNode) {
        row[at(node)] = static_cast<NodeId>(population.nodes.size());
        population.nodes.push_back(node);
      }
      member.rows.push_back(row[at(node)]);
    }
  }
  return population;
}

void embed(const ExplainedModel& model, Embedding kind, Population& population, ThreadPool& pool) {
  population.z.resize(static_cast<Index>(population.nodes.size()), 0);
  if (model.gnn().task() == Task::graph) {  // each graph for itself: it stays in the cache
    const std::unique_ptr<GnnRun> run = model.gnn().new_run();
    for (const Member& member : population.members) {
      if (member.rows.empty()) continue;
      const Matrix<float>& z = run->embed(member.graph.input(), kind);
      if (population.z.cols() == 0) population.z.resize(population.z.rows(), z.cols());
      for (Index i = 0; i < z.rows(); ++i) population.z.row(member.rows[at(i)]) = z.row(i);
    }
  } else {
    const Matrix<float> z = model.embed(kind, &pool);
    population.z.resize(population.z.rows(), z.cols());
    for (std::size_t i = 0; i < population.nodes.size(); ++i)
      population.z.row(static_cast<Index>(i)) = z.row(population.nodes[i]);
  }
  if (!population.z.allFinite()) throw_bad_input("the model's node embeddings are not all numbers");
}

}  // namespace pgexplainer
