#include "pgexplainer/nn/neighborhood_conv.h"

#include "pgexplainer/nn/l2_norm.h"

namespace pgexplainer {

template <class T>
NeighborhoodConv<T>::NeighborhoodConv(const GraphConvOptions& options, const std::string& name,
                                      Index in, ParameterLayout& layout)
    : aggregation_(parse_aggregation(options.aggr)),
      reads_edge_weight_(true),
      neighbors_(
          LinearSlots::add(layout, name + ".lin_rel.", in, options.out_channels, options.bias)),
      root_(LinearSlots::add(layout, name + ".lin_root.", in, options.out_channels, false)) {}

template <class T>
NeighborhoodConv<T>::NeighborhoodConv(const SageConvOptions& options, const std::string& name,
                                      Index in, ParameterLayout& layout)
    : aggregation_(parse_aggregation(options.aggr)),
      reads_edge_weight_(false),
      normalize_(options.normalize),
      neighbors_(
          LinearSlots::add(layout, name + ".lin_l.", in, options.out_channels, options.bias)) {
  if (options.root_weight)
    root_ = LinearSlots::add(layout, name + ".lin_r.", in, options.out_channels, false);
}

template <class T>
LayerContext<T> NeighborhoodConv<T>::readable(LayerContext<T> context) const {
  if (!reads_edge_weight_) context.edge_weight = {};
  return context;
}

template <class T>
void NeighborhoodConv<T>::forward(const T* theta, const LayerContext<T>& context,
                                  const Matrix<T>& x, Matrix<T>& out, Saved<T>& saved) const {
  Matrix<T>& gathered = saved.matrix[0];
  Matrix<T>& norm = saved.matrix[2];
  const LayerContext<T> edges = readable(context);
  edge_coefficients(edges, saved.coefficient);
  aggregate(aggregation_, edges, saved.coefficient, x, gathered);
  neighbors_.forward(theta, gathered, gathered.rows(), out, context.pool);
  if (root_.weight.exists()) {
    Matrix<T>& own = saved.matrix[1];
    root_.forward(theta, x, context.num_rows, own, context.pool);
    out += own;
  }
  if (normalize_) l2_norm_forward(out, false, out, norm, context.pool);
}

template <class T>
void NeighborhoodConv<T>::backward(const T* theta, const LayerContext<T>& context,
                                   const Matrix<T>& x, const Matrix<T>& out, const Matrix<T>& dout,
                                   Saved<T>& saved, const LayerGradients<T>& gradient) const {
  const Matrix<T>& gathered = saved.matrix[0];
  const Matrix<T>& norm = saved.matrix[2];
  Matrix<T>& dgathered = saved.matrix[3];
  Matrix<T>& dsum = saved.matrix[4];
  const LayerContext<T> edges = readable(context);
  if (normalize_) l2_norm_backward(out, false, out, norm, dout, dsum);
  const Matrix<T>& d = normalize_ ? dsum : dout;

  dgathered.resize(gathered.rows(), gathered.cols());
  neighbors_.backward(theta, gathered, d, &dgathered, false, gradient.theta);
  if (gradient.x) gradient.x->setZero(x.rows(), x.cols());
  if (root_.weight.exists()) root_.backward(theta, x, d, gradient.x, true, gradient.theta);

  LayerGradients<T> edge_gradient = gradient;
  if (!reads_edge_weight_) edge_gradient.edge_weight = {};
  const bool wants_edges = !edge_gradient.edge_mask.empty() || !edge_gradient.edge_weight.empty();
  if (!gradient.x && !wants_edges) return;
  std::vector<T> dcoefficient;
  aggregate_backward(aggregation_, edges, saved.coefficient, x, gathered, dgathered, gradient.x,
                     wants_edges ? &dcoefficient : nullptr);
  edge_coefficients_backward(edges, dcoefficient, edge_gradient);
}

template class NeighborhoodConv<float>;
template class NeighborhoodConv<double>;

}  // namespace pgexplainer
