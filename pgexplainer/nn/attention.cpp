#include "pgexplainer/nn/attention.h"

#include "pgexplainer/core/index.h"

namespace pgexplainer {
namespace {

NodeId num_rows(const MessageSlots& slots) { return static_cast<NodeId>(slots.ptr.size()) - 1; }

template <class T>
T mask_of(std::span<const T> edge_mask, EdgeId edge) {
  return edge_mask.empty() || edge == kNoEdge ? T(1) : edge_mask[at(edge)];
}

}  // namespace

template <class T>
void message_slots(const LayerContext<T>& context, bool add_self_loops, MessageSlots& slots) {
  const Adjacency& graph = context.graph;
  slots.ptr.assign(1, 0);
  slots.source.clear();
  slots.edge.clear();
  for (NodeId i = 0; i < context.num_rows; ++i) {
    for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot) {
      if (add_self_loops && graph.in_source[at(slot)] == i) continue;
      slots.source.push_back(graph.in_source[at(slot)]);
      slots.edge.push_back(graph.edge_of(slot));
    }
    if (add_self_loops) {
      slots.source.push_back(i);
      slots.edge.push_back(kNoEdge);
    }
    slots.ptr.push_back(static_cast<EdgeId>(slots.source.size()));
  }
}

template <class T>
void slot_attributes(const MessageSlots& slots, const Matrix<T>& edge_attr, Matrix<T>& slot_attr) {
  slot_attr.setZero(static_cast<Index>(slots.source.size()), edge_attr.cols());
  for (NodeId i = 0; i < num_rows(slots); ++i) {
    const EdgeId begin = slots.ptr[at(i)];
    const EdgeId end = slots.ptr[at(i) + 1];
    for (EdgeId slot = begin; slot < end; ++slot) {
      if (slots.edge[at(slot)] != kNoEdge)
        slot_attr.row(slot) = edge_attr.row(slots.edge[at(slot)]);
      else if (slot > begin)
        slot_attr.row(slot) = slot_attr.middleRows(begin, slot - begin).colwise().mean();
    }
  }
}

template <class T>
void slot_attributes_backward(const MessageSlots& slots, const Matrix<T>& dslot_attr,
                              Matrix<T>& dedge_attr) {
  for (NodeId i = 0; i < num_rows(slots); ++i) {
    const EdgeId begin = slots.ptr[at(i)];
    const EdgeId end = slots.ptr[at(i) + 1];
    for (EdgeId slot = begin; slot < end; ++slot) {
      if (slots.edge[at(slot)] != kNoEdge) {
        dedge_attr.row(slots.edge[at(slot)]) += dslot_attr.row(slot);
      } else {
        for (EdgeId other = begin; other < slot; ++other)
          dedge_attr.row(slots.edge[at(other)]) += dslot_attr.row(slot) / T(slot - begin);
      }
    }
  }
}

template <class T>
void softmax_over_slots(const MessageSlots& slots, Matrix<T>& logits) {
  for (NodeId i = 0; i < num_rows(slots); ++i) {
    const EdgeId count = slots.ptr[at(i) + 1] - slots.ptr[at(i)];
    if (count == 0) continue;
    auto block = logits.middleRows(slots.ptr[at(i)], count).array();
    for (Index h = 0; h < logits.cols(); ++h) {
      block.col(h) = (block.col(h) - block.col(h).maxCoeff()).exp();
      block.col(h) /= block.col(h).sum();
    }
  }
}

template <class T>
void softmax_over_slots_backward(const MessageSlots& slots, const Matrix<T>& attention,
                                 Matrix<T>& dattention) {
  for (NodeId i = 0; i < num_rows(slots); ++i) {
    const EdgeId begin = slots.ptr[at(i)];
    const EdgeId count = slots.ptr[at(i) + 1] - begin;
    for (Index h = 0; h < attention.cols(); ++h) {
      const auto a = attention.col(h).segment(begin, count);
      auto d = dattention.col(h).segment(begin, count);
      const T mean = a.dot(d);
      d = a.cwiseProduct((d.array() - mean).matrix()).eval();
    }
  }
}

