#include "pgexplainer/graph/computation_graph.h"

#include <algorithm>
#include <array>
#include <bit>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {
namespace {

/// Fibonacci hashing; the table size is a power of two.
std::size_t slot_of(NodeId node, std::size_t table_size) {
  return (static_cast<std::size_t>(node) * 0x9E3779B97F4A7C15ULL >> 32) & (table_size - 1);
}

}  // namespace

void ComputationGraph::index_nodes() {
  index_.assign(std::bit_ceil(2 * nodes_.size()), kNoNode);
  for (std::size_t local = 0; local < nodes_.size(); ++local) {
    std::size_t slot = slot_of(nodes_[local], index_.size());
    while (index_[slot] != kNoNode) slot = (slot + 1) & (index_.size() - 1);
    index_[slot] = static_cast<NodeId>(local);
  }
}

NodeId ComputationGraph::local_node(NodeId global) const {
  if (global < 0) return kNoNode;
  for (std::size_t slot = slot_of(global, index_.size()); index_[slot] != kNoNode;
       slot = (slot + 1) & (index_.size() - 1))
    if (nodes_[at(index_[slot])] == global) return index_[slot];
  return kNoNode;
}

int ComputationGraph::hop(NodeId local) const {
  return static_cast<int>(std::upper_bound(nodes_within_.begin(), nodes_within_.end(), local) -
                          nodes_within_.begin());
}

ComputationGraphBuilder::ComputationGraphBuilder(const Graph& graph)
    : graph_(&graph), stamp_(at(graph.num_nodes()), 0), local_(at(graph.num_nodes()), kNoNode) {}

ComputationGraph ComputationGraphBuilder::build(NodeId target, int hops) {
  ComputationGraph result;
  build(std::array{target}, hops, result);
  return result;
}

ComputationGraph ComputationGraphBuilder::build_pair(NodeId first, NodeId second, int hops) {
  if (first == second)
    throw_bad_input("the pair ({}, {}) names one node twice; a pair needs two nodes", first,
                    second);
  ComputationGraph result;
  build(std::array{first, second}, hops, result);
  return result;
}

void ComputationGraphBuilder::build(std::span<const NodeId> targets, int hops,
                                    ComputationGraph& result) {
  if (hops < 0) throw_bad_input("a computation graph cannot have {} hops", hops);
  for (const NodeId target : targets)
    if (target < 0 || target >= graph_->num_nodes())
      throw_bad_input("node {} is not in the graph; its nodes are 0 to {}", target,
                      graph_->num_nodes() - 1);
  if (++current_ == 0) {  // after 2^32 builds old stamps could look new
    std::fill(stamp_.begin(), stamp_.end(), 0);
    current_ = 1;
  }

  std::vector<NodeId>& nodes = result.nodes_;
  nodes.clear();
  result.nodes_within_.clear();
  const auto visit = [&](NodeId node) {
    if (stamp_[at(node)] == current_) return;
    stamp_[at(node)] = current_;
    local_[at(node)] = static_cast<NodeId>(nodes.size());
    nodes.push_back(node);
  };
  for (const NodeId target : targets) visit(target);
  result.nodes_within_.push_back(static_cast<NodeId>(nodes.size()));
  for (std::size_t begin = 0; result.num_hops() < hops;) {
    const std::size_t end = nodes.size();
    for (; begin < end; ++begin)
      for (const NodeId neighbor : graph_->in_neighbors(nodes[begin])) visit(neighbor);
    result.nodes_within_.push_back(static_cast<NodeId>(nodes.size()));
  }

  result.in_ptr_.assign(1, 0);
  result.in_source_.clear();
  result.edges_.clear();
  for (const NodeId node : nodes) {
    const auto neighbors = graph_->in_neighbors(node);
    const auto edges = graph_->in_edges(node);
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
      if (stamp_[at(neighbors[i])] != current_) continue;
      result.in_source_.push_back(local_[at(neighbors[i])]);
      result.edges_.push_back(edges[i]);
    }
    result.in_ptr_.push_back(static_cast<EdgeId>(result.in_source_.size()));
  }
  result.index_nodes();
}

}  // namespace pgexplainer
