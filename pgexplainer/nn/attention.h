// What the attention layers share: the messages that reach a row (with the layer's own self-loops),
// the softmax over them, the weighted sum of values, and the adjoints.
//
// Shapes: S slots, H heads, C channels per head, values H*C wide, logits and attention S x H.
#pragma once

#include "pgexplainer/nn/layer.h"

namespace pgexplainer {

/// The slots of rows 0 .. num_rows-1. With self-loops, existing loops are left out and one per row
/// is added at its end.
template <class T>
void message_slots(const LayerContext<T>& context, bool add_self_loops, MessageSlots& slots);

/// Edge features per slot; the layer's own loop gets the mean of the row's other slots (PyG's
/// fill_value), 0 if none.
template <class T>
void slot_attributes(const MessageSlots& slots, const Matrix<T>& edge_attr, Matrix<T>& slot_attr);
template <class T>
void slot_attributes_backward(const MessageSlots& slots, const Matrix<T>& dslot_attr,
                              Matrix<T>& dedge_attr);

/// Softmax over the slots of each row, per head, in place.
template <class T>
void softmax_over_slots(const MessageSlots& slots, Matrix<T>& logits);
/// dlogits from dattention, in place.
template <class T>
void softmax_over_slots_backward(const MessageSlots& slots, const Matrix<T>& attention,
                                 Matrix<T>& dattention);

/// out_i (H*C) = sum_slots mask * attention_h * (value_source + extra_slot), heads concatenated;
/// extra may be null.
template <class T>
void attend(const MessageSlots& slots, std::span<const T> edge_mask, const Matrix<T>& attention,
            const Matrix<T>& value, const Matrix<T>* extra, Matrix<T>& out);
/// The adjoint: dvalue += , dattention = , dextra += (may be null), dmask += (may be empty).
template <class T>
void attend_backward(const MessageSlots& slots, std::span<const T> edge_mask,
                     const Matrix<T>& attention, const Matrix<T>& value, const Matrix<T>* extra,
                     const Matrix<T>& dout, Matrix<T>& dvalue, Matrix<T>& dattention,
                     Matrix<T>* dextra, std::span<T> dmask);

/// The mean over heads of rows that are H*C wide, and its adjoint.
template <class T>
void mean_over_heads(const Matrix<T>& concatenated, Index heads, Matrix<T>& out);
template <class T>
void mean_over_heads_backward(const Matrix<T>& dout, Index heads, Matrix<T>& dconcatenated);

}  // namespace pgexplainer