template <class T>
void attend(const MessageSlots& slots, std::span<const T> edge_mask, const Matrix<T>& attention,
            const Matrix<T>& value, const Matrix<T>* extra, Matrix<T>& out) {
  const Index heads = attention.cols();
  const Index channels = value.cols() / heads;
  out.setZero(num_rows(slots), value.cols());
  for (NodeId i = 0; i < num_rows(slots); ++i)
    for (EdgeId slot = slots.ptr[at(i)]; slot < slots.ptr[at(i) + 1]; ++slot) {
      const T mask = mask_of(edge_mask, slots.edge[at(slot)]);
      const NodeId j = slots.source[at(slot)];
      for (Index h = 0; h < heads; ++h) {
        const T weight = mask * attention(slot, h);
        auto sum = out.row(i).segment(h * channels, channels);
        sum += weight * value.row(j).segment(h * channels, channels);
        if (extra) sum += weight * extra->row(slot).segment(h * channels, channels);
      }
    }
}

template <class T>
void attend_backward(const MessageSlots& slots, std::span<const T> edge_mask,
                     const Matrix<T>& attention, const Matrix<T>& value, const Matrix<T>* extra,
                     const Matrix<T>& dout, Matrix<T>& dvalue, Matrix<T>& dattention,
                     Matrix<T>* dextra, std::span<T> dmask) {
  const Index heads = attention.cols();
  const Index channels = value.cols() / heads;
  dattention.resize(attention.rows(), heads);
  for (NodeId i = 0; i < num_rows(slots); ++i)
    for (EdgeId slot = slots.ptr[at(i)]; slot < slots.ptr[at(i) + 1]; ++slot) {
      const EdgeId edge = slots.edge[at(slot)];
      const T mask = mask_of(edge_mask, edge);
      const NodeId j = slots.source[at(slot)];
      for (Index h = 0; h < heads; ++h) {
        const auto d = dout.row(i).segment(h * channels, channels);
        T along = value.row(j).segment(h * channels, channels).dot(d);
        if (extra) along += extra->row(slot).segment(h * channels, channels).dot(d);
        dattention(slot, h) = mask * along;
        if (!dmask.empty() && edge != kNoEdge) dmask[at(edge)] += attention(slot, h) * along;
        const T weight = mask * attention(slot, h);
        dvalue.row(j).segment(h * channels, channels) += weight * d;
        if (dextra) dextra->row(slot).segment(h * channels, channels) += weight * d;
      }
    }
}

template <class T>
void mean_over_heads(const Matrix<T>& concatenated, Index heads, Matrix<T>& out) {
  const Index channels = concatenated.cols() / heads;
  out.setZero(concatenated.rows(), channels);
  for (Index h = 0; h < heads; ++h)
    out += concatenated.middleCols(h * channels, channels) / T(heads);
}

template <class T>
void mean_over_heads_backward(const Matrix<T>& dout, Index heads, Matrix<T>& dconcatenated) {
  dconcatenated.resize(dout.rows(), heads * dout.cols());
  for (Index h = 0; h < heads; ++h)
    dconcatenated.middleCols(h * dout.cols(), dout.cols()) = dout / T(heads);
}

#define PGEXPLAINER_INSTANTIATE(T)                                                                \
  template void message_slots(const LayerContext<T>&, bool, MessageSlots&);                       \
  template void slot_attributes(const MessageSlots&, const Matrix<T>&, Matrix<T>&);               \
  template void slot_attributes_backward(const MessageSlots&, const Matrix<T>&, Matrix<T>&);      \
  template void softmax_over_slots(const MessageSlots&, Matrix<T>&);                              \
  template void softmax_over_slots_backward(const MessageSlots&, const Matrix<T>&, Matrix<T>&);   \
  template void attend(const MessageSlots&, std::span<const T>, const Matrix<T>&,                 \
                       const Matrix<T>&, const Matrix<T>*, Matrix<T>&);                           \
  template void attend_backward(const MessageSlots&, std::span<const T>, const Matrix<T>&,        \
                                const Matrix<T>&, const Matrix<T>*, const Matrix<T>&, Matrix<T>&, \
                                Matrix<T>&, Matrix<T>*, std::span<T>);                            \
  template void mean_over_heads(const Matrix<T>&, Index, Matrix<T>&);                             \
  template void mean_over_heads_backward(const Matrix<T>&, Index, Matrix<T>&);
PGEXPLAINER_INSTANTIATE(float)
PGEXPLAINER_INSTANTIATE(double)
#undef PGEXPLAINER_INSTANTIATE

}  // namespace pgexplainer
