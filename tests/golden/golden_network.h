// The two networks that golden files carry, from the names and shapes of their arrays:
//
//   bench    h_k = ReLU(l2norm_rows(A h_{k-1} W^T + b)); the classifier reads all h_k, of graphs
//            [max; mean] over the nodes
//   gcnnorm  h_k = ReLU(GCN_sym(h_{k-1})); the classifier reads the last h, of graphs its max
//
// Arrays are <prefix>conv1.lin.weight, <prefix>conv1.bias, ..., <prefix>lin.weight,
// <prefix>lin.bias.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/graph/graph.h"
#include "pgexplainer/io/npz.h"
#include "pgexplainer/model/native_gnn.h"

namespace pgexplainer {

inline ModelSpec golden_network_spec(const NpzArrays& file, const std::string& prefix, Task task) {
  ModelSpec spec;
  spec.task = task;
  spec.in_channels = file.shape(prefix + "conv1.lin.weight").at(1);
  spec.num_classes = file.shape(prefix + "lin.weight").at(0);
  std::vector<std::int64_t> width;
  const auto weight = [&](std::size_t k) { return fmt::format("{}conv{}.lin.weight", prefix, k); };
  for (std::size_t k = 1; file.contains(weight(k)); ++k)
    width.push_back(file.shape(weight(k)).at(0));
  std::int64_t all = 0;
  for (const std::int64_t w : width) all += w;

  const std::int64_t reads = file.shape(prefix + "lin.weight").at(1);
  const bool bench = width.size() > 1 && reads == (task == Task::graph ? 2 * all : all);
  if (!bench && reads != width.back())
    throw_bad_input("{}lin.weight reads {} columns, which fits neither network", prefix, reads);
  if (bench) spec.jumping_knowledge = JumpingKnowledge::cat;
  for (std::size_t k = 0; k < width.size(); ++k) {
    auto& block = spec.blocks.emplace_back();
    block.push_back({{"type", "GCNConv"},
                     {"name", fmt::format("conv{}", k + 1)},
                     {"out_channels", width[k]},
                     {"normalize", !bench},
                     {"add_self_loops", !bench}});
    if (bench) block.push_back({{"type", "L2Norm"}});
    block.push_back({{"type", "ReLU"}});
  }
  if (task == Task::graph) spec.readout = {Aggregation::max};
  if (task == Task::graph && bench) spec.readout.push_back(Aggregation::mean);
  spec.classifier = {{{"type", "Linear"}, {"name", "lin"}, {"out_channels", spec.num_classes}}};
  return spec;
}

template <class T>
NativeGnn<T> golden_network(const NpzArrays& file, const std::string& prefix, Task task) {
  NativeGnn<T> model(golden_network_spec(file, prefix, task), prefix, 0);
  for (const Parameter& p : model.layout().parameters()) {
    const auto values = file.vector<T>(prefix + p.name);
    if (values.size() != p.size)
      throw_bad_input("{}{} has {} entries, expected {}", prefix, p.name, values.size(), p.size);
    std::copy(values.begin(), values.end(),
              model.theta().begin() + static_cast<std::ptrdiff_t>(p.offset));
  }
  return model;
}

inline Graph golden_graph(const NpzArrays& file, const std::string& edge_index, NodeId num_nodes) {
  const Matrix<std::int64_t> index = file.matrix<std::int64_t>(edge_index);
  if (index.rows() != 2) throw_bad_input("{} has {} rows, expected 2", edge_index, index.rows());
  std::vector<NodeId> source(at(index.cols())), target(at(index.cols()));
  for (Index e = 0; e < index.cols(); ++e) {
    source[at(e)] = static_cast<NodeId>(index(0, e));
    target[at(e)] = static_cast<NodeId>(index(1, e));
  }
  return {num_nodes, std::move(source), std::move(target)};
}

}  // namespace pgexplainer
