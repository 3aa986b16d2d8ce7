// What a network is evaluated on, made from a dataset: the whole of it, or a union of some of its
// graphs. (For one instance see instance_graph.h.)
#pragma once

#include <span>
#include <vector>

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

}  // namespace pgexplainer
