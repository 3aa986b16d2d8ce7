// GINConv (Xu et al., ICLR 2019):  MLP((1 + eps) x_i + sum_e c_e x_j)
// GINEConv (Hu et al., ICLR 2020): MLP((1 + eps) x_i + sum_e c_e ReLU(x_j + a_e)), a_e = edge
// features, through a linear map `lin` when edge_dim is given. The MLP is nn.0, ReLU, nn.2, ReLU,
// ...; without it, any other network of rows can follow as layers of its own. PyG reads no edge
// weights here.
#pragma once

#include <string>
#include <vector>

#include "pgexplainer/nn/linear.h"

namespace pgexplainer {

struct GinConvOptions {
  std::int64_t out_channels = 0;
  std::vector<std::int64_t> hidden;
  bool mlp = true;
  double eps = 0.0;
  bool train_eps = false;
  std::int64_t edge_dim = 0;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("out_channels", &GinConvOptions::out_channels, Bounds{0, 65536},
          "width of the output; not given without MLP");
    field("hidden", &GinConvOptions::hidden, Bounds{1, 65536},
          "widths inside the MLP; [] = out_channels once");
    field("mlp", &GinConvOptions::mlp, Bounds{}, "false: the weighted sum alone");
    field("eps", &GinConvOptions::eps, Bounds{-1e6, 1e6}, "initial eps");
    field("train_eps", &GinConvOptions::train_eps, Bounds{}, "learn eps");
    field(
        "edge_dim", &GinConvOptions::edge_dim, Bounds{0, 65536},
        "GINEConv: width of the edge features to map to the node width; 0 = equal widths, no map");
  }
};

template <class T>
class GinConv final : public Layer<T> {
 public:
  GinConv(const GinConvOptions& options, bool edge_features, const std::string& name, Index in,
          ParameterLayout& layout);

  [[nodiscard]] Index out_channels() const override {
    return mlp_.empty() ? in_channels_ : mlp_.back().weight.rows;
  }
  [[nodiscard]] bool passes_messages() const override { return true; }
  [[nodiscard]] Index edge_channels() const override { return edge_channels_; }

  void forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>& saved) const override;
  void backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                const Matrix<T>& out, const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override;

 private:
  Index in_channels_;
  Index edge_channels_;  // 0: GINConv
  Slot eps_;
  bool train_eps_;
  LinearSlots edge_;
  std::vector<LinearSlots> mlp_;  // may be empty
};

}  // namespace pgexplainer
