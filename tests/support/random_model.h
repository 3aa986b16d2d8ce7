// Random small datasets and networks of every kind, for property tests.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "pgexplainer/core/random.h"
#include "pgexplainer/datasets/dataset.h"
#include "pgexplainer/model/model_spec.h"

namespace pgexplainer {

/// One random graph with features, edge features and, sometimes, edge weights; self-loops, parallel
/// edges and isolated nodes occur.
inline Dataset random_node_dataset(NodeId most_nodes, std::size_t most_edges) {
  const auto nodes = *rc::gen::inRange<NodeId>(1, most_nodes + 1);
  const auto edges = *rc::gen::inRange<std::size_t>(0, most_edges + 1);
  const auto end = rc::gen::inRange<NodeId>(0, nodes);
  Dataset dataset;
  dataset.graph = Graph(nodes, *rc::gen::container<std::vector<NodeId>>(edges, end),
                        *rc::gen::container<std::vector<NodeId>>(edges, end));
  dataset.graph_ptr = {0, nodes};
  dataset.edge_ptr = {0, static_cast<EdgeId>(edges)};
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1'000'000), RandomPurpose::test);
  dataset.x.resize(nodes, 3);
  for (Index i = 0; i < dataset.x.size(); ++i)
    dataset.x.data()[i] = static_cast<float>(random.normal());
  dataset.edge_attr.resize(static_cast<Index>(edges), 2);
  for (Index i = 0; i < dataset.edge_attr.size(); ++i)
    dataset.edge_attr.data()[i] = static_cast<float>(random.normal());
  if (*rc::gen::arbitrary<bool>())
    for (std::size_t e = 0; e < edges; ++e)
      dataset.edge_weight.push_back(static_cast<float>(0.2 + random.uniform()));
  for (NodeId v = 0; v < nodes; ++v) dataset.y.push_back(v % 2);
  split_80_10_10(dataset, 0);
  return dataset;
}

/// Two or three blocks of random layers on 3 features, 2 edge features and 2 classes.
inline ModelSpec random_model_spec(Task task) {
  static const std::vector<std::string> kConvolutions = {
      R"({"type":"GCNConv"})",
      R"({"type":"GCNConv","add_self_loops":false})",
      R"({"type":"GCNConv","normalize":false})",
      R"({"type":"GraphConv","aggr":"max"})",
      R"({"type":"SAGEConv","normalize":true})",
      R"({"type":"GINConv"})",
      R"({"type":"GINEConv","edge_dim":2})",
      R"({"type":"GATConv","heads":2,"edge_dim":2})",
      R"({"type":"GATv2Conv","heads":2,"concat":false})",
      R"({"type":"TransformerConv","edge_dim":2})"};
  static const std::vector<std::string> kOthers = {
      R"({"type":"ReLU"})", R"({"type":"ELU"})", R"({"type":"GELU"})", R"({"type":"L2Norm"})",
      R"({"type":"LayerNorm","name":"norm","mode":"node"})"};
  ModelSpec spec;
  spec.task = task;
  spec.in_channels = 3;
  spec.num_classes = 2;
  spec.jumping_knowledge =
      *rc::gen::element(JumpingKnowledge::last, JumpingKnowledge::cat, JumpingKnowledge::max);
  const auto blocks = *rc::gen::inRange(1, 4);
  for (int b = 0; b < blocks; ++b) {
    nlohmann::json layer = nlohmann::json::parse(*rc::gen::elementOf(kConvolutions));
    layer["name"] = "conv" + std::to_string(b);
    if (layer.value("mlp", true))
      layer["out_channels"] = layer.contains("heads") && layer.value("concat", true) ? 2 : 4;
    nlohmann::json other = nlohmann::json::parse(*rc::gen::elementOf(kOthers));
    if (other.contains("name")) other["name"] = "norm" + std::to_string(b);
    spec.blocks.push_back({layer, other});
  }
  if (task == Task::graph) spec.readout = {Aggregation::max, Aggregation::mean};
  spec.classifier = {{{"type", "Linear"}, {"name", "lin"}, {"out_channels", 2}}};
  return spec;
}

}  // namespace pgexplainer
