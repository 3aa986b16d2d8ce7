// What an explainer knows of a trained graph neural network: an encoder Z = GNNE(G, X) and a
// classifier Y = GNNC(Z) (the paper's Eq. 7), evaluated with an edge mask and differentiated. The
// mask is an argument, never hidden state.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "pgexplainer/core/matrix.h"
#include "pgexplainer/datasets/dataset.h"
#include "pgexplainer/model/embedding.h"
#include "pgexplainer/nn/layer.h"

namespace pgexplainer {

/// What a network is evaluated on: a graph, a union of graphs, or the computation graph of a node.
template <class T>
struct GnnInput {
  Adjacency graph;
  const Matrix<T>* x = nullptr;          ///< one row per node of `graph`
  std::span<const T> edge_weight;        ///< empty = all one
  const Matrix<T>* edge_attr = nullptr;  ///< null = none
  std::span<const NodeId> graph_ptr;     ///< the rows of each graph of a union; empty = one graph
  /// Computation graph: entry h = number of nodes at most h hops from the target. Empty = compute
  /// every row.
  std::span<const NodeId> nodes_within;
  std::array<GcnNormView<T>, 2> gcn_norm{};  ///< as in LayerContext; needed for a computation graph
  ThreadPool* pool = nullptr;                ///< as in LayerContext
};

/// One evaluation that can be differentiated. Keeps its memory between calls; one per thread.
class GnnRun {
 public:
  virtual ~GnnRun() = default;

  /// Logits: one row per graph, per target of a computation graph, or per node. An empty mask keeps
  /// every edge whole.
  virtual const Matrix<float>& forward(const GnnInput<float>& input,
                                       std::span<const float> edge_mask) = 0;
  /// For a scalar L of the logits of the last forward(): adds dL/dmask to dmask, and sets *dx =
  /// dL/dX, where wanted.
  virtual void backward(const Matrix<float>& dlogits, std::span<float> dmask,
                        Matrix<float>* dx) = 0;
  /// As Gnn::embed, in the memory of this run; valid until its next call.
  virtual const Matrix<float>& embed(const GnnInput<float>& input, Embedding kind) = 0;
};

class Gnn {
 public:
  virtual ~Gnn() = default;

  [[nodiscard]] virtual Task task() const = 0;
  [[nodiscard]] virtual Index num_features() const = 0;
  [[nodiscard]] virtual Index num_classes() const = 0;
  /// How far a node's prediction reaches, in hops; kWholeGraph when it depends on every node.
  static constexpr int kWholeGraph = -1;
  [[nodiscard]] virtual int num_hops() const = 0;
  /// Which gcn_norm of the input it reads: [without, with own self-loops].
  [[nodiscard]] virtual std::array<bool, 2> reads_gcn_norm() const { return {false, false}; }

  /// Z = GNNE(G, X) for every node, Eq. (7).
  [[nodiscard]] virtual Matrix<float> embed(const GnnInput<float>& input, Embedding kind) const = 0;
  /// The same rows as embed() has for some nodes, in the order given.
  [[nodiscard]] virtual Matrix<float> embed_rows(const GnnInput<float>& input, Embedding kind,
                                                 std::span<const NodeId> nodes) const {
    return embed(input, kind)(nodes, Eigen::all);
  }
  /// Of the network's own attention layers: one row per layer, one column per edge of the input,
  /// heads averaged. A self-loop that the layer replaces by its own has 0. No rows = no such
  /// layers.
  [[nodiscard]] virtual Matrix<float> attention(const GnnInput<float>&) const { return {}; }
  [[nodiscard]] virtual int num_attention_layers() const { return 0; }
  /// Whether a row has the same bits when it is computed from the part of a graph that decides it.
  /// Not so for sums over neighbours in vectors, whose rounding depends on where a row lies.
  [[nodiscard]] virtual bool keeps_bits_in_parts() const { return num_attention_layers() == 0; }
  [[nodiscard]] virtual std::unique_ptr<GnnRun> new_run() const = 0;

  /// Logits for a mask, when no gradient is wanted.
  [[nodiscard]] Matrix<float> predict(const GnnInput<float>& input,
                                      std::span<const float> edge_mask = {}) const {
    return new_run()->forward(input, edge_mask);
  }
};

}  // namespace pgexplainer
