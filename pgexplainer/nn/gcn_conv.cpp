#include "pgexplainer/nn/gcn_conv.h"

#include <cmath>

#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/aggregate.h"

namespace pgexplainer {
namespace {

enum { kSent, kReceived, kDsent, kDreceived };  // saved.matrix

template <class T>
T weight_of(std::span<const T> edge_weight, EdgeId edge) {
  return edge_weight.empty() ? T(1) : edge_weight[at(edge)];
}

/// s_i = deg_i^(-1/2), 0 for deg_i <= 0, and the weight of each node's own loop.
template <class T>
struct Degrees {
  std::vector<T> inverse_root;
  std::vector<T> loop_weight;
  std::vector<EdgeId> loop_edge;  ///< the edge whose weight the loop keeps, or kNoEdge

  Degrees(const Adjacency& graph, std::span<const T> edge_weight, bool add_self_loops)
      : inverse_root(at(graph.num_nodes())) {
    if (add_self_loops) {
      loop_weight.assign(at(graph.num_nodes()), T(1));
      loop_edge.assign(at(graph.num_nodes()), kNoEdge);
    }
    for (NodeId i = 0; i < graph.num_nodes(); ++i) {
      T degree(0);
      for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot) {
        const T weight = weight_of(edge_weight, graph.edge_of(slot));
        if (add_self_loops && graph.in_source[at(slot)] == i) {
          loop_weight[at(i)] = weight;
          loop_edge[at(i)] = graph.edge_of(slot);
        } else {
          degree += weight;
        }
      }
      if (add_self_loops) degree += loop_weight[at(i)];
      inverse_root[at(i)] = degree > T(0) ? T(1) / std::sqrt(degree) : T(0);
    }
  }
};

/// dweight += the adjoint of gcn_norm: dnorm holds the gradients of its coefficients.
template <class T>
void gcn_norm_backward(const Adjacency& graph, std::span<const T> edge_weight, bool add_self_loops,
                       const GcnNorm<T>& dnorm, std::span<T> dweight) {
  const Degrees<T> degrees(graph, edge_weight, add_self_loops);
  const std::vector<T>& s = degrees.inverse_root;
  std::vector<T> ds(s.size(), T(0));
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {
    for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot) {
      const NodeId j = graph.in_source[at(slot)];
      const EdgeId e = graph.edge_of(slot);
      if (add_self_loops && j == i) continue;
      const T weight = weight_of(edge_weight, e);
      dweight[at(e)] += dnorm.edge[at(e)] * s[at(j)] * s[at(i)];
      ds[at(i)] += dnorm.edge[at(e)] * weight * s[at(j)];
      ds[at(j)] += dnorm.edge[at(e)] * weight * s[at(i)];
    }
    if (!add_self_loops) continue;
    ds[at(i)] += dnorm.loop[at(i)] * degrees.loop_weight[at(i)] * T(2) * s[at(i)];
    if (degrees.loop_edge[at(i)] != kNoEdge)
      dweight[at(degrees.loop_edge[at(i)])] += dnorm.loop[at(i)] * s[at(i)] * s[at(i)];
  }
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {
    const T ddegree = T(-0.5) * s[at(i)] * s[at(i)] * s[at(i)] * ds[at(i)];
    for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot) {
      const EdgeId e = graph.edge_of(slot);
      const bool replaced = add_self_loops && graph.in_source[at(slot)] == i;
      if (!replaced || e == degrees.loop_edge[at(i)]) dweight[at(e)] += ddegree;
    }
  }
}

}  // namespace

template <class T>
void gcn_norm(const Adjacency& graph, std::span<const T> edge_weight, bool add_self_loops,
              GcnNorm<T>& norm) {
  const Degrees<T> degrees(graph, edge_weight, add_self_loops);
  const std::vector<T>& s = degrees.inverse_root;
  norm.edge.assign(at(graph.num_edges()), T(0));
  norm.loop.assign(add_self_loops ? s.size() : 0, T(0));
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {
    for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot) {
      const NodeId j = graph.in_source[at(slot)];
      const EdgeId e = graph.edge_of(slot);
      if (!(add_self_loops && j == i))
        norm.edge[at(e)] = weight_of(edge_weight, e) * s[at(j)] * s[at(i)];
    }
    if (add_self_loops) norm.loop[at(i)] = degrees.loop_weight[at(i)] * s[at(i)] * s[at(i)];
  }
}

template <class T>
GcnConv<T>::GcnConv(const GcnConvOptions& options, const std::string& name, Index in,
                    ParameterLayout& layout)
    : options_(options),
      sends_x_(in <= options.out_channels),
      weight_(LinearSlots::add(layout, name + ".lin.", in, options.out_channels, false)) {
  if (options.bias) bias_ = layout.add(name + ".bias", {options.out_channels}, Init::constant(0));
}

template <class T>
GcnNormView<T> GcnConv<T>::norm(const LayerContext<T>& context, Saved<T>& saved) const {
  const GcnNormView<T>& given = context.gcn_norm[adds_self_loops() ? 1 : 0];
  if (!given.empty()) return given;
  gcn_norm(context.graph, context.edge_weight, adds_self_loops(), saved.gcn_norm);
  return saved.gcn_norm;
}

