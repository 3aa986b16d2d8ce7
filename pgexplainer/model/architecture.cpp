#include "pgexplainer/model/architecture.h"

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

json convolution(const ArchitectureOptions& options, const std::string& name, std::int64_t width,
                 Index edge_channels) {
  json layer = {{"name", name}, {"out_channels", width}};
  const std::string& arch = options.arch;
  const auto attention = [&] {
    layer["heads"] = options.heads;
    layer["concat"] = false;
    if (edge_channels > 0) layer["edge_dim"] = edge_channels;
  };
  if (arch == "paper" || arch == "sum") {
    layer.update({{"type", "GCNConv"}, {"normalize", false}, {"add_self_loops", false}});
  } else if (arch == "gcn") {
    layer["type"] = "GCNConv";
  } else if (arch == "graph") {
    layer["type"] = "GraphConv";
  } else if (arch == "sage") {
    layer["type"] = "SAGEConv";
  } else if (arch == "gin") {
    layer["type"] = "GINConv";
  } else if (arch == "gine") {
    if (edge_channels == 0)
      throw_bad_input("--arch gine needs edge features; this dataset has none");
    layer.update({{"type", "GINEConv"}, {"edge_dim", edge_channels}});
  } else if (arch == "gat") {
    layer["type"] = "GATConv";
    attention();
  } else if (arch == "gatv2") {
    layer["type"] = "GATv2Conv";
    attention();
  } else if (arch == "transformer") {
    layer["type"] = "TransformerConv";
    attention();
  } else {
    throw_bad_input(
        "unknown --arch '{}'; known are paper, gcn, sum, graph, sage, gin, gine, gat, gatv2, "
        "transformer",
        arch);
  }
  return layer;
}

}  // namespace

ModelSpec make_architecture(const ArchitectureOptions& options, const Dataset& dataset) {
  check_option_fields(options);
  const bool paper = options.arch == "paper";
  const bool on_nodes = dataset.task == Task::node;
  if (options.hidden.empty()) throw_bad_input("--hidden names no layer");

  ModelSpec spec;
  spec.task = dataset.task;
  spec.in_channels = dataset.x.cols();
  spec.num_classes = dataset.num_classes();
  if (!options.jk.empty())
    spec.jumping_knowledge = parse_jumping_knowledge(options.jk, "--jk");
  else if (paper && on_nodes)
    spec.jumping_knowledge = JumpingKnowledge::cat;
  for (std::size_t k = 0; k < options.hidden.size(); ++k) {
    const bool last = k + 1 == options.hidden.size();
    std::vector<json>& block = spec.blocks.emplace_back();
    block.push_back(convolution(options, fmt::format("conv{}", k + 1), options.hidden[k],
                                dataset.edge_attr.cols()));
    if (paper || options.norm == "l2") block.push_back({{"type", "L2Norm"}});
    if (!paper && options.norm == "batch")
      block.push_back({{"type", "BatchNorm"}, {"name", fmt::format("norm{}", k + 1)}});
    if (!paper && options.norm == "layer")
      block.push_back(
          {{"type", "LayerNorm"}, {"name", fmt::format("norm{}", k + 1)}, {"mode", "node"}});
    block.push_back({{"type", "ReLU"}});
    if (paper && on_nodes && !last)
      block.push_back(
          {{"type", "BatchNorm"}, {"name", "bn"}, {"eps", 1e-3}, {"fixed_statistics", true}});
  }
  if (options.norm != "none" && options.norm != "batch" && options.norm != "layer" &&
      options.norm != "l2")
    throw_bad_input("--norm is '{}', expected none, batch, layer or l2", options.norm);
  if (!on_nodes) {
    if (options.pool.empty()) throw_bad_input("--pool names no pooling");
    for (const std::string& kind : options.pool) spec.readout.push_back(parse_aggregation(kind));
  }
  if (options.dropout > 0) spec.classifier.push_back({{"type", "Dropout"}, {"p", options.dropout}});
  spec.classifier.push_back(
      {{"type", "Linear"}, {"name", "lin"}, {"out_channels", spec.num_classes}});
  return spec;
}

}  // namespace pgexplainer
