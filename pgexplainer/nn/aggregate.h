// The aggregation step of message passing: out_i = aggr over incoming edges e = (j -> i) of c_e
// x_j.
//
// c_e is the product of edge weight, mask and normalisation. "mean" divides by the number of
// incoming edges, never by the sum of the weights; a node without incoming edges gets 0. As in
// PyTorch, the gradient of a maximum is shared equally among tied entries.
#pragma once

#include <string>
#include <vector>

#include "pgexplainer/nn/layer.h"

namespace pgexplainer {

enum class Aggregation { sum, mean, max };

/// "add" or "sum", "mean", "max"; throws on any other word.
Aggregation parse_aggregation(const std::string& word);

/// c_e = weight_e * mask_e for every slot of the context's rows; empty = all one.
template <class T>
void edge_coefficients(const LayerContext<T>& context, std::vector<T>& coefficient);
/// The adjoint: spreads dc over the gradients of weight and mask.
template <class T>
void edge_coefficients_backward(const LayerContext<T>& context, const std::vector<T>& dcoefficient,
                                const LayerGradients<T>& gradient);

template <class T>
void aggregate(Aggregation aggregation, const LayerContext<T>& context,
               const std::vector<T>& coefficient, const Matrix<T>& x, Matrix<T>& out);
/// The adjoint: dx += (same rows as x) and, if wanted, dcoefficient (one per slot) =.
template <class T>
void aggregate_backward(Aggregation aggregation, const LayerContext<T>& context,
                        const std::vector<T>& coefficient, const Matrix<T>& x, const Matrix<T>& out,
                        const Matrix<T>& dout, Matrix<T>* dx, std::vector<T>* dcoefficient);

}  // namespace pgexplainer
