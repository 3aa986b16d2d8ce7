#include "pgexplainer/nn/gatv2_conv.h"

#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/attention.h"

namespace pgexplainer {
namespace {

enum { kLeft, kRight, kAttention, kSlotAttr, kEdge, kHeads };  // saved.matrix

template <class T>
using Row = Eigen::Matrix<T, 1, Eigen::Dynamic>;

}  // namespace

template <class T>
Gatv2Conv<T>::Gatv2Conv(const GatConvOptions& options, const std::string& name, Index in,
                        ParameterLayout& layout)
    : options_(options),
      left_(LinearSlots::add(layout, name + ".lin_l.", in, options.heads * options.out_channels,
                             options.bias)),
      right_(LinearSlots::add(layout, name + ".lin_r.", in, options.heads * options.out_channels,
                              options.bias)),
      att_(layout.add(name + ".att", {1, options.heads, options.out_channels}, Init::glorot())) {
  if (options.edge_dim > 0)
    edge_ = LinearSlots::add(layout, name + ".lin_edge.", options.edge_dim,
                             options.heads * options.out_channels, false);
  if (options.bias) bias_ = layout.add(name + ".bias", {out_channels()}, Init::constant(0));
}

template <class T>
void Gatv2Conv<T>::forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                           Matrix<T>& out, Saved<T>& saved) const {
  Matrix<T>& left = saved.matrix[kLeft];
  Matrix<T>& right = saved.matrix[kRight];
  Matrix<T>& attention = saved.matrix[kAttention];
  message_slots(context, options_.add_self_loops, saved.slots);
  const MessageSlots& slots = saved.slots;
  left_.forward(theta, x, x.rows(), left);
  right_.forward(theta, x, context.num_rows, right);
  if (edge_.weight.exists()) {
    slot_attributes(slots, *context.edge_attr, saved.matrix[kSlotAttr]);
    edge_.forward(theta, saved.matrix[kSlotAttr], saved.matrix[kSlotAttr].rows(),
                  saved.matrix[kEdge]);
  }
  const auto att = att_.in(theta);
  const T slope = static_cast<T>(options_.negative_slope);
  attention.resize(static_cast<Index>(slots.source.size()), options_.heads);
  Row<T> sum;
  for (NodeId i = 0; i < context.num_rows; ++i)
    for (EdgeId slot = slots.ptr[at(i)]; slot < slots.ptr[at(i) + 1]; ++slot) {
      sum = left.row(slots.source[at(slot)]) + right.row(i);
      if (edge_.weight.exists()) sum += saved.matrix[kEdge].row(slot);
      sum = sum.cwiseMax(T(0)) + slope * sum.cwiseMin(T(0));
      for (Index h = 0; h < options_.heads; ++h)
        attention(slot, h) = att.row(h).dot(sum.segment(h * att.cols(), att.cols()));
    }
  softmax_over_slots(slots, attention);
  Matrix<T>& heads = saved.matrix[kHeads];
  attend<T>(slots, context.edge_mask, attention, left, nullptr, options_.concat ? out : heads);
  if (!options_.concat) mean_over_heads(heads, options_.heads, out);
  if (bias_.exists()) out.rowwise() += bias_.in(theta).row(0);
}

template <class T>
void Gatv2Conv<T>::backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                            const Matrix<T>&, const Matrix<T>& dout, Saved<T>& saved,
                            const LayerGradients<T>& gradient) const {
  const Matrix<T>& left = saved.matrix[kLeft];
  const Matrix<T>& right = saved.matrix[kRight];
  const Matrix<T>& attention = saved.matrix[kAttention];
  const MessageSlots& slots = saved.slots;
  T* dtheta = gradient.theta;
  if (bias_.exists() && dtheta) add_column_sums(dout, dtheta + bias_.offset);
  Matrix<T> dheads;
  if (!options_.concat) mean_over_heads_backward(dout, options_.heads, dheads);

  Matrix<T> dleft = Matrix<T>::Zero(left.rows(), left.cols());
  Matrix<T> dright = Matrix<T>::Zero(right.rows(), right.cols());
  Matrix<T> dedge;
  if (edge_.weight.exists()) dedge.resize(saved.matrix[kEdge].rows(), saved.matrix[kEdge].cols());
  Matrix<T> dlogit;
  attend_backward<T>(slots, context.edge_mask, attention, left, nullptr,
                     options_.concat ? dout : dheads, dleft, dlogit, nullptr, gradient.edge_mask);
  softmax_over_slots_backward(slots, attention, dlogit);

  const auto att = att_.in(theta);
  const T slope = static_cast<T>(options_.negative_slope);
  Row<T> sum, d(left.cols());
  for (NodeId i = 0; i < context.num_rows; ++i)
    for (EdgeId slot = slots.ptr[at(i)]; slot < slots.ptr[at(i) + 1]; ++slot) {
      sum = left.row(slots.source[at(slot)]) + right.row(i);
      if (edge_.weight.exists()) sum += saved.matrix[kEdge].row(slot);
      for (Index h = 0; h < options_.heads; ++h) {
        const auto raw = sum.segment(h * att.cols(), att.cols()).array();
        if (dtheta)
          att_.in(dtheta).row(h) +=
              (dlogit(slot, h) * (raw.max(T(0)) + slope * raw.min(T(0)))).matrix();
        d.segment(h * att.cols(), att.cols()) =
            dlogit(slot, h) * (raw > T(0)).select(att.row(h).array(), slope * att.row(h).array());
      }
      dleft.row(slots.source[at(slot)]) += d;
      dright.row(i) += d;
      if (edge_.weight.exists()) dedge.row(slot) = d;
    }
  if (edge_.weight.exists() && (dtheta || gradient.edge_attr)) {
    const Matrix<T>& slot_attr = saved.matrix[kSlotAttr];
    Matrix<T> dslot_attr(slot_attr.rows(), slot_attr.cols());
    edge_.backward(theta, slot_attr, dedge, &dslot_attr, false, dtheta);
    if (gradient.edge_attr) slot_attributes_backward(slots, dslot_attr, *gradient.edge_attr);
  }
  if (gradient.x) gradient.x->setZero(x.rows(), x.cols());
  left_.backward(theta, x, dleft, gradient.x, true, dtheta);
  right_.backward(theta, x, dright, gradient.x, true, dtheta);
}

template <class T>
const Matrix<T>* Gatv2Conv<T>::attention(const Saved<T>& saved) const {
  return &saved.matrix[kAttention];
}

template class Gatv2Conv<float>;
template class Gatv2Conv<double>;

}  // namespace pgexplainer
