// GATv2Conv (Brody et al., ICLR 2022). With l = x W_l^T + b_l, r = x W_r^T + b_r, g = W_edge attr,
// per head
//   a_e = softmax_i(<att, LeakyReLU(l_j + r_i + g_e)>),  out_i = sum_e m_e a_e l_j + b
// over incoming edges and one self-loop per node; heads are concatenated or averaged. Options as
// GATConv.
#pragma once

#include <string>

#include "pgexplainer/nn/gat_conv.h"

namespace pgexplainer {

template <class T>
class Gatv2Conv final : public Layer<T> {
 public:
  Gatv2Conv(const GatConvOptions& options, const std::string& name, Index in,
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
  LinearSlots left_, right_, edge_;
  Slot att_, bias_;
};

}  // namespace pgexplainer
