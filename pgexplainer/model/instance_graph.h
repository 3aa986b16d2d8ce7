// What decides one prediction, cut out of the data and ready for a network: the computation graph
// of a node or of a link (Algorithm 1, line 3), or one graph of a dataset (Algorithm 2).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pgexplainer/graph/computation_graph.h"
#include "pgexplainer/model/gnn_input.h"

namespace pgexplainer {

/// Whose prediction is explained: node `id`, graph `id`, or the link from node `id` to node
/// `second`.
struct Instance {
  static constexpr std::int64_t kNone = -1;
  std::int64_t id = 0;
  std::int64_t second = kNone;

  [[nodiscard]] bool is_link() const { return second != kNone; }
  friend bool operator==(const Instance&, const Instance&) = default;
};

/// Nodes and edges have local numbers here; masks and scores are per local edge.
struct InstanceGraph {
  Instance instance;
  std::vector<NodeId> nodes;           ///< local to dataset
  std::vector<EdgeId> edges;           ///< local to dataset
  std::vector<NodeId> source, target;  ///< local ends of each local edge
  std::vector<EdgeId> reverse;         ///< local edge in the other direction, or kNoEdge
  std::vector<NodeId> targets;         ///< local nodes whose prediction this is; empty for a graph
  Index logit_row = 0;                 ///< the row of the network's logits that is explained
  bool sampled = false;                ///< part of the computation graph, by CutOptions

  [[nodiscard]] NodeId num_nodes() const { return static_cast<NodeId>(nodes.size()); }
  [[nodiscard]] EdgeId num_edges() const { return static_cast<EdgeId>(edges.size()); }
  /// Valid while this object stays where it is.
  [[nodiscard]] GnnInput<float> input() const;

  // What input() shows.
  std::vector<EdgeId> in_ptr, in_edge;
  std::vector<NodeId> in_source, nodes_within;
  Matrix<float> x, edge_attr;
  std::vector<float> edge_weight;
  std::array<GcnNorm<float>, 2> norm;
};

/// Two graphs of one dataset (Algorithm 2) side by side as one graph, in which the first keeps its
/// numbers; reuses the memory of `both`, which it returns.
const InstanceGraph& unite(const InstanceGraph& first, const InstanceGraph& second,
                           InstanceGraph& both);

/// Cuts instances out of one dataset for one network; keeps scratch memory, so one per thread. The
/// dataset and the norms must outlive it.
class InstanceCutter {
 public:
  /// Throws if num_neighbors is given for what is not cut hop by hop.
  InstanceCutter(const Dataset& dataset, const DatasetNorms<float>& norms, Task task, int num_hops,
                 const CutOptions& options = {});

  /// Reuses the memory of `result`. Throws if the dataset has no such instance, or it has too many
  /// edges. Of a sampled instance, the coefficients of GCN are scaled so that a node gets as much
  /// as from all its neighbours.
  void cut(const Instance& instance, InstanceGraph& result);
  /// Nodes, edges, their ends and the targets alone: enough for scores that read nothing else.
  void cut_structure(const Instance& instance, InstanceGraph& result);

 private:
  void cut_around(const Instance& instance, InstanceGraph& result);
  void pair_reverse_edges(InstanceGraph& result);
  void cut_whole(const Instance& instance, NodeId first_node, NodeId num_nodes, EdgeId first_edge,
                 EdgeId num_edges, InstanceGraph& result) const;
  void gather(InstanceGraph& result) const;
  void scale_to_all(const InstanceGraph& result, std::vector<float>& edge) const;

  const Dataset* dataset_;
  const DatasetNorms<float>* norms_;
  Task task_;
  int num_hops_;
  EdgeId max_edges_;
  ComputationGraphBuilder builder_;
  std::vector<EdgeId> waiting_;
};

}  // namespace pgexplainer
