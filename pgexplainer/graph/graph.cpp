#include "pgexplainer/graph/graph.h"

#include <tuple>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {
namespace {

/// Row pointers of the edges grouped by key.
std::vector<EdgeId> row_pointers(NodeId num_nodes, const std::vector<NodeId>& key) {
  std::vector<EdgeId> ptr(at(num_nodes) + 1, 0);
  for (const NodeId node : key) ++ptr[at(node) + 1];
  for (std::size_t i = 1; i < ptr.size(); ++i) ptr[i] += ptr[i - 1];
  return ptr;
}

/// Stable counting sort of `order` (edge ids) by key.
std::vector<EdgeId> sort_by(const std::vector<NodeId>& key, std::vector<EdgeId> ptr,
                            const std::vector<EdgeId>& order) {
  std::vector<EdgeId> sorted(order.size());
  for (const EdgeId edge : order) sorted[at(ptr[at(key[at(edge)])]++)] = edge;
  return sorted;
}

std::vector<NodeId> gather(const std::vector<NodeId>& values, const std::vector<EdgeId>& order) {
  std::vector<NodeId> out(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) out[i] = values[at(order[i])];
  return out;
}

}  // namespace

Graph::Graph(NodeId num_nodes, std::vector<NodeId> source, std::vector<NodeId> target)
    : num_nodes_(num_nodes), source_(std::move(source)), target_(std::move(target)) {
  if (num_nodes < 0) throw_bad_input("a graph cannot have {} nodes", num_nodes);
  if (source_.size() != target_.size())
    throw_bad_input("the graph has {} edge sources but {} edge targets", source_.size(),
                    target_.size());
  for (std::size_t e = 0; e < source_.size(); ++e) {
    for (const NodeId end : {source_[e], target_[e]})
      if (end < 0 || end >= num_nodes)
        throw_bad_input("edge {} ({} -> {}) names node {}, but the nodes are 0 to {}", e,
                        source_[e], target_[e], end, num_nodes - 1);
    num_self_loops_ += source_[e] == target_[e] ? 1 : 0;
  }
  std::vector<EdgeId> caller_order(source_.size());
  for (std::size_t e = 0; e < caller_order.size(); ++e) caller_order[e] = static_cast<EdgeId>(e);
  in_ptr_ = row_pointers(num_nodes, target_);
  out_ptr_ = row_pointers(num_nodes, source_);
  in_edge_ = sort_by(target_, in_ptr_, caller_order);
  out_edge_ = sort_by(source_, out_ptr_, caller_order);
  in_source_ = gather(source_, in_edge_);
  out_target_ = gather(target_, out_edge_);
  pair_reverse_edges();
}

// With edges sorted by (source, target) and, separately, by (target, source), reversed pairs meet
// in one merge.
void Graph::pair_reverse_edges() {
  const std::vector<EdgeId> forward = sort_by(source_, out_ptr_, in_edge_);
  const std::vector<EdgeId> backward = sort_by(target_, in_ptr_, out_edge_);
  const auto forward_key = [&](std::size_t i) {
    return std::tuple(source_[at(forward[i])], target_[at(forward[i])]);
  };
  const auto backward_key = [&](std::size_t i) {
    return std::tuple(target_[at(backward[i])], source_[at(backward[i])]);
  };
  reverse_.assign(source_.size(), kNoEdge);
  std::size_t f = 0;
  std::size_t b = 0;
  while (f < forward.size() && b < backward.size()) {
    if (forward_key(f) == backward_key(b)) {
      reverse_[at(forward[f++])] = backward[b++];
    } else if (forward_key(f) < backward_key(b)) {
      ++f;
    } else {
      ++b;
    }
  }
  for (std::size_t i = 1; i < forward.size(); ++i)
    num_duplicate_edges_ += forward_key(i) == forward_key(i - 1) ? 1 : 0;
  for (const EdgeId edge : reverse_) undirected_ = undirected_ && edge != kNoEdge;
}

}  // namespace pgexplainer
