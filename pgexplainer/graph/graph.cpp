#include "pgexplainer/graph/graph.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <tuple>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/parallel/pieces.h"

namespace pgexplainer {
namespace {

/// Row pointers of the edges grouped by key.
std::vector<EdgeId> row_pointers(NodeId num_nodes, std::span<const NodeId> key) {
  std::vector<EdgeId> ptr(at(num_nodes) + 1, 0);
  for (const NodeId node : key) ++ptr[at(node) + 1];
  for (std::size_t i = 1; i < ptr.size(); ++i) ptr[i] += ptr[i - 1];
  return ptr;
}

/// Stable counting sort of `order` (edge ids) by key.
std::vector<EdgeId> sort_by(std::span<const NodeId> key, std::span<const EdgeId> ptr,
                            std::span<const EdgeId> order) {
  std::vector<EdgeId> next(ptr.begin(), ptr.end());
  std::vector<EdgeId> sorted(order.size());
  for (const EdgeId edge : order) sorted[at(next[at(key[at(edge)])]++)] = edge;
  return sorted;
}

std::vector<EdgeId> caller_order(std::size_t count) {
  std::vector<EdgeId> order(count);
  std::iota(order.begin(), order.end(), EdgeId{0});
  return order;
}

/// Sorted by (source, target), and no pair occurs twice.
bool is_coalesced(std::span<const NodeId> source, std::span<const NodeId> target) {
  bool ascending = true;
  for (std::size_t e = 1; e < source.size() && ascending; ++e)
    ascending =
        source[e - 1] < source[e] || (source[e - 1] == source[e] && target[e - 1] < target[e]);
  return ascending;
}

/// Of a coalesced graph: the edges into a node come in the order of their sources, which is the
/// order of that node's own edges, so each node's row is walked through once.
std::vector<EdgeId> reverse_of_coalesced(std::span<const EdgeId> out_ptr,
                                         std::span<const NodeId> source,
                                         std::span<const NodeId> target) {
  std::vector<EdgeId> next(out_ptr.begin(), out_ptr.end());
  std::vector<EdgeId> reverse(source.size(), kNoEdge);
  for (std::size_t e = 0; e < source.size(); ++e) {
    EdgeId& back = next[at(target[e])];
    const EdgeId end = out_ptr[at(target[e]) + 1];
    while (back < end && target[at(back)] < source[e]) ++back;
    if (back < end && target[at(back)] == source[e]) reverse[e] = back++;
  }
  return reverse;
}

/// With edges sorted by (source, target) and, separately, by (target, source), reversed pairs meet
/// in one merge. Also counts the edges that repeat another.
std::vector<EdgeId> reverse_by_sorting(std::span<const NodeId> source,
                                       std::span<const NodeId> target,
                                       const Graph::Derived& derived, EdgeId& num_duplicates) {
  const std::vector<EdgeId> forward = sort_by(source, derived.out_ptr, derived.in_edge);
  const std::vector<EdgeId> backward = sort_by(
      target, derived.in_ptr, sort_by(source, derived.out_ptr, caller_order(source.size())));
  const auto forward_key = [&](std::size_t i) {
    return std::tuple(source[at(forward[i])], target[at(forward[i])]);
  };
  const auto backward_key = [&](std::size_t i) {
    return std::tuple(target[at(backward[i])], source[at(backward[i])]);
  };
  std::vector<EdgeId> reverse(source.size(), kNoEdge);
  std::size_t f = 0;
  std::size_t b = 0;
  while (f < forward.size() && b < backward.size()) {
    if (forward_key(f) == backward_key(b)) {
      reverse[at(forward[f++])] = backward[b++];
    } else if (forward_key(f) < backward_key(b)) {
      ++f;
    } else {
      ++b;
    }
  }
  num_duplicates = 0;
  for (std::size_t i = 1; i < forward.size(); ++i)
    num_duplicates += forward_key(i) == forward_key(i - 1) ? 1 : 0;
  return reverse;
}

bool every_one_exists(std::span<const EdgeId> edges) {
  return std::find(edges.begin(), edges.end(), kNoEdge) == edges.end();
}

constexpr std::size_t kPiece = std::size_t{1} << 20;  // entries checked in one go

/// Throws unless all values are in [low, high); returns the smallest, or `high` without any.
template <class T>
T checked_smallest(const char* array, std::span<const T> values, T low, T high) {
  std::atomic<T> least = high;
  std::atomic<T> most = low;
  for_each_piece(values.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    T smallest = high;
    T largest = low;
    for (std::size_t i = begin; i < end; ++i) {
      smallest = std::min(smallest, values[i]);
      largest = std::max(largest, values[i]);
    }
    for (T seen = least; smallest < seen && !least.compare_exchange_weak(seen, smallest);) {
    }
    for (T seen = most; largest > seen && !most.compare_exchange_weak(seen, largest);) {
    }
  });
  if (values.empty() || (least >= low && most < high)) return least;
  const auto bad = std::find_if(values.begin(), values.end(),
                                [=](T value) { return value < low || value >= high; });
  throw_bad_input("{}[{}] is {}, expected {} to {}", array, bad - values.begin(), *bad, low,
                  high - 1);
}

void expect_length(const char* array, std::size_t length, std::size_t expected) {
  if (length != expected)
    throw_bad_input("{} has {} entries, expected {}", array, length, expected);
}

void expect_row_pointers(const char* array, std::span<const EdgeId> ptr, NodeId num_nodes,
                         std::size_t num_edges) {
  expect_length(array, ptr.size(), at(num_nodes) + 1);
  bool falls = false;
  for (std::size_t i = 1; i < ptr.size(); ++i) falls = falls | (ptr[i] < ptr[i - 1]);
  if (falls || ptr.front() != 0 || at(ptr.back()) != num_edges)
    throw_bad_input("{} must start at 0, never fall and end at the number of edges ({})", array,
                    num_edges);
}

}  // namespace

