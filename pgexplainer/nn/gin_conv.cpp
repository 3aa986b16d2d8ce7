#include "pgexplainer/nn/gin_conv.h"

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/aggregate.h"

namespace pgexplainer {
namespace {

enum {
  kSum = 0,
  kEdge = 1,
  kHidden = 2
};  // saved.matrix; kHidden and up: the hidden layers of the MLP
constexpr std::size_t kMostHidden = 4;

/// sum_i += c_e ReLU(x_j + a_e) over the slots of row i.
template <class T>
void gine_aggregate(const LayerContext<T>& context, const std::vector<T>& coefficient,
                    const Matrix<T>& x, const Matrix<T>& attr, Matrix<T>& sum) {
  sum.setZero(context.num_rows, x.cols());
  for (NodeId i = 0; i < context.num_rows; ++i)
    for (EdgeId slot = context.graph.in_ptr[at(i)]; slot < context.graph.in_ptr[at(i) + 1];
         ++slot) {
      const T c = coefficient.empty() ? T(1) : coefficient[at(slot)];
      sum.row(i) +=
          c * (x.row(context.graph.in_source[at(slot)]) + attr.row(context.graph.edge_of(slot)))
                  .cwiseMax(T(0));
    }
}

template <class T>
void gine_aggregate_backward(const LayerContext<T>& context, const std::vector<T>& coefficient,
                             const Matrix<T>& x, const Matrix<T>& attr, const Matrix<T>& dsum,
                             Matrix<T>* dx, Matrix<T>* dattr, std::vector<T>& dcoefficient) {
  dcoefficient.assign(at(context.graph.in_ptr[at(context.num_rows)]), T(0));
  Eigen::Matrix<T, 1, Eigen::Dynamic> raw, d;
  for (NodeId i = 0; i < context.num_rows; ++i)
    for (EdgeId slot = context.graph.in_ptr[at(i)]; slot < context.graph.in_ptr[at(i) + 1];
         ++slot) {
      const T c = coefficient.empty() ? T(1) : coefficient[at(slot)];
      const NodeId j = context.graph.in_source[at(slot)];
      const EdgeId e = context.graph.edge_of(slot);
      raw = x.row(j) + attr.row(e);
      dcoefficient[at(slot)] = raw.cwiseMax(T(0)).dot(dsum.row(i));
      d = (raw.array() > T(0)).select(c * dsum.row(i), T(0));
      if (dx) dx->row(j) += d;
      if (dattr) dattr->row(e) += d;
    }
}

}  // namespace

template <class T>
GinConv<T>::GinConv(const GinConvOptions& options, bool edge_features, const std::string& name,
                    Index in, ParameterLayout& layout)
    : in_channels_(in),
      edge_channels_(!edge_features         ? 0
                     : options.edge_dim > 0 ? options.edge_dim
                                            : in),
      eps_(layout.add(name + ".eps", {1}, Init::constant(options.eps), options.train_eps)),
      train_eps_(options.train_eps) {
  if (options.mlp ? options.out_channels < 1 : options.out_channels > 0)
    throw_bad_input("{}: out_channels is {}; {}", name, options.out_channels,
                    options.mlp ? "expected 1 or more" : "without MLP it is the input's width");
  if (options.hidden.size() > kMostHidden)
    throw_bad_input("{}: the MLP of a GIN layer has {} hidden layers, at most {} are supported",
                    name, options.hidden.size(), kMostHidden);
  if (edge_features && options.edge_dim > 0)
    edge_ = LinearSlots::add(layout, name + ".lin.", options.edge_dim, in, true);
  if (!options.mlp) return;
  std::vector<std::int64_t> widths = options.hidden;
  if (widths.empty()) widths.push_back(options.out_channels);
  widths.push_back(options.out_channels);
  for (std::size_t k = 0; k < widths.size(); ++k) {
    mlp_.push_back(
        LinearSlots::add(layout, fmt::format("{}.nn.{}.", name, 2 * k), in, widths[k], true));
    in = widths[k];
  }
}

template <class T>
void GinConv<T>::forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                         Matrix<T>& out, Saved<T>& saved) const {
  Matrix<T>& sum = saved.matrix[kSum];
  LayerContext<T> edges = context;
  edges.edge_weight = {};
  edge_coefficients(edges, saved.coefficient);
  if (edge_channels_ == 0) {
    aggregate(Aggregation::sum, edges, saved.coefficient, x, sum);
  } else {
    const Matrix<T>* attr = context.edge_attr;
    if (edge_.weight.exists()) {
      edge_.forward(theta, *context.edge_attr, context.edge_attr->rows(), saved.matrix[kEdge]);
      attr = &saved.matrix[kEdge];
    }
    gine_aggregate(edges, saved.coefficient, x, *attr, sum);
  }
  sum += (T(1) + theta[eps_.offset]) * x.topRows(context.num_rows);
  if (mlp_.empty()) {
    out = sum;
    return;
  }

  const Matrix<T>* input = &sum;
  for (std::size_t k = 0; k + 1 < mlp_.size(); ++k) {
    Matrix<T>& hidden = saved.matrix[kHidden + k];
    mlp_[k].forward(theta, *input, input->rows(), hidden, context.pool);
    hidden = hidden.cwiseMax(T(0));
    input = &hidden;
  }
  mlp_.back().forward(theta, *input, input->rows(), out, context.pool);
}

template <class T>
void GinConv<T>::backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                          const Matrix<T>& out, const Matrix<T>& dout, Saved<T>& saved,
                          const LayerGradients<T>& gradient) const {
  Matrix<T> d = dout;
  Matrix<T> dinput;
  for (std::size_t k = mlp_.size(); k-- > 0;) {
    const Matrix<T>& input = saved.matrix[k == 0 ? at(kSum) : kHidden + k - 1];
    dinput.resize(input.rows(), input.cols());
    mlp_[k].backward(theta, input, d, &dinput, false, gradient.theta);
    if (k > 0)
      d = (input.array() > T(0)).select(dinput, T(0));
    else
      d.swap(dinput);
  }
  if (gradient.x) {
    gradient.x->setZero(x.rows(), x.cols());
    gradient.x->topRows(d.rows()) = (T(1) + theta[eps_.offset]) * d;
  }
  if (gradient.theta && train_eps_)
    gradient.theta[eps_.offset] += d.cwiseProduct(x.topRows(d.rows())).sum();

  LayerContext<T> edges = context;
  edges.edge_weight = {};
  LayerGradients<T> edge_gradient = gradient;
  edge_gradient.edge_weight = {};
  std::vector<T> dcoefficient;
  if (edge_channels_ == 0) {
    if (!gradient.x && gradient.edge_mask.empty()) return;
    aggregate_backward(Aggregation::sum, edges, saved.coefficient, x, out, d, gradient.x,
                       gradient.edge_mask.empty() ? nullptr : &dcoefficient);
  } else if (edge_.weight.exists()) {
    const Matrix<T>& attr = saved.matrix[kEdge];
    Matrix<T> dattr = Matrix<T>::Zero(attr.rows(), attr.cols());
    gine_aggregate_backward(edges, saved.coefficient, x, attr, d, gradient.x, &dattr, dcoefficient);
    edge_.backward(theta, *context.edge_attr, dattr, gradient.edge_attr, true, gradient.theta);
  } else {
    gine_aggregate_backward(edges, saved.coefficient, x, *context.edge_attr, d, gradient.x,
                            gradient.edge_attr, dcoefficient);
  }
  edge_coefficients_backward(edges, dcoefficient, edge_gradient);
}

template class GinConv<float>;
template class GinConv<double>;

}  // namespace pgexplainer
