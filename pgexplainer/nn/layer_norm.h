// LayerNorm (Ba et al., 2016). mode "node": each row by its own mean and variance, eps added to the
// variance. mode "graph" (PyG's default): all entries of a graph by their common mean and standard
// deviation, eps added to the standard deviation (without a batch vector; with one, PyG adds it to
// the variance: eps_in_variance). Variances are biased.
#pragma once

#include <cmath>
#include <string>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/nn/layer.h"
#include "pgexplainer/nn/linear.h"

namespace pgexplainer {

struct LayerNormOptions {
  double eps = 1e-5;
  std::string mode = "graph";
  bool eps_in_variance = false;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("eps", &LayerNormOptions::eps, Bounds{0, 1}, "keeps the divisor from zero");
    field("mode", &LayerNormOptions::mode, Bounds{}, "graph or node");
    field("eps_in_variance", &LayerNormOptions::eps_in_variance, Bounds{},
          "mode graph: add eps to the variance, not to the standard deviation");
  }
};

template <class T>
class LayerNorm final : public Layer<T> {
 public:
  LayerNorm(const LayerNormOptions& options, const std::string& name, Index channels,
            ParameterLayout& layout)
      : eps_(static_cast<T>(options.eps)),
        per_graph_(options.mode == "graph"),
        eps_in_variance_(!per_graph_ || options.eps_in_variance),
        weight_(layout.add(name + ".weight", {channels}, Init::constant(1))),
        bias_(layout.add(name + ".bias", {channels}, Init::constant(0))) {
    if (!per_graph_ && options.mode != "node")
      throw_bad_input("{}: unknown LayerNorm mode '{}'; expected graph or node", name,
                      options.mode);
  }

  [[nodiscard]] Index out_channels() const override { return weight_.cols; }
  [[nodiscard]] bool mixes_all_rows(bool) const override { return per_graph_; }

  void forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>& saved) const override {
    Matrix<T>& normalized = saved.matrix[0];
    Matrix<T>& deviation = saved.matrix[1];  // per block: (standard deviation, divisor)
    normalized.resize(x.rows(), x.cols());
    deviation.resize(num_blocks(context, x), 2);
    for_each_block(context, x, [&](Index block, Index begin, Index rows) {
      const auto in = x.middleRows(begin, rows).array();
      // Added one by one: Eigen's order of additions depends on where the rows lie in memory.
      T mean(0), variance(0);
      for (Index i = 0; i < in.size(); ++i) mean += x.data()[begin * x.cols() + i];
      mean /= static_cast<T>(in.size());
      for (Index i = 0; i < in.size(); ++i) {
        const T distance = x.data()[begin * x.cols() + i] - mean;
        variance += distance * distance;
      }
      variance /= static_cast<T>(in.size());
      deviation(block, 0) = std::sqrt(variance);
      deviation(block, 1) =
          eps_in_variance_ ? std::sqrt(variance + eps_) : deviation(block, 0) + eps_;
      normalized.middleRows(begin, rows) = (in - mean) / deviation(block, 1);
    });
    out = (normalized.array().rowwise() * weight_.in(theta).row(0).array()).rowwise() +
          bias_.in(theta).row(0).array();
  }

  // With n = (x - mean) / s and d = dL/dn: dx = (d - mean(d) - n mean(d n) ds) / s, where ds = s /
  // standard deviation if s = deviation + eps, and 1 if s^2 = variance + eps.
  void backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                const Matrix<T>&, const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override {
    const Matrix<T>& normalized = saved.matrix[0];
    const Matrix<T>& deviation = saved.matrix[1];
    if (gradient.theta) {
      add_column_sums<T>(dout.cwiseProduct(normalized), gradient.theta + weight_.offset);
      add_column_sums(dout, gradient.theta + bias_.offset);
    }
    if (!gradient.x) return;
    Matrix<T>& dx = *gradient.x;
    dx = dout.array().rowwise() * weight_.in(theta).row(0).array();
    for_each_block(context, x, [&](Index block, Index begin, Index rows) {
      auto d = dx.middleRows(begin, rows).array();
      const auto n = normalized.middleRows(begin, rows).array();
      const T mean_d = d.mean();
      const T mean_dn = (d * n).mean();
      const T s = deviation(block, 1);
      const T ds = eps_in_variance_             ? T(1)
                   : deviation(block, 0) > T(0) ? s / deviation(block, 0)
                                                : T(0);
      d = (d - mean_d - n * (mean_dn * ds)) / s;
    });
  }

 private:
  Index num_blocks(const LayerContext<T>& context, const Matrix<T>& x) const {
    if (!per_graph_) return x.rows();
    return context.graph_ptr.empty() ? 1 : static_cast<Index>(context.graph_ptr.size()) - 1;
  }
  template <class F>
  void for_each_block(const LayerContext<T>& context, const Matrix<T>& x, F&& f) const {
    for (Index b = 0; b < num_blocks(context, x); ++b) {
      Index begin = b;
      Index rows = 1;
      if (per_graph_) {
        begin = context.graph_ptr.empty() ? 0 : context.graph_ptr[at(b)];
        rows = context.graph_ptr.empty() ? x.rows() : context.graph_ptr[at(b) + 1] - begin;
      }
      if (rows > 0) f(b, begin, rows);
    }
  }

  T eps_;
  bool per_graph_, eps_in_variance_;
  Slot weight_, bias_;
};

}  // namespace pgexplainer
