// A trained network beside the data it is explained on: what every explainer needs, computed once.
#pragma once

#include <memory>

#include "pgexplainer/model/gnn.h"
#include "pgexplainer/model/instance_graph.h"
#include "pgexplainer/parallel/flush_to_zero.h"

namespace pgexplainer {

/// The dataset must outlive it.
class ExplainedModel {
 public:
  /// Throws if the network was made for other features or another task.
  ExplainedModel(std::shared_ptr<const Gnn> gnn, const Dataset& dataset, CutOptions cut = {});

  [[nodiscard]] const Gnn& gnn() const { return *gnn_; }
  [[nodiscard]] const Dataset& dataset() const { return *dataset_; }
  /// An instance that depends on more edges is refused or sampled.
  [[nodiscard]] EdgeId max_edges() const { return cut_.max_edges; }
  /// Everything, as one input.
  [[nodiscard]] GnnInput<float> whole() const { return whole_input(*dataset_, norms_); }
  /// Z = GNNE(G_o, X) of every node, on the full graph; the same bits on any number of threads.
  [[nodiscard]] Matrix<float> embed(Embedding kind, ThreadPool* pool = nullptr) const {
    [[maybe_unused]] const FlushToZero as_in_pools;
    GnnInput<float> input = whole();
    input.pool = pool;
    return gnn_->embed(input, kind);
  }
  /// The same rows for some nodes, in the order given: less work in the last layer.
  [[nodiscard]] Matrix<float> embed_rows(Embedding kind, std::span<const NodeId> nodes) const {
    [[maybe_unused]] const FlushToZero as_in_pools;
    return gnn_->embed_rows(whole(), kind, nodes);
  }
  /// Whether the embeddings of an instance's nodes depend on few edges, so that embed_around()
  /// pays.
  [[nodiscard]] bool is_local(const Instance& instance) const;
  /// Z of the nodes of an instance, in their order: embed() of a part of the graph that decides
  /// them. Valid until the run is used again.
  [[nodiscard]] const Matrix<float>& embed_around(const Instance& instance, Embedding kind,
                                                  GnnRun& run) const;
  [[nodiscard]] InstanceCutter new_cutter() const {
    return {*dataset_, norms_, gnn_->task(), gnn_->num_hops(), cut_};
  }

 private:
  std::shared_ptr<const Gnn> gnn_;
  const Dataset* dataset_;
  CutOptions cut_;
  DatasetNorms<float> norms_;
};

}  // namespace pgexplainer
