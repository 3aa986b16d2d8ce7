// What every layer of a network is: a forward map and, beside it, its adjoint.
//
// Layers are immutable and hold no numbers: parameters come in as `theta` (see parameters.h), what
// the adjoint needs from the forward pass is kept in `Saved`, and the edge mask is an argument. One
// layer can serve many threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/core/matrix.h"
#include "pgexplainer/graph/adjacency.h"
#include "pgexplainer/nn/parameters.h"
#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer {

/// Symmetric normalisation of a GCNConv (nn/gcn_conv.h), computed on the full graph and cut to an
/// instance.
template <class T>
struct GcnNorm {
  std::vector<T> edge;  ///< per edge id; 0 for a self-loop that the layer replaces by its own
  std::vector<T> loop;  ///< per node: the layer's own self-loop; empty if it adds none
};

template <class T>
struct GcnNormView {
  std::span<const T> edge, loop;

  GcnNormView() = default;
  GcnNormView(std::span<const T> edge_part, std::span<const T> loop_part)
      : edge(edge_part), loop(loop_part) {}
  GcnNormView(const GcnNorm<T>& norm) : edge(norm.edge), loop(norm.loop) {}
  [[nodiscard]] bool empty() const { return edge.empty() && loop.empty(); }
};

/// All that a layer may read besides its parameters and its input rows.
template <class T>
struct LayerContext {
  Adjacency graph;
  NodeId num_rows = 0;  ///< message-passing layers produce the rows of nodes 0 .. num_rows-1 only
  std::span<const NodeId> rows;    ///< forward of a layer that picks_rows(): of these; empty = all
  std::span<const T> edge_weight;  ///< data: takes part in normalisation; empty = all one
  std::span<const T>
      edge_mask;  ///< an explainer's: multiplies the finished message; empty = all one
  const Matrix<T>* edge_attr = nullptr;      ///< num_edges x edge features
  std::span<const NodeId> graph_ptr;         ///< rows of each graph; empty = one graph
  std::array<GcnNormView<T>, 2> gcn_norm{};  ///< [adds self-loops]; empty = computed by the layer
  ThreadPool* pool = nullptr;  ///< shares the rows of a large graph; null = this thread alone
  bool training = false;
  std::uint64_t dropout_seed = 0;
  std::array<std::uint32_t, 2> dropout_key{};  ///< (epoch, piece): part of the counter of the noise

  [[nodiscard]] Index num_out_rows() const {
    return rows.empty() ? num_rows : static_cast<Index>(rows.size());
  }
  [[nodiscard]] NodeId node_of(Index row) const {
    return rows.empty() ? static_cast<NodeId>(row) : rows[static_cast<std::size_t>(row)];
  }
};

/// A graph of no more rows is computed by one thread: waking others takes longer than it saves.
inline constexpr Index kRowsPerBlock = 4096;

/// f(begin, end) for blocks of 0 .. count-1, on the threads of the pool if there is one. No result
/// may depend on the blocks.
template <class F>
void for_each_block(ThreadPool* pool, Index count, F&& f) {
  if (!pool || count <= kRowsPerBlock) return f(Index{0}, count);
  pool->run((count + kRowsPerBlock - 1) / kRowsPerBlock, [&](std::int64_t block, int) {
    f(block * kRowsPerBlock, std::min(count, (block + 1) * kRowsPerBlock));
  });
}

/// Slots of the messages that reach each row, with the layer's own self-loops (edge = kNoEdge)
/// where it adds them.
struct MessageSlots {
  std::vector<EdgeId> ptr;
  std::vector<NodeId> source;
  std::vector<EdgeId> edge;
};

/// What the adjoint needs from the forward pass; each layer names its own matrices. Memory is
/// reused.
template <class T>
struct Saved {
  std::array<Matrix<T>, 6> matrix;
  std::vector<T> coefficient;
  MessageSlots slots;
  GcnNorm<T> gcn_norm;
};

/// Where the adjoint puts gradients. Null or empty = not wanted. `x` is overwritten, all others are
/// added to.
template <class T>
struct LayerGradients {
  T* theta = nullptr;
  Matrix<T>* x = nullptr;
  std::span<T> edge_weight;
  std::span<T> edge_mask;
  Matrix<T>* edge_attr = nullptr;
};

template <class T>
class Layer {
 public:
  virtual ~Layer() = default;

  [[nodiscard]] virtual Index out_channels() const = 0;
  /// Whether a row depends on the rows of its neighbours.
  [[nodiscard]] virtual bool passes_messages() const { return false; }
  /// Whether its forward map can give the rows of some nodes only (LayerContext::rows), reading
  /// only theirs and those of their senders.
  [[nodiscard]] virtual bool picks_rows() const { return false; }
  /// How many edge features it reads; 0 = none.
  [[nodiscard]] virtual Index edge_channels() const { return 0; }
  /// Whether a row depends on all rows (normalisation over a graph or a batch), so that no row can
  /// be left out.
  [[nodiscard]] virtual bool mixes_all_rows(bool /*training*/) const { return false; }
  /// Whether its forward map may write its output over its input, if no adjoint follows.
  [[nodiscard]] virtual bool works_in_place() const { return false; }
  /// Asks it, before its first use, to apply a ReLU to its output; false = the ReLU stays a layer.
  virtual bool take_relu() { return false; }

  virtual void forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                       Matrix<T>& out, Saved<T>& saved) const = 0;
  /// The adjoint of the forward pass that filled `out` and `saved`.
  virtual void backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                        const Matrix<T>& out, const Matrix<T>& dout, Saved<T>& saved,
                        const LayerGradients<T>& gradient) const = 0;
  /// Of the forward pass that filled `saved`: the attention of each of saved.slots (rows) under
  /// each head (columns). Null = this kind of layer has none.
  [[nodiscard]] virtual const Matrix<T>* attention(const Saved<T>& /*saved*/) const {
    return nullptr;
  }
  /// After a training step: running statistics and the like.
  virtual void update_buffers(const Saved<T>& /*saved*/, T* /*theta*/) const {}
};

}  // namespace pgexplainer
