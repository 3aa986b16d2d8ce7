#include "pgexplainer/nn/gat_conv.h"

#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/attention.h"

namespace pgexplainer {
namespace {

enum { kValue, kAttention, kRaw, kSlotAttr, kHeads };  // saved.matrix

/// score(j, h) = <att_h, v_jh>
template <class T>
Matrix<T> head_scores(const Matrix<T>& value, ConstMatrixView<T> att) {
  Matrix<T> score(value.rows(), att.rows());
  for (Index h = 0; h < att.rows(); ++h)
    score.col(h) = value.middleCols(h * att.cols(), att.cols()) * att.row(h).transpose();
  return score;
}

template <class T>
void head_scores_backward(const Matrix<T>& value, ConstMatrixView<T> att, const Matrix<T>& dscore,
                          Matrix<T>& dvalue, T* datt) {
  for (Index h = 0; h < att.rows(); ++h) {
    dvalue.topRows(dscore.rows()).middleCols(h * att.cols(), att.cols()) +=
        dscore.col(h) * att.row(h);
    if (datt)
      MatrixView<T>(datt, att.rows(), att.cols()).row(h) +=
          dscore.col(h).transpose() *
          value.topRows(dscore.rows()).middleCols(h * att.cols(), att.cols());
  }
}

}  // namespace

template <class T>
GatConv<T>::GatConv(const GatConvOptions& options, const std::string& name, Index in,
                    ParameterLayout& layout)
    : options_(options),
      value_(LinearSlots::add(layout, name + ".lin.", in, options.heads * options.out_channels,
                              false)),
      att_src_(
          layout.add(name + ".att_src", {1, options.heads, options.out_channels}, Init::glorot())),
      att_dst_(
          layout.add(name + ".att_dst", {1, options.heads, options.out_channels}, Init::glorot())) {
  if (options.edge_dim > 0) {
    edge_ = LinearSlots::add(layout, name + ".lin_edge.", options.edge_dim,
                             options.heads * options.out_channels, false);
    att_edge_ =
        layout.add(name + ".att_edge", {1, options.heads, options.out_channels}, Init::glorot());
  }
  if (options.bias) bias_ = layout.add(name + ".bias", {out_channels()}, Init::constant(0));
}

template <class T>
void GatConv<T>::forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                         Matrix<T>& out, Saved<T>& saved) const {
  Matrix<T>& value = saved.matrix[kValue];
  Matrix<T>& attention = saved.matrix[kAttention];
  Matrix<T>& raw = saved.matrix[kRaw];
  message_slots(context, options_.add_self_loops, saved.slots);
  const MessageSlots& slots = saved.slots;

  value_.forward(theta, x, x.rows(), value);
  const Matrix<T> from = head_scores(value, att_src_.in(theta));
  const Matrix<T> to = head_scores(value, att_dst_.in(theta));
  raw.resize(static_cast<Index>(slots.source.size()), options_.heads);
  for (NodeId i = 0; i < context.num_rows; ++i)
    for (EdgeId slot = slots.ptr[at(i)]; slot < slots.ptr[at(i) + 1]; ++slot)
      raw.row(slot) = from.row(slots.source[at(slot)]) + to.row(i);
  if (edge_.weight.exists()) {
    slot_attributes(slots, *context.edge_attr, saved.matrix[kSlotAttr]);
    Matrix<T> mapped;
    edge_.forward(theta, saved.matrix[kSlotAttr], saved.matrix[kSlotAttr].rows(), mapped);
    raw += head_scores(mapped, att_edge_.in(theta));
  }
  const T slope = static_cast<T>(options_.negative_slope);
  attention = raw.cwiseMax(T(0)) + slope * raw.cwiseMin(T(0));
  softmax_over_slots(slots, attention);

  Matrix<T>& heads = saved.matrix[kHeads];
  attend<T>(slots, context.edge_mask, attention, value, nullptr, options_.concat ? out : heads);
  if (!options_.concat) mean_over_heads(heads, options_.heads, out);
  if (bias_.exists()) out.rowwise() += bias_.in(theta).row(0);
}

template <class T>
void GatConv<T>::backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                          const Matrix<T>&, const Matrix<T>& dout, Saved<T>& saved,
                          const LayerGradients<T>& gradient) const {
  const Matrix<T>& value = saved.matrix[kValue];
  const Matrix<T>& attention = saved.matrix[kAttention];
  const Matrix<T>& raw = saved.matrix[kRaw];
  const MessageSlots& slots = saved.slots;
  if (bias_.exists() && gradient.theta) add_column_sums(dout, gradient.theta + bias_.offset);
  Matrix<T> dheads;
  if (!options_.concat) mean_over_heads_backward(dout, options_.heads, dheads);

  Matrix<T> dvalue = Matrix<T>::Zero(value.rows(), value.cols());
  Matrix<T>
      draw;  // first dattention, then the gradient of the softmax's input, then of the LeakyReLU's
  attend_backward<T>(slots, context.edge_mask, attention, value, nullptr,
                     options_.concat ? dout : dheads, dvalue, draw, nullptr, gradient.edge_mask);
  softmax_over_slots_backward(slots, attention, draw);
  const T slope = static_cast<T>(options_.negative_slope);
  draw = (raw.array() > T(0)).select(draw, slope * draw).eval();

  Matrix<T> dfrom = Matrix<T>::Zero(value.rows(), options_.heads);
  Matrix<T> dto = Matrix<T>::Zero(context.num_rows, options_.heads);
  for (NodeId i = 0; i < context.num_rows; ++i)
    for (EdgeId slot = slots.ptr[at(i)]; slot < slots.ptr[at(i) + 1]; ++slot) {
      dfrom.row(slots.source[at(slot)]) += draw.row(slot);
      dto.row(i) += draw.row(slot);
    }
  T* dtheta = gradient.theta;
  head_scores_backward(value, att_src_.in(theta), dfrom, dvalue,
                       dtheta ? dtheta + att_src_.offset : nullptr);
  head_scores_backward(value, att_dst_.in(theta), dto, dvalue,
                       dtheta ? dtheta + att_dst_.offset : nullptr);
  if (edge_.weight.exists() && (dtheta || gradient.edge_attr)) {
    const Matrix<T>& slot_attr = saved.matrix[kSlotAttr];
    Matrix<T> mapped;
    edge_.forward(theta, slot_attr, slot_attr.rows(), mapped);
    Matrix<T> dmapped = Matrix<T>::Zero(mapped.rows(), mapped.cols());
    head_scores_backward(mapped, att_edge_.in(theta), draw, dmapped,
                         dtheta ? dtheta + att_edge_.offset : nullptr);
    Matrix<T> dslot_attr(slot_attr.rows(), slot_attr.cols());
    edge_.backward(theta, slot_attr, dmapped, &dslot_attr, false, dtheta);
    if (gradient.edge_attr) slot_attributes_backward(slots, dslot_attr, *gradient.edge_attr);
  }
  if (gradient.x) gradient.x->resize(x.rows(), x.cols());
  value_.backward(theta, x, dvalue, gradient.x, false, dtheta);
}

template <class T>
const Matrix<T>* GatConv<T>::attention(const Saved<T>& saved) const {
  return &saved.matrix[kAttention];
}

template class GatConv<float>;
template class GatConv<double>;

}  // namespace pgexplainer
