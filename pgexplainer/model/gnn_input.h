// What a network is evaluated on, made from a dataset: the whole graph, a union of some of its
// graphs, or the computation graph of one node.
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/graph/computation_graph.h"
#include "pgexplainer/model/native_gnn.h"

namespace pgexplainer {

/// Normalisation coefficients on all of a dataset, computed once for a model.
template <class T>
struct DatasetNorms {
  DatasetNorms(const Dataset& dataset, std::array<bool, 2> wanted);
  std::array<GcnNorm<T>, 2> norm;
  std::array<bool, 2> present;
};

/// Every node of a dataset. The dataset and the norms must outlive the input.
GnnInput<float> whole_input(const Dataset& dataset, const DatasetNorms<float>& norms);

/// A union of some graphs of a dataset, in the given order; reuses its memory. Edge arrays keep the
/// dataset's edge ids.
class GraphBatch {
 public:
  GraphBatch(const Dataset& dataset, const DatasetNorms<float>& norms)
      : dataset_(&dataset), norms_(&norms) {}

  /// The input stays valid until the next call.
  const GnnInput<float>& assemble(std::span<const std::int64_t> graphs);

 private:
  const Dataset* dataset_;
  const DatasetNorms<float>* norms_;
  std::vector<EdgeId> in_ptr_, in_edge_;
  std::vector<NodeId> in_source_, graph_ptr_;
  Matrix<float> x_;
  std::array<GcnNorm<float>, 2> norm_;
  GnnInput<float> input_;
};

/// The computation graph of a node, with the rows and coefficients it needs; reuses its memory. One
/// per thread.
class NodeInstance {
 public:
  NodeInstance(const Dataset& dataset, const DatasetNorms<float>& norms, int num_hops)
      : dataset_(&dataset), norms_(&norms), num_hops_(num_hops), builder_(dataset.graph) {}

  /// The input stays valid until the next call; masks are per local edge of graph().
  const GnnInput<float>& assemble(NodeId node);
  [[nodiscard]] const ComputationGraph& graph() const { return cut_; }

 private:
  const Dataset* dataset_;
  const DatasetNorms<float>* norms_;
  int num_hops_;
  ComputationGraphBuilder builder_;
  ComputationGraph cut_;
  std::vector<NodeId> nodes_within_;
  std::vector<float> edge_weight_;
  Matrix<float> x_, edge_attr_;
  std::array<GcnNorm<float>, 2> norm_;
  GnnInput<float> input_;
};

}  // namespace pgexplainer
