// GCNConv (Kipf and Welling, ICLR 2017): out_i = sum_e c_e (x_j W^T) + b over incoming edges e = (j
// -> i).
//
// normalize = true:  c_e = w_e / sqrt(deg_j deg_i), deg = sum of incoming weights, after replacing
// self-loops by one
//                    loop per node (the weight of an existing loop is kept, else 1) if
//                    add_self_loops.
// normalize = false: c_e = w_e; the raw adjacency of the paper's released code.
// The mask multiplies the finished message; a loop of the layer's own is never masked, and the mask
// of a loop it replaces has no effect.
#pragma once

#include <string>

#include "pgexplainer/nn/linear.h"

namespace pgexplainer {

/// The coefficients of the normalised layer on a whole graph.
template <class T>
void gcn_norm(const Adjacency& graph, std::span<const T> edge_weight, bool add_self_loops,
              GcnNorm<T>& norm);

struct GcnConvOptions {
  std::int64_t out_channels = 0;
  bool normalize = true;
  bool add_self_loops = true;
  bool bias = true;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("out_channels", &GcnConvOptions::out_channels, Bounds{1, 65536}, "width of the output");
    field("normalize", &GcnConvOptions::normalize, Bounds{},
          "divide by the degrees; false: plain sum");
    field("add_self_loops", &GcnConvOptions::add_self_loops, Bounds{}, "only with normalize");
    field("bias", &GcnConvOptions::bias, Bounds{}, "add a learned constant");
  }
};

template <class T>
class GcnConv final : public Layer<T> {
 public:
  GcnConv(const GcnConvOptions& options, const std::string& name, Index in,
          ParameterLayout& layout);

  [[nodiscard]] Index out_channels() const override { return weight_.weight.rows; }
  [[nodiscard]] bool passes_messages() const override { return true; }
  [[nodiscard]] bool picks_rows() const override { return sends_x_; }
  [[nodiscard]] bool normalizes() const { return options_.normalize; }
  [[nodiscard]] bool adds_self_loops() const {
    return options_.normalize && options_.add_self_loops;
  }

  void forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>& saved) const override;
  void backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                const Matrix<T>& out, const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override;

 private:
  GcnNormView<T> norm(const LayerContext<T>& context, Saved<T>& saved) const;

  void normalized_edges_backward(const LayerContext<T>& context, const Matrix<T>& sent,
                                 const Matrix<T>& dreceived, const std::vector<T>& dcoefficient,
                                 Saved<T>& saved, Matrix<T>* dsent,
                                 const LayerGradients<T>& gradient) const;

  GcnConvOptions options_;
  bool sends_x_;
  LinearSlots weight_;
  Slot bias_;
};

}  // namespace pgexplainer