// What travels along the edges is the narrower of x and h = x W^T; the sum is linear, so the order
// does not matter:
//   out_i = (sum_slots c x_source + loop_i x_i) W^T + b  =  sum_slots c h_source + loop_i h_i + b
template <class T>
void GcnConv<T>::forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                         Matrix<T>& out, Saved<T>& saved) const {
  Matrix<T>& h = saved.matrix[kSent];
  if (!sends_x_) weight_.forward(theta, x, x.rows(), h, context.pool);
  const Matrix<T>& sent = sends_x_ ? x : h;
  Matrix<T>& received = sends_x_ ? saved.matrix[kReceived] : out;

  if (!options_.normalize) {
    edge_coefficients(context, saved.coefficient);
    aggregate(Aggregation::sum, context, saved.coefficient, sent, received);
  } else {
    const GcnNormView<T> coefficients = norm(context, saved);
    saved.coefficient.resize(at(context.graph.in_ptr[at(context.num_rows)]));
    const auto num_slots = static_cast<Index>(saved.coefficient.size());
    for_each_block(context.pool, num_slots, [&](Index begin, Index end) {
      for (Index slot = begin; slot < end; ++slot) {
        const auto edge = at(context.graph.edge_of(slot));
        saved.coefficient[at(slot)] =
            coefficients.edge[edge] * (context.edge_mask.empty() ? T(1) : context.edge_mask[edge]);
      }
    });
    aggregate(Aggregation::sum, context, saved.coefficient, sent, received);
    if (adds_self_loops())
      for (Index r = 0; r < received.rows(); ++r) {
        const NodeId i = context.node_of(r);
        received.row(r) += coefficients.loop[at(i)] * sent.row(i);
      }
  }

  const T* bias = bias_.exists() ? theta + bias_.offset : nullptr;
  if (sends_x_)
    linear_forward(received, received.rows(), weight_.weight.in(theta), bias, out, context.pool);
  else if (bias)
    out.rowwise() += bias_.in(theta).row(0);
}

template <class T>
void GcnConv<T>::backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                          const Matrix<T>& out, const Matrix<T>& dout, Saved<T>& saved,
                          const LayerGradients<T>& gradient) const {
  const bool wants_edges = !gradient.edge_mask.empty() || !gradient.edge_weight.empty();
  const Matrix<T>& sent = sends_x_ ? x : saved.matrix[kSent];
  Matrix<T>* dsent = sends_x_                       ? gradient.x
                     : gradient.x || gradient.theta ? &saved.matrix[kDsent]
                                                    : nullptr;
  if (bias_.exists() && gradient.theta) add_column_sums(dout, gradient.theta + bias_.offset);
  if (sends_x_) {
    const Matrix<T>& received = saved.matrix[kReceived];
    Matrix<T>& dreceived = saved.matrix[kDreceived];
    const bool wants_dreceived = dsent || wants_edges;
    if (wants_dreceived) dreceived.resize(received.rows(), received.cols());
    weight_.backward(theta, received, dout, wants_dreceived ? &dreceived : nullptr, false,
                     gradient.theta);
    if (!wants_dreceived) return;
  }
  const Matrix<T>& dreceived = sends_x_ ? saved.matrix[kDreceived] : dout;
  if (dsent) dsent->setZero(sent.rows(), sent.cols());
  std::vector<T> dcoefficient;
  aggregate_backward(Aggregation::sum, context, saved.coefficient, sent, out, dreceived, dsent,
                     wants_edges ? &dcoefficient : nullptr);
  if (options_.normalize)
    normalized_edges_backward(context, sent, dreceived, dcoefficient, saved, dsent, gradient);
  else
    edge_coefficients_backward(context, dcoefficient, gradient);

  if (!sends_x_ && dsent) {
    if (gradient.x) gradient.x->resize(x.rows(), x.cols());
    weight_.backward(theta, x, *dsent, gradient.x, false, gradient.theta);
  }
}

/// The rest of the adjoint of a normalised layer: its own loops, and the coefficients back to mask
/// and weights.
template <class T>
void GcnConv<T>::normalized_edges_backward(const LayerContext<T>& context, const Matrix<T>& sent,
                                           const Matrix<T>& dreceived,
                                           const std::vector<T>& dcoefficient, Saved<T>& saved,
                                           Matrix<T>* dsent,
                                           const LayerGradients<T>& gradient) const {
  const GcnNormView<T> coefficients = norm(context, saved);
  if (adds_self_loops() && dsent)
    for (NodeId i = 0; i < context.num_rows; ++i)
      dsent->row(i) += coefficients.loop[at(i)] * dreceived.row(i);
  GcnNorm<T> dnorm;
  if (!gradient.edge_weight.empty()) {
    dnorm.edge.assign(coefficients.edge.size(), T(0));
    dnorm.loop.assign(coefficients.loop.size(), T(0));
    for (NodeId i = 0; adds_self_loops() && i < context.num_rows; ++i)
      dnorm.loop[at(i)] = sent.row(i).dot(dreceived.row(i));
  }
  for (std::size_t slot = 0; slot < dcoefficient.size(); ++slot) {
    const auto edge = at(context.graph.edge_of(static_cast<EdgeId>(slot)));
    if (!gradient.edge_mask.empty())
      gradient.edge_mask[edge] += dcoefficient[slot] * coefficients.edge[edge];
    if (!dnorm.edge.empty())
      dnorm.edge[edge] +=
          dcoefficient[slot] * (context.edge_mask.empty() ? T(1) : context.edge_mask[edge]);
  }
  if (!gradient.edge_weight.empty())
    gcn_norm_backward(context.graph, context.edge_weight, adds_self_loops(), dnorm,
                      gradient.edge_weight);
}

template void gcn_norm(const Adjacency&, std::span<const float>, bool, GcnNorm<float>&);
template void gcn_norm(const Adjacency&, std::span<const double>, bool, GcnNorm<double>&);
template class GcnConv<float>;
template class GcnConv<double>;

}  // namespace pgexplainer
