// The network that our own engine runs: layers from a ModelSpec, parameters in one flat vector.
//
// A node's prediction needs its own row of the last layer, its neighbours' rows of the layer
// before, and so on. Nodes of a computation graph are numbered by hop, so those rows are prefixes:
// each layer computes only as many rows as can still reach the target, forward and backward.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pgexplainer/model/gnn.h"
#include "pgexplainer/model/model_spec.h"

namespace pgexplainer {

template <class T>
class NativeGnn {
 public:
  /// Throws, naming `where`, if layers do not fit each other or the classes. Parameters start as
  /// their layers say.
  NativeGnn(ModelSpec spec, const std::string& where, std::uint64_t seed);

  [[nodiscard]] const ModelSpec& spec() const { return spec_; }
  [[nodiscard]] const ParameterLayout& layout() const { return layout_; }
  [[nodiscard]] const std::vector<T>& theta() const { return theta_; }
  [[nodiscard]] std::vector<T>& theta() { return theta_; }
  [[nodiscard]] int num_convolutions() const { return num_convolutions_; }
  [[nodiscard]] int num_attention_layers() const { return num_attention_layers_; }
  [[nodiscard]] bool mixes_all_rows(bool training) const;
  /// Whether training and evaluation compute different things (dropout, batch statistics).
  [[nodiscard]] bool depends_on_phase() const { return depends_on_phase_; }
  /// Which gcn_norm of the input its layers read: [without, with own self-loops].
  [[nodiscard]] std::array<bool, 2> reads_gcn_norm() const { return reads_gcn_norm_; }
  [[nodiscard]] Index edge_channels() const { return edge_channels_; }

  /// Activations and gradients of one evaluation; reused between calls, one per thread.
  struct Workspace {
    struct Step {
      Matrix<T> out, dx;
      Saved<T> saved;
    };
    std::vector<std::vector<Step>> blocks;
    std::vector<Step> classifier;
    Matrix<T> z, dz;            ///< what leaves the encoder
    Matrix<T> pooled, dpooled;  ///< graph task
    Matrix<T> dblock;
    LayerContext<T> context;
  };

  struct Phase {
    bool training = false;
    std::uint64_t dropout_seed = 0;
    std::array<std::uint32_t, 2> dropout_key{};
  };

  /// Logits; valid until the workspace is used again. The input must stay alive until backward.
  const Matrix<T>& forward(const GnnInput<T>& input, std::span<const T> edge_mask,
                           const Phase& phase, Workspace& workspace) const;
  /// The adjoint of the last forward in this workspace; gradients as in LayerGradients.
  void backward(const GnnInput<T>& input, const Matrix<T>& dlogits, Workspace& workspace,
                const LayerGradients<T>& gradient) const;
  /// Running statistics of the last training-mode forward.
  void update_buffers(const Workspace& workspace);

  /// Z, Eq. (7), alone: nothing behind it is computed. Valid until the workspace is used again.
  const Matrix<T>& encode(const GnnInput<T>& input, std::span<const T> edge_mask,
                          const Phase& phase, Embedding kind, Workspace& workspace) const;
  /// As encode(), for every node, in less memory: whatever no later layer reads is freed. With
  /// `nodes`, the rows of these alone: for networks that pass messages and mix no rows otherwise.
  [[nodiscard]] Matrix<T> embed(const GnnInput<T>& input, Embedding kind,
                                std::span<const NodeId> nodes = {}) const;
  /// Attention in the last forward: layers x edges, heads averaged; 0 where no row was computed.
  [[nodiscard]] Matrix<T> attention(const Workspace& workspace, EdgeId num_edges) const;

 private:
  using Layers = std::vector<std::unique_ptr<Layer<T>>>;
  using Steps = std::vector<typename Workspace::Step>;

  struct Place {
    std::size_t block, layer;
  };
  [[nodiscard]] Place last_layer(Embedding kind) const;  // that Z needs
  static LayerContext<T> context_of(const GnnInput<T>& input, std::span<const T> edge_mask,
                                    const Phase& phase);
  [[nodiscard]] bool combines_blocks(Embedding kind = Embedding::classifier_input) const {
    return kind == Embedding::all_layers || (kind == Embedding::classifier_input &&
                                             spec_.jumping_knowledge != JumpingKnowledge::last);
  }
  /// The nodes whose rows each convolution has to give if the last one gives those of `nodes`; none
  /// = all.
  [[nodiscard]] std::vector<std::vector<NodeId>> rows_needed(const Adjacency& graph,
                                                             std::span<const NodeId> nodes) const;
  void combine(std::span<const Matrix<T>* const> blocks, Embedding kind, Matrix<T>& z) const;
  void combine_backward(const Workspace& workspace, std::size_t block, Matrix<T>& dblock) const;
  void backward_layers(const Layers& layers, const Matrix<T>& input, Steps& steps,
                       const Matrix<T>& dout, const LayerContext<T>& context,
                       const LayerGradients<T>& gradient, Matrix<T>* dinput) const;

  ModelSpec spec_;
  ParameterLayout layout_;
  std::vector<T> theta_;
  std::vector<Layers> blocks_;
  Layers classifier_;
  std::vector<Index> block_width_;
  int num_convolutions_ = 0;
  int num_attention_layers_ = 0;
  bool depends_on_phase_ = false;
  std::array<bool, 2> reads_gcn_norm_{};
  Index edge_channels_ = 0;
};

/// The network as explainers see it. Shares ownership, so that it may outlive its maker.
std::unique_ptr<Gnn> make_gnn(std::shared_ptr<const NativeGnn<float>> model);

}  // namespace pgexplainer
