#include "pgexplainer/nn/transformer_conv.h"

#include <cmath>

#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/attention.h"

namespace pgexplainer {
namespace {

enum { kKey, kQuery, kValue, kAttention, kEdge, kSlotAttr };  // saved.matrix

}  // namespace

template <class T>
TransformerConv<T>::TransformerConv(const TransformerConvOptions& options, const std::string& name,
                                    Index in, ParameterLayout& layout)
    : options_(options) {
  const Index width = options.heads * options.out_channels;
  key_ = LinearSlots::add(layout, name + ".lin_key.", in, width, options.bias);
  query_ = LinearSlots::add(layout, name + ".lin_query.", in, width, options.bias);
  value_ = LinearSlots::add(layout, name + ".lin_value.", in, width, options.bias);
  if (options.edge_dim > 0)
    edge_ = LinearSlots::add(layout, name + ".lin_edge.", options.edge_dim, width, false);
  if (options.root_weight)
    skip_ = LinearSlots::add(layout, name + ".lin_skip.", in, out_channels(), options.bias);
}

template <class T>
void TransformerConv<T>::forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                                 Matrix<T>& out, Saved<T>& saved) const {
  Matrix<T>& key = saved.matrix[kKey];
  Matrix<T>& query = saved.matrix[kQuery];
  Matrix<T>& value = saved.matrix[kValue];
  Matrix<T>& attention = saved.matrix[kAttention];
  Matrix<T>& edge = saved.matrix[kEdge];
  message_slots(context, false, saved.slots);
  const MessageSlots& slots = saved.slots;
  key_.forward(theta, x, x.rows(), key);
  query_.forward(theta, x, context.num_rows, query);
  value_.forward(theta, x, x.rows(), value);
  if (edge_.weight.exists()) {
    slot_attributes(slots, *context.edge_attr, saved.matrix[kSlotAttr]);
    edge_.forward(theta, saved.matrix[kSlotAttr], saved.matrix[kSlotAttr].rows(), edge);
  }
  const Index channels = options_.out_channels;
  const T scale = T(1) / std::sqrt(static_cast<T>(channels));
  attention.resize(static_cast<Index>(slots.source.size()), options_.heads);
  for (NodeId i = 0; i < context.num_rows; ++i)
    for (EdgeId slot = slots.ptr[at(i)]; slot < slots.ptr[at(i) + 1]; ++slot)
      for (Index h = 0; h < options_.heads; ++h) {
        const auto q = query.row(i).segment(h * channels, channels);
        T along = q.dot(key.row(slots.source[at(slot)]).segment(h * channels, channels));
        if (edge_.weight.exists()) along += q.dot(edge.row(slot).segment(h * channels, channels));
        attention(slot, h) = along * scale;
      }
  softmax_over_slots(slots, attention);
  const Matrix<T>* extra = edge_.weight.exists() ? &edge : nullptr;
  if (options_.concat) {
    attend<T>(slots, context.edge_mask, attention, value, extra, out);
  } else {
    Matrix<T> heads;
    attend<T>(slots, context.edge_mask, attention, value, extra, heads);
    mean_over_heads(heads, options_.heads, out);
  }
  if (skip_.weight.exists()) {
    Matrix<T> skip;
    skip_.forward(theta, x, context.num_rows, skip);
    out += skip;
  }
}

template <class T>
void TransformerConv<T>::backward(const T* theta, const LayerContext<T>& context,
                                  const Matrix<T>& x, const Matrix<T>&, const Matrix<T>& dout,
                                  Saved<T>& saved, const LayerGradients<T>& gradient) const {
  const Matrix<T>& key = saved.matrix[kKey];
  const Matrix<T>& query = saved.matrix[kQuery];
  const Matrix<T>& value = saved.matrix[kValue];
  const Matrix<T>& attention = saved.matrix[kAttention];
  const Matrix<T>& edge = saved.matrix[kEdge];
  const MessageSlots& slots = saved.slots;
  T* dtheta = gradient.theta;
  const bool has_edge = edge_.weight.exists();
  Matrix<T> dheads;
  if (!options_.concat) mean_over_heads_backward(dout, options_.heads, dheads);

  Matrix<T> dvalue = Matrix<T>::Zero(value.rows(), value.cols());
  Matrix<T> dkey = Matrix<T>::Zero(key.rows(), key.cols());
  Matrix<T> dquery = Matrix<T>::Zero(query.rows(), query.cols());
  Matrix<T> dedge;
  if (has_edge) dedge.setZero(edge.rows(), edge.cols());
  Matrix<T> dlogit;
  attend_backward<T>(slots, context.edge_mask, attention, value, has_edge ? &edge : nullptr,
                     options_.concat ? dout : dheads, dvalue, dlogit, has_edge ? &dedge : nullptr,
                     gradient.edge_mask);
  softmax_over_slots_backward(slots, attention, dlogit);

  const Index channels = options_.out_channels;
  const T scale = T(1) / std::sqrt(static_cast<T>(channels));
  for (NodeId i = 0; i < context.num_rows; ++i)
    for (EdgeId slot = slots.ptr[at(i)]; slot < slots.ptr[at(i) + 1]; ++slot)
      for (Index h = 0; h < options_.heads; ++h) {
        const T d = dlogit(slot, h) * scale;
        const NodeId j = slots.source[at(slot)];
        const auto q = query.row(i).segment(h * channels, channels);
        auto dq = dquery.row(i).segment(h * channels, channels);
        dq += d * key.row(j).segment(h * channels, channels);
        dkey.row(j).segment(h * channels, channels) += d * q;
        if (has_edge) {
          dq += d * edge.row(slot).segment(h * channels, channels);
          dedge.row(slot).segment(h * channels, channels) += d * q;
        }
      }
  if (has_edge && (dtheta || gradient.edge_attr)) {
    const Matrix<T>& slot_attr = saved.matrix[kSlotAttr];
    Matrix<T> dslot_attr(slot_attr.rows(), slot_attr.cols());
    edge_.backward(theta, slot_attr, dedge, &dslot_attr, false, dtheta);
    if (gradient.edge_attr) slot_attributes_backward(slots, dslot_attr, *gradient.edge_attr);
  }
  if (gradient.x) gradient.x->setZero(x.rows(), x.cols());
  key_.backward(theta, x, dkey, gradient.x, true, dtheta);
  query_.backward(theta, x, dquery, gradient.x, true, dtheta);
  value_.backward(theta, x, dvalue, gradient.x, true, dtheta);
  if (skip_.weight.exists()) skip_.backward(theta, x, dout, gradient.x, true, dtheta);
}

template <class T>
const Matrix<T>* TransformerConv<T>::attention(const Saved<T>& saved) const {
  return &saved.matrix[kAttention];
}

template class TransformerConv<float>;
template class TransformerConv<double>;

}  // namespace pgexplainer
