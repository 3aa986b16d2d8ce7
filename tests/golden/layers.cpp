// Layers against numbers computed by PyTorch Geometric: outputs and every gradient. The file's name
// says which layer.
#include <regex>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/graph/graph.h"
#include "pgexplainer/nn/layer_factory.h"
#include "pgexplainer/nn/pooling.h"
#include "tests/golden/golden_check.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

double results_scale(const NpzArrays& file) {
  double scale = 0.0;
  for (const std::string& name : file.names())
    if (name.starts_with("out") || name.starts_with("grad"))
      scale = std::max(scale, largest_magnitude(file.vector<double>(name)));
  return scale;
}

bool has_word(const std::string& name, const std::string& word) {
  return std::regex_search(name, std::regex("(^|_)" + word + "(_|$)"));
}

/// The layer that a fixture holds, as make_layer wants it; parameters are named "layer.<PyG name>".
json describe(const std::string& name, const NpzArrays& file) {
  json d = {{"name", "layer"}};
  const std::string kind = name.substr(0, name.find('_'));
  const auto has = [&](const char* array) { return file.contains(std::string("param.") + array); };
  const auto dim = [&](const char* array, std::size_t axis) {
    return file.shape(std::string("param.") + array).at(axis);
  };
  const auto aggregation = [&] {
    for (const char* word : {"add", "sum", "mean", "max"})
      if (has_word(name, word)) return std::string(word);
    throw_bad_input("{} names no aggregation", name);
  };
  const auto heads = [&](std::int64_t width) {
    std::smatch match;
    if (!std::regex_search(name, match, std::regex("_h([0-9]+)")))
      throw_bad_input("{} names no heads", name);
    const std::int64_t count = std::stoll(match[1]);
    d["heads"] = count;
    d["out_channels"] = width / count;
    d["concat"] = !has_word(name, "mean");
    if (has("lin_edge.weight")) d["edge_dim"] = dim("lin_edge.weight", 1);
  };

  if (kind == "linear") {
    d.update({{"type", "Linear"}, {"out_channels", dim("weight", 0)}, {"bias", has("bias")}});
  } else if (kind == "gcn") {
    d.update({{"type", "GCNConv"},
              {"out_channels", dim("lin.weight", 0)},
              {"normalize", !has_word(name, "nonorm")},
              {"add_self_loops", !has_word(name, "noselfloops")},
              {"bias", has("bias")}});
  } else if (kind == "graphconv") {
    d.update({{"type", "GraphConv"},
              {"out_channels", dim("lin_rel.weight", 0)},
              {"aggr", aggregation()},
              {"bias", has("lin_rel.bias")}});
  } else if (kind == "sage") {
    d.update({{"type", "SAGEConv"},
              {"out_channels", dim("lin_l.weight", 0)},
              {"aggr", aggregation()},
              {"normalize", has_word(name, "normalize")},
              {"root_weight", has("lin_r.weight")},
              {"bias", has("lin_l.bias")}});
  } else if (kind == "gin" || kind == "gine") {
    json hidden = json::array();
    std::size_t k = 0;
    while (has(fmt::format("nn.{}.weight", 2 * k + 2).c_str()))
      hidden.push_back(dim(fmt::format("nn.{}.weight", 2 * k++).c_str(), 0));
    d.update({{"type", kind == "gin" ? "GINConv" : "GINEConv"},
              {"out_channels", dim(fmt::format("nn.{}.weight", 2 * k).c_str(), 0)},
              {"hidden", hidden},
              {"train_eps", file.contains("grad.param.eps")}});
    if (kind == "gine" && has("lin.weight")) d["edge_dim"] = dim("lin.weight", 1);
  } else if (kind == "gat") {
    d.update({{"type", "GATConv"},
              {"bias", has("bias")},
              {"add_self_loops", !has_word(name, "noselfloops")}});
    heads(dim("lin.weight", 0));
  } else if (kind == "gatv2") {
    d.update({{"type", "GATv2Conv"},
              {"bias", has("bias")},
              {"add_self_loops", !has_word(name, "noselfloops")}});
    heads(dim("lin_l.weight", 0));
  } else if (kind == "transformer") {
    d.update({{"type", "TransformerConv"},
              {"bias", has("lin_key.bias")},
              {"root_weight", has("lin_skip.weight")}});
    heads(dim("lin_key.weight", 0));
  } else if (kind == "batchnorm1d") {
    d.update({{"type", "BatchNorm"}, {"eps", file.scalar<double>("eps")}});
  } else if (kind == "layernorm") {
    d.update({{"type", "LayerNorm"},
              {"eps", file.scalar<double>("eps")},
              {"mode", has_word(name, "node") ? "node" : "graph"}});
  } else {
    throw_bad_input("unknown layer '{}'", kind);
  }
  return d;
}

std::vector<NodeId> graph_pointers(const NpzArrays& file) {
  std::vector<NodeId> ptr;
  if (!file.contains("batch")) return ptr;
  const auto batch = file.vector<std::int64_t>("batch");
  const auto graphs =
      file.contains("num_graphs") ? file.scalar<std::int64_t>("num_graphs") : batch.back() + 1;
  ptr.assign(at(graphs) + 1, 0);
  for (const auto g : batch) ++ptr[at(g) + 1];
  for (std::size_t g = 1; g < ptr.size(); ++g) ptr[g] += ptr[g - 1];
  return ptr;
}