Graph::Graph(NodeId num_nodes, std::vector<NodeId> source, std::vector<NodeId> target)
    : num_nodes_(num_nodes), source_(std::move(source)), target_(std::move(target)) {
  check_ends();
  const bool coalesced = is_coalesced(source_, target_);
  derived_.out_ptr = row_pointers(num_nodes, source_);
  if (coalesced) derived_.reverse = reverse_of_coalesced(derived_.out_ptr, source_, target_);
  if (coalesced) undirected_ = every_one_exists(derived_.reverse);
  if (coalesced && undirected_) {
    derived_.in_ptr = derived_.out_ptr;
    derived_.in_source = target_;
    derived_.in_edge = derived_.reverse;
  } else {
    derived_.in_ptr = row_pointers(num_nodes, target_);
    if (std::is_sorted(target_.begin(), target_.end())) {
      derived_.in_edge = caller_order(target_.size());
      derived_.in_source = source_;
    } else {
      derived_.in_edge = sort_by(target_, derived_.in_ptr, caller_order(target_.size()));
      std::vector<NodeId> senders(source_.size());
      for (std::size_t i = 0; i < senders.size(); ++i)
        senders[i] = source_[at(derived_.in_edge[i])];
      derived_.in_source = std::move(senders);
    }
  }
  if (coalesced) return;
  derived_.reverse = reverse_by_sorting(source_, target_, derived_, derived_.num_duplicate_edges);
  undirected_ = every_one_exists(derived_.reverse);
}

Graph::Graph(NodeId num_nodes, Array<NodeId> source, Array<NodeId> target, Derived derived)
    : num_nodes_(num_nodes),
      source_(std::move(source)),
      target_(std::move(target)),
      derived_(std::move(derived)) {
  check_ends();
  const std::size_t edges = source_.size();
  expect_row_pointers("in_ptr", derived_.in_ptr, num_nodes, edges);
  expect_length("reverse", derived_.reverse.size(), edges);
  undirected_ =
      checked_smallest<EdgeId>("reverse", derived_.reverse, kNoEdge, num_edges()) != kNoEdge;
  if (derived_.in_source.data() != target_.data()) {
    expect_length("in_source", derived_.in_source.size(), edges);
    checked_smallest<NodeId>("in_source", derived_.in_source, 0, num_nodes);
  }
  if (derived_.in_edge.data() != derived_.reverse.data() || !undirected_) {
    expect_length("in_edge", derived_.in_edge.size(), edges);
    checked_smallest<EdgeId>("in_edge", derived_.in_edge, 0, num_edges());
  }
  if (derived_.out_ptr.data() != derived_.in_ptr.data())
    expect_row_pointers("out_ptr", derived_.out_ptr, num_nodes, edges);
  if (derived_.num_duplicate_edges < 0 || derived_.num_duplicate_edges > num_edges())
    throw_bad_input("there cannot be {} duplicates among {} edges", derived_.num_duplicate_edges,
                    edges);
}

void Graph::check_ends() {
  if (num_nodes_ < 0) throw_bad_input("a graph cannot have {} nodes", num_nodes_);
  if (source_.size() != target_.size())
    throw_bad_input("the graph has {} edge sources but {} edge targets", source_.size(),
                    target_.size());
  const auto outside = [&](NodeId node) { return node < 0 || node >= num_nodes_; };
  std::atomic<bool> any_outside = false;
  std::atomic<EdgeId> self_loops = 0;
  for_each_piece(source_.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    NodeId smallest = 0;
    NodeId largest = -1;
    EdgeId loops = 0;
    for (std::size_t e = begin; e < end; ++e) {
      smallest = std::min({smallest, source_[e], target_[e]});
      largest = std::max({largest, source_[e], target_[e]});
      loops += source_[e] == target_[e] ? 1 : 0;
    }
    if (smallest < 0 || largest >= num_nodes_) any_outside = true;
    self_loops += loops;
  });
  num_self_loops_ = self_loops;
  for (std::size_t e = 0; any_outside && e < source_.size(); ++e)
    for (const NodeId end : {source_[e], target_[e]})
      if (outside(end))
        throw_bad_input("edge {} ({} -> {}) names node {}, but the nodes are 0 to {}", e,
                        source_[e], target_[e], end, num_nodes_ - 1);
}

}  // namespace pgexplainer
