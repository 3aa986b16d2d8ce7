// GATConv (Velickovic et al., ICLR 2018). With v = x W^T split into heads, per head
//   a_e = softmax_i(LeakyReLU(<att_src, v_j> + <att_dst, v_i> + <att_edge, W_edge attr_e>)),  out_i
//   = sum_e m_e a_e v_j + b
// over incoming edges and one self-loop per node; heads are concatenated or averaged.
#pragma once

#include <string>

#include "pgexplainer/nn/linear.h"

namespace pgexplainer {

struct GatConvOptions {
  std::int64_t out_channels = 0;
  std::int64_t heads = 1;
  bool concat = true;
  double negative_slope = 0.2;
  bool add_self_loops = true;
  std::int64_t edge_dim = 0;
  bool bias = true;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("out_channels", &GatConvOptions::out_channels, Bounds{1, 65536}, "width of one head");
    field("heads", &GatConvOptions::heads, Bounds{1, 1024}, "number of attention heads");
    field("concat", &GatConvOptions::concat, Bounds{}, "concatenate the heads; false: average");
    field("negative_slope", &GatConvOptions::negative_slope, Bounds{0, 1}, "of the LeakyReLU");
    field("add_self_loops", &GatConvOptions::add_self_loops, Bounds{}, "one self-loop per node");
    field("edge_dim", &GatConvOptions::edge_dim, Bounds{0, 65536},
          "width of the edge features; 0 = none read");
    field("bias", &GatConvOptions::bias, Bounds{}, "add a learned constant");
  }
};

template <class T>
class GatConv final : public Layer<T> {
 public:
  GatConv(const GatConvOptions& options, const std::string& name, Index in,
          ParameterLayout& layout);

  [[nodiscard]] Index out_channels() const override {
    return options_.concat ? options_.heads * options_.out_channels : options_.out_channels;
  }
  [[nodiscard]] bool passes_messages() const override { return true; }
  [[nodiscard]] Index edge_channels() const override { return options_.edge_dim; }

  void forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>& saved) const override;
  void backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                const Matrix<T>& out, const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override;
  [[nodiscard]] const Matrix<T>* attention(const Saved<T>& saved) const override;

 private:
  GatConvOptions options_;
  LinearSlots value_, edge_;
  Slot att_src_, att_dst_, att_edge_, bias_;
};

}  // namespace pgexplainer
