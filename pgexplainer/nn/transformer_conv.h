// TransformerConv (Shi et al., IJCAI 2021). With q, k, v linear in x and g = W_edge attr, per head
//   a_e = softmax_i(<q_i, k_j + g_e> / sqrt(C)),  out_i = sum_e m_e a_e (v_j + g_e) + W_skip x_i +
//   b_skip
// over incoming edges; no self-loops are added. Heads are concatenated or averaged.
#pragma once

#include <string>

#include "pgexplainer/nn/linear.h"

namespace pgexplainer {

struct TransformerConvOptions {
  std::int64_t out_channels = 0;
  std::int64_t heads = 1;
  bool concat = true;
  std::int64_t edge_dim = 0;
  bool bias = true;
  bool root_weight = true;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("out_channels", &TransformerConvOptions::out_channels, Bounds{1, 65536},
          "width of one head");
    field("heads", &TransformerConvOptions::heads, Bounds{1, 1024}, "number of attention heads");
    field("concat", &TransformerConvOptions::concat, Bounds{},
          "concatenate the heads; false: average");
    field("edge_dim", &TransformerConvOptions::edge_dim, Bounds{0, 65536},
          "width of the edge features; 0 = none read");
    field("bias", &TransformerConvOptions::bias, Bounds{}, "add learned constants");
    field("root_weight", &TransformerConvOptions::root_weight, Bounds{},
          "add a linear map of the node itself");
  }
};

template <class T>
class TransformerConv final : public Layer<T> {
 public:
  TransformerConv(const TransformerConvOptions& options, const std::string& name, Index in,
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
  TransformerConvOptions options_;
  LinearSlots key_, query_, value_, edge_, skip_;
};

}  // namespace pgexplainer
