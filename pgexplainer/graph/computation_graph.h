// The part of a graph that decides one prediction: the L-hop in-neighbourhood of a node, or of a
// pair of nodes, with all edges among its nodes (paper, Appendix A, Algorithm 1, line 3).
#pragma once

#include <span>
#include <vector>

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
  [[nodiscard]] NodeId local_node(NodeId global) const;

  /// Local nodes 0 .. nodes_within(h) - 1 are those at most h hops from a target.
  [[nodiscard]] NodeId nodes_within(int hops) const {
    return nodes_within_[static_cast<std::size_t>(hops)];
  }
  [[nodiscard]] int hop(NodeId local) const;

  [[nodiscard]] NodeId source(EdgeId local_edge) const {
    return in_source_[static_cast<std::size_t>(local_edge)];
  }
  [[nodiscard]] Adjacency adjacency() const { return {in_ptr_, in_source_, {}}; }

 private:
  friend class ComputationGraphBuilder;
  void index_nodes();

  std::vector<NodeId> nodes_;
  std::vector<EdgeId> edges_;
  std::vector<NodeId> nodes_within_;
  std::vector<EdgeId> in_ptr_;
  std::vector<NodeId> in_source_;
  std::vector<NodeId> index_;  // open addressing over nodes_, kNoNode = free
};

/// Cuts computation graphs out of one graph. The cost depends on the neighbourhood alone: the
/// scratch arrays carry stamps and are never cleared. One builder per thread.
class ComputationGraphBuilder {
 public:
  explicit ComputationGraphBuilder(const Graph& graph);

  /// Throws if a target is not a node of the graph or hops < 0.
  ComputationGraph build(NodeId target, int hops);
  ComputationGraph build_pair(NodeId first, NodeId second, int hops);
  /// As build, reusing the memory of `result`.
  void build(std::span<const NodeId> targets, int hops, ComputationGraph& result);

 private:
  const Graph* graph_;
  std::vector<std::uint32_t> stamp_;  // node is local in this build if stamp_[node] == current_
  std::vector<NodeId> local_;
  std::uint32_t current_ = 0;
};

}  // namespace pgexplainer