template <class T>
Worst run_layer(const std::string& name, const NpzArrays& file) {
  const Matrix<T> x = file.matrix<T>("x");
  const auto nodes = static_cast<NodeId>(x.rows());
  Graph graph(nodes, {}, {});
  if (file.contains("edge_index")) {
    const Matrix<std::int64_t> index = file.matrix<std::int64_t>("edge_index");
    std::vector<NodeId> source(at(index.cols())), target(at(index.cols()));
    for (Index e = 0; e < index.cols(); ++e) {
      source[at(e)] = static_cast<NodeId>(index(0, e));
      target[at(e)] = static_cast<NodeId>(index(1, e));
    }
    graph = Graph(nodes, source, target);
  }
  ParameterLayout layout;
  const auto layer = make_layer<T>(describe(name, file), name, x.cols(), 0, layout);
  std::vector<T> theta(layout.size());
  for (const Parameter& p : layout.parameters()) {
    const auto values = file.vector<T>("param." + p.name.substr(6));
    if (values.size() != p.size)
      throw_bad_input("{} has {} entries, expected {}", p.name, values.size(), p.size);
    std::copy(values.begin(), values.end(), theta.begin() + static_cast<std::ptrdiff_t>(p.offset));
  }

  const auto optional = [&](const char* array) {
    return file.contains(array) ? file.vector<T>(array) : std::vector<T>();
  };
  const std::vector<T> weight = optional("edge_weight");
  const std::vector<T> mask = optional("edge_mask");
  const std::vector<NodeId> graph_ptr = graph_pointers(file);
  Matrix<T> attr;
  if (file.contains("edge_attr")) attr = file.matrix<T>("edge_attr");
  LayerContext<T> context;
  context.graph = graph.adjacency();
  context.num_rows = nodes;
  context.edge_weight = weight;
  context.edge_mask = mask;
  context.graph_ptr = graph_ptr;
  context.training = has_word(name, "train");
  if (attr.cols() > 0) context.edge_attr = &attr;

  Matrix<T> out, dx, dattr = Matrix<T>::Zero(attr.rows(), attr.cols());
  Saved<T> saved;
  layer->forward(theta.data(), context, x, out, saved);
  std::vector<T> dtheta(theta.size(), T(0)), dweight(weight.size(), T(0)), dmask(mask.size(), T(0));
  const Matrix<T> R = file.matrix<T>("R");
  if (R.rows() != out.rows() || R.cols() != out.cols())
    throw_bad_input("the output has another shape than R");
  layer->backward(theta.data(), context, x, out, R, saved,
                  {dtheta.data(), &dx, dweight, dmask, attr.cols() > 0 ? &dattr : nullptr});

  // Every stored result must be one we compare; what a fixture adds and we do not know must not
  // pass unseen.
  Worst worst(results_scale(file));
  for (const std::string& array : file.names()) {
    if (array == "out") {
      worst.compare(out.data(), file.vector<double>(array), array);
    } else if (array == "grad.x") {
      worst.compare(dx.data(), file.vector<double>(array), array);
    } else if (array == "grad.edge_weight") {
      worst.compare(dweight.data(), file.vector<double>(array), array);
    } else if (array == "grad.edge_mask") {
      worst.compare(dmask.data(), file.vector<double>(array), array);
    } else if (array == "grad.edge_attr") {
      worst.compare(dattr.data(), file.vector<double>(array), array);
    } else if (array.starts_with("grad.param.")) {
      const Parameter* p = layout.find("layer." + array.substr(11));
      if (!p) throw_bad_input("no parameter for {}", array);
      worst.compare(dtheta.data() + p->offset, file.vector<double>(array), array);
    } else if (array.starts_with("grad")) {
      throw_bad_input("unknown result {}", array);
    }
  }
  return worst;
}

template <class T>
Worst run_pool(const NpzArrays& file) {
  const Matrix<T> x = file.matrix<T>("x");
  const Matrix<T> R = file.matrix<T>("R");
  const std::vector<NodeId> graph_ptr = graph_pointers(file);
  Worst worst(results_scale(file));
  for (const char* word : {"add", "mean", "max"}) {
    const Aggregation kind = parse_aggregation(word);
    Matrix<T> out(R.rows(), R.cols());
    Matrix<T> dx = Matrix<T>::Zero(x.rows(), x.cols());
    pool<T>(kind, graph_ptr, x, out);
    pool_backward<T>(kind, graph_ptr, x, out, R, dx);
    const std::string out_name = fmt::format("out_{}", word);
    const std::string dx_name = fmt::format("grad_{}.x", word);
    worst.compare(out.data(), file.vector<double>(out_name), out_name);
    worst.compare(dx.data(), file.vector<double>(dx_name), dx_name);
  }
  return worst;
}

template <class T>
Worst run(const std::string& name, const NpzArrays& file) {
  return name.starts_with("pool") ? run_pool<T>(file) : run_layer<T>(name, file);
}

}  // namespace

GoldenErrors check_layer(const std::string& name, const NpzArrays& file) {
  return {run<double>(name, file), run<float>(name, file)};
}

}  // namespace pgexplainer
