// The part of a graph that decides one prediction: the L-hop in-neighbourhood of a node, or of a
// pair of nodes, with all edges among its nodes (paper, Appendix A, Algorithm 1, line 3).
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/graph/graph.h"

namespace pgexplainer {

/// Local nodes are numbered by hop: the target first (both targets for a pair), then the nodes one
/// hop away, and so on. Local edges are numbered by their local target, so edge ids are slots of
/// adjacency().
class ComputationGraph {
 public:
  [[nodiscard]] NodeId num_nodes() const { return static_cast<NodeId>(nodes_.size()); }
  [[nodiscard]] EdgeId num_edges() const { return static_cast<EdgeId>(in_source_.size()); }
  [[nodiscard]] int num_hops() const { return static_cast<int>(nodes_within_.size()) - 1; }
  /// Targets are local nodes 0 .. num_targets() - 1: one node, or two different ones.
  [[nodiscard]] NodeId num_targets() const { return nodes_within_.front(); }

  /// Local to global.
  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const EdgeId> edges() const { return edges_; }
  /// Global to local; kNoNode if the node is not part of it.
  [[nodiscard]] NodeId local_node(NodeId global) const {
    if (global < 0 || (has_own_slots_ && static_cast<std::size_t>(global) >= index_.size()))
      return kNoNode;
    return index_[slot_of(global)].local;
  }

  /// Local nodes 0 .. nodes_within(h) - 1 are those at most h hops from a target.
  [[nodiscard]] NodeId nodes_within(int hops) const {
    return nodes_within_[static_cast<std::size_t>(hops)];
  }
  [[nodiscard]] int hop(NodeId local) const;

  [[nodiscard]] NodeId source(EdgeId local_edge) const {
    return in_source_[static_cast<std::size_t>(local_edge)];
  }
  [[nodiscard]] Adjacency adjacency() const { return {in_ptr_, in_source_, {}}; }
  /// Whether it is a sample, because all of it would have more than CutOptions::max_edges edges.
  [[nodiscard]] bool sampled() const { return sampled_; }

 private:
  friend class ComputationGraphBuilder;
  struct Slot {
    NodeId node = kNoNode;  // kNoNode = free
    NodeId local = kNoNode;
  };
  /// Up to so many nodes of the whole graph, each has a slot of its own.
  static constexpr NodeId kOwnSlots = 1 << 14;
  void clear(NodeId nodes_of_graph);
  NodeId insert(NodeId global);  // its local number, the next one if it is new
  void append_sources(std::span<const NodeId> globals);  // to in_source_
  /// The slot of the node, or the free one for it; Fibonacci hashing, a power of two of slots.
  [[nodiscard]] std::size_t slot_of(NodeId global) const {
    if (has_own_slots_) return static_cast<std::size_t>(global);
    const std::size_t last = index_.size() - 1;
    std::size_t slot = (static_cast<std::size_t>(global) * 0x9E3779B97F4A7C15ULL >> 32) & last;
    // Neither the node nor free: one test (a product that is 0 if a factor is), since the processor
    // foresees that the search ends, but not whether the node is there.
    const auto goes_on = [&](NodeId node) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(node ^ global)) *
                 static_cast<std::uint32_t>(node + 1) !=
             0;
    };
    while (goes_on(index_[slot].node)) slot = (slot + 1) & last;
    return slot;
  }

  std::vector<NodeId> nodes_;
  std::vector<EdgeId> edges_;
  std::vector<NodeId> nodes_within_;
  std::vector<EdgeId> in_ptr_;
  std::vector<NodeId> in_source_;
  std::vector<Slot> index_;  // open addressing, at most a quarter full: most searches end at once
  bool has_own_slots_ = false;
  bool sampled_ = false;
};

/// The edges of an instance are held in memory some 150 bytes each, by every thread: ten million
/// are 1.5 GB. A larger computation graph is refused, unless num_neighbors says how to sample it.
struct CutOptions {
  std::int64_t max_edges = 10'000'000;
  std::vector<std::int64_t> num_neighbors;  // PyG's name
  std::uint64_t seed = 0;                   // of the samples

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("max_edges", &CutOptions::max_edges, Bounds{0, 1e15},
          "an instance that depends on more edges is refused, or sampled by --num-neighbors");
    field("num_neighbors", &CutOptions::num_neighbors, Bounds{},
          "of an instance beyond --max-edges: so many random neighbours per hop, as 20,20,20");
  }
};

/// Cuts computation graphs out of one graph. Cost and memory depend on the neighbourhood alone. One
/// builder per thread.
///
/// Sampling: hop by hop, every node v that is reached draws num_neighbors[hop] of its incoming
/// edges without replacement, by random numbers of (seed, targets, v). Two directions of an edge
/// are drawn as one, by the node that is reached first. Edges among the outermost nodes, which no
/// prediction depends on, are left out.
class ComputationGraphBuilder {
 public:
  explicit ComputationGraphBuilder(const Graph& graph, CutOptions options = {});

  /// Throws if a target is not a node of the graph, hops < 0, there are too many edges, or
  /// num_neighbors is not one number from 1 on per hop.
  ComputationGraph build(NodeId target, int hops);
  ComputationGraph build_pair(NodeId first, NodeId second, int hops);
  /// As build, reusing the memory of `result`.
  void build(std::span<const NodeId> targets, int hops, ComputationGraph& result);
  /// Whether there are at most max_edges edges; `scratch` is overwritten.
  [[nodiscard]] bool fits(std::span<const NodeId> targets, int hops,
                          ComputationGraph& scratch) const;

 private:
  void start(std::span<const NodeId> targets, ComputationGraph& result) const;
  // Either stops once there are more than max_edges edges, and gives their number so far; else 0.
  EdgeId cut_all(int hops, ComputationGraph& result) const;
  EdgeId cut_sample(int hops, std::uint64_t seed, ComputationGraph& result);
  void draw(EdgeId count, EdgeId wanted, std::uint64_t seed, NodeId node);

  struct Edge {
    NodeId target;  // local
    EdgeId edge;
    NodeId source;  // local
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  const Graph* graph_;
  CutOptions options_;
  std::vector<Edge> chosen_;
  std::vector<EdgeId> drawn_;  // positions among the incoming edges of a node, ascending
};

}  // namespace pgexplainer
