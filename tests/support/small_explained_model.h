// Small networks on small graphs for tests of explainers, and the same network in double on the
// whole graph as the slow reference.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/explain/explainer.h"
#include "pgexplainer/model/native_gnn.h"

namespace pgexplainer {

using EdgeList = std::vector<std::pair<NodeId, NodeId>>;

/// Both directions of each pair.
inline EdgeList undirected(const EdgeList& pairs) {
  EdgeList all;
  for (const auto& [a, b] : pairs) {
    all.emplace_back(a, b);
    all.emplace_back(b, a);
  }
  return all;
}

/// A triangle with a tail, and node 5 alone.
inline EdgeList triangle_with_tail() { return {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}}; }

/// Two smooth layers of one type with random weights, two features and three classes.
class SmallExplainedModel {
 public:
  SmallExplainedModel(const std::string& layer, Task task, NodeId nodes, const EdgeList& edges,
                      std::uint64_t seed = 3) {
    std::vector<NodeId> source, target;
    for (const auto& [from, to] : edges) {
      source.push_back(from);
      target.push_back(to);
    }
    dataset.task = task;
    dataset.graph = Graph(nodes, source, target);
    dataset.graph_ptr = {0, nodes};
    dataset.edge_ptr = {0, static_cast<EdgeId>(edges.size())};
    dataset.y.assign(task == Task::node ? at(nodes) : 1, 2);
    dataset.x.resize(nodes, 2);
    RandomStream random(seed, RandomPurpose::test);
    for (Index i = 0; i < dataset.x.size(); ++i)
      dataset.x.data()[i] = static_cast<float>(random.normal());
    ModelSpec spec;
    spec.task = task;
    spec.in_channels = 2;
    spec.num_classes = 3;
    for (const char* name : {"conv0", "conv1"}) {
      nlohmann::json description = nlohmann::json::parse(layer);
      description["name"] = name;
      description["out_channels"] = 4;
      spec.blocks.push_back({description, {{"type", "Tanh"}}});
    }
    if (task == Task::graph) spec.readout = {Aggregation::mean};
    spec.classifier = {{{"type", "Linear"}, {"name", "lin"}, {"out_channels", 3}}};
    model = std::make_shared<NativeGnn<float>>(spec, "test", seed);
    explained = std::make_unique<ExplainedModel>(make_gnn(model), dataset);
  }

  [[nodiscard]] InstanceGraph cut(std::int64_t id) const {
    InstanceGraph graph;
    explained->new_cutter().cut({id}, graph);
    return graph;
  }
  /// Scores per edge of the dataset; NaN where the instance does not have it.
  [[nodiscard]] std::vector<double> scores(Explainer& explainer, std::int64_t id) const {
    const InstanceGraph graph = cut(id);
    ThreadPool pool(1);
    explainer.prepare(*explained, {}, pool);
    const auto run = explained->gnn().new_run();
    const Scores scores = explainer.score(graph, *run);
    std::vector<double> all(at(dataset.graph.num_edges()), std::nan(""));
    for (std::size_t e = 0; e < scores.edge.size(); ++e)
      all[at(graph.edges[e])] = static_cast<double>(scores.edge[e]);
    return all;
  }
  /// Logits of an instance in double, from the whole graph.
  [[nodiscard]] std::vector<double> logits(std::int64_t id, const std::vector<double>& mask,
                                           const Matrix<double>& x) const {
    NativeGnn<double> exact(model->spec(), "test", 0);
    exact.theta().assign(model->theta().begin(), model->theta().end());
    GnnInput<double> input;
    input.graph = dataset.graph.adjacency();
    input.x = &x;
    NativeGnn<double>::Workspace workspace;
    const Matrix<double>& all = exact.forward(input, mask, {}, workspace);
    const Index row = dataset.task == Task::node ? id : 0;
    return {all.data() + row * all.cols(), all.data() + (row + 1) * all.cols()};
  }
  [[nodiscard]] std::vector<double> logits(std::int64_t id, const std::vector<double>& mask) const {
    return logits(id, mask, dataset.x.cast<double>());
  }
  [[nodiscard]] std::vector<double> all_edges() const {
    return std::vector<double>(at(dataset.graph.num_edges()), 1.0);
  }

  Dataset dataset;
  std::shared_ptr<NativeGnn<float>> model;
  std::unique_ptr<ExplainedModel> explained;
};

inline const std::string kSum = R"({"type":"GCNConv","normalize":false,"add_self_loops":false})";
inline const std::string kGat = R"({"type":"GATConv","heads":2})";

inline std::size_t largest(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}
inline double softmax_of(const std::vector<double>& logits, std::size_t c) {
  double total = 0;
  for (const double z : logits) total += std::exp(z - logits[c]);
  return 1 / total;
}

}  // namespace pgexplainer
