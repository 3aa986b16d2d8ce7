#include "pgexplainer/nn/aggregate.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/strip.h"

namespace pgexplainer {
namespace {

template <class T>
T coefficient_of(const std::vector<T>& coefficient, EdgeId slot) {
  return coefficient.empty() ? T(1) : coefficient[at(slot)];
}

/// What a row of the sum is divided by.
template <class T>
T divisor(Aggregation aggregation, EdgeId count) {
  return aggregation == Aggregation::mean && count > 1 ? T(count) : T(1);
}

template <class T>
void aggregate_max(const LayerContext<T>& context, const std::vector<T>& coefficient,
                   const Matrix<T>& x, Matrix<T>& out) {
  const Adjacency& graph = context.graph;
  for (Index r = 0; r < context.num_out_rows(); ++r) {
    auto row = out.row(r);
    const NodeId i = context.node_of(r);
    const EdgeId begin = graph.in_ptr[at(i)];
    for (EdgeId slot = begin; slot < graph.in_ptr[at(i) + 1]; ++slot) {
      const auto message = coefficient_of(coefficient, slot) * x.row(graph.in_source[at(slot)]);
      if (slot == begin)
        row = message;
      else
        row = row.cwiseMax(message);
    }
  }
}

template <class T>
void aggregate_max_backward(const LayerContext<T>& context, const std::vector<T>& coefficient,
                            const Matrix<T>& x, const Matrix<T>& out, const Matrix<T>& dout,
                            Matrix<T>* dx, std::vector<T>* dcoefficient) {
  const Adjacency& graph = context.graph;
  std::vector<T> ties(at(x.cols()));
  for (NodeId i = 0; i < context.num_rows; ++i) {
    std::fill(ties.begin(), ties.end(), T(0));
    const auto is_max = [&](EdgeId slot, Index c) {
      return coefficient_of(coefficient, slot) * x(graph.in_source[at(slot)], c) == out(i, c);
    };
    for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot)
      for (Index c = 0; c < x.cols(); ++c) ties[at(c)] += is_max(slot, c) ? T(1) : T(0);
    for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot) {
      const NodeId source = graph.in_source[at(slot)];
      T dc(0);
      for (Index c = 0; c < x.cols(); ++c) {
        if (!is_max(slot, c)) continue;
        const T share = dout(i, c) / ties[at(c)];
        if (dx) (*dx)(source, c) += coefficient_of(coefficient, slot) * share;
        dc += x(source, c) * share;
      }
      if (dcoefficient) (*dcoefficient)[at(slot)] = dc;
    }
  }
}

/// Whether all nodes have the same row of zeros and ones, as where they have no features of their
/// own.
template <class T>
bool repeats_zeros_and_ones(const Matrix<T>& x) {
  if (x.rows() < 2) return false;  // nothing to gain
  for (Index c = 0; c < x.cols(); ++c)
    if (x(0, c) != T(0) && x(0, c) != T(1)) return false;
  const auto rest = at(x.rows() - 1) * at(x.cols());
  return std::memcmp(x.data(), x.data() + x.cols(), rest * sizeof(T)) == 0;
}

// Wide rows are best read in one go: each strip goes through all edges again.
constexpr int kMostVectors = 256 / kWidestBytes;

/// The sums or means of some rows and one strip of columns.
template <class S, bool kWeighted, bool kPicked, class T>
void sum_columns(Aggregation aggregation, const LayerContext<T>& context, const T* coefficient,
                 const Matrix<T>& x, Index first, Index last, Index column, Index columns,
                 Matrix<T>& out) {
  const T* rows = x.data() + column;
  const Index width = x.cols();
  const EdgeId* in_ptr = context.graph.in_ptr.data();
  const NodeId* source = context.graph.in_source.data();
  const NodeId* picked = context.rows.data();
  for (Index r = first; r < last; ++r) {
    const Index i = kPicked ? picked[r] : r;
    const EdgeId begin = in_ptr[i], end = in_ptr[i + 1];
    // Two sums, for an addition waits four cycles for the one before.
    S even = S::zero(), odd = S::zero();
    EdgeId slot = begin;
    const auto add_next = [&](S & sum) __attribute__((always_inline)) {
      const S row = S::load(rows + source[slot] * width, columns);
      if constexpr (kWeighted)
        sum.add_scaled(coefficient + slot, row);
      else
        sum.add(row);
      ++slot;
    };
    while (slot + 2 <= end) {
      add_next(even);
      add_next(odd);
    }
    if (slot < end) add_next(even);
    even.add(odd);
    if (aggregation == Aggregation::mean) even.scale(T(1) / divisor<T>(aggregation, end - begin));
    even.store(out.data() + r * width + column, columns);
  }
}

/// The same where all nodes have one row of zeros and ones: the row, scaled. Coefficients are added
/// as sum_columns adds rows, so that not a bit differs (of a zero, at most the sign).
template <class S, bool kWeighted, bool kPicked, class T>
void scale_columns(Aggregation aggregation, const LayerContext<T>& context, const T* coefficient,
                   const Matrix<T>& x, Index first, Index last, Index column, Index columns,
                   Matrix<T>& out) {
  const EdgeId* in_ptr = context.graph.in_ptr.data();
  const NodeId* picked = context.rows.data();
  const Index width = x.cols();
  T* result = out.data() + column;
  const S row = S::load(x.data() + column, columns);
  for (Index r = first; r < last; ++r) {
    const Index i = kPicked ? picked[r] : r;
    const EdgeId begin = in_ptr[i], end = in_ptr[i + 1];
    T factor = static_cast<T>(end - begin);
    if constexpr (kWeighted) {
      T even(0), odd(0);
      for (EdgeId slot = begin; slot < end; slot += 2) {
        even += coefficient[slot];
        if (slot + 1 < end) odd += coefficient[slot + 1];
      }
      factor = even + odd;
    }
    if (aggregation == Aggregation::mean) factor *= T(1) / divisor<T>(aggregation, end - begin);
    S scaled = row;
    scaled.scale(factor);
    scaled.store(result + r * width, columns);
  }
}

}  // namespace

Aggregation parse_aggregation(const std::string& word) {
  if (word == "add" || word == "sum") return Aggregation::sum;
  if (word == "mean") return Aggregation::mean;
  if (word == "max") return Aggregation::max;
  throw_bad_input("unknown aggregation '{}'; expected add, mean or max", word);
}

template <class T>
void edge_coefficients(const LayerContext<T>& context, std::vector<T>& coefficient) {
  coefficient.clear();
  if (context.edge_weight.empty() && context.edge_mask.empty()) return;
  coefficient.resize(at(context.graph.in_ptr[at(context.num_rows)]));
  for (std::size_t slot = 0; slot < coefficient.size(); ++slot) {
    const auto edge = at(context.graph.edge_of(static_cast<EdgeId>(slot)));
    coefficient[slot] = (context.edge_weight.empty() ? T(1) : context.edge_weight[edge]) *
                        (context.edge_mask.empty() ? T(1) : context.edge_mask[edge]);
  }
}

template <class T>
void edge_coefficients_backward(const LayerContext<T>& context, const std::vector<T>& dcoefficient,
                                const LayerGradients<T>& gradient) {
  for (std::size_t slot = 0; slot < dcoefficient.size(); ++slot) {
    const auto edge = at(context.graph.edge_of(static_cast<EdgeId>(slot)));
    if (!gradient.edge_mask.empty())
      gradient.edge_mask[edge] +=
          dcoefficient[slot] * (context.edge_weight.empty() ? T(1) : context.edge_weight[edge]);
    if (!gradient.edge_weight.empty())
      gradient.edge_weight[edge] +=
          dcoefficient[slot] * (context.edge_mask.empty() ? T(1) : context.edge_mask[edge]);
  }
}

template <class T>
void aggregate(Aggregation aggregation, const LayerContext<T>& context,
               const std::vector<T>& coefficient, const Matrix<T>& x, Matrix<T>& out) {
  out.resize(context.num_out_rows(), x.cols());
  if (aggregation == Aggregation::max) {
    out.setZero();
    aggregate_max(context, coefficient, x, out);
    return;
  }
  const bool scales = repeats_zeros_and_ones(x);
  const auto sum = [&]<bool kWeighted, bool kPicked>(std::bool_constant<kWeighted>,
                                                     std::bool_constant<kPicked>) {
    for_each_block(context.pool, context.num_out_rows(), [&](Index first, Index last) {
      for_each_wide_strip<T, kMostVectors>(x.cols(), [&]<class S>(Index column, Index columns) {
        const auto columns_of = scales ? scale_columns<S, kWeighted, kPicked, T>
                                       : sum_columns<S, kWeighted, kPicked, T>;
        columns_of(aggregation, context, coefficient.data(), x, first, last, column, columns, out);
      });
    });
  };
  // Asked once here, not in every row.
  if (!context.rows.empty())
    coefficient.empty() ? sum(std::false_type{}, std::true_type{})
                        : sum(std::true_type{}, std::true_type{});
  else
    coefficient.empty() ? sum(std::false_type{}, std::false_type{})
                        : sum(std::true_type{}, std::false_type{});
}

template <class T>
void aggregate_backward(Aggregation aggregation, const LayerContext<T>& context,
                        const std::vector<T>& coefficient, const Matrix<T>& x, const Matrix<T>& out,
                        const Matrix<T>& dout, Matrix<T>* dx, std::vector<T>* dcoefficient) {
  const Adjacency& graph = context.graph;
  if (dcoefficient) dcoefficient->assign(at(graph.in_ptr[at(context.num_rows)]), T(0));
  if (aggregation == Aggregation::max) {
    aggregate_max_backward(context, coefficient, x, out, dout, dx, dcoefficient);
    return;
  }
  for_each_strip<T>(x.cols(), [&]<class S>(Index column) {
    for (NodeId i = 0; i < context.num_rows; ++i) {
      const EdgeId begin = graph.in_ptr[at(i)];
      const EdgeId end = graph.in_ptr[at(i) + 1];
      S d = S::load(dout.data() + i * dout.cols() + column);
      if (aggregation == Aggregation::mean) d.scale(T(1) / divisor<T>(aggregation, end - begin));
      const auto place = [&](EdgeId slot) { return graph.in_source[at(slot)] * x.cols() + column; };
      for (EdgeId slot = begin; dx && slot < end; ++slot) {
        S sum = S::load(dx->data() + place(slot));
        sum.add_scaled(coefficient_of(coefficient, slot), d);
        sum.store(dx->data() + place(slot));
      }
      if (!dcoefficient) continue;
      EdgeId slot = begin;
      if constexpr (S::kDots > 1)
        for (; slot + S::kDots <= end; slot += S::kDots) {
          S rows[S::kDots], same[S::kDots];
          unroll<S::kDots>([&](auto k) {
            rows[k] = S::load(x.data() + place(slot + k));
            same[k] = d;
          });
          S::add_dots(rows, same, dcoefficient->data() + slot);
        }
      for (; slot < end; ++slot)
        (*dcoefficient)[at(slot)] += S::load(x.data() + place(slot)).dot(d);
    }
  });
}

#define PGEXPLAINER_INSTANTIATE(T)                                                             \
  template void edge_coefficients(const LayerContext<T>&, std::vector<T>&);                    \
  template void edge_coefficients_backward(const LayerContext<T>&, const std::vector<T>&,      \
                                           const LayerGradients<T>&);                          \
  template void aggregate(Aggregation, const LayerContext<T>&, const std::vector<T>&,          \
                          const Matrix<T>&, Matrix<T>&);                                       \
  template void aggregate_backward(Aggregation, const LayerContext<T>&, const std::vector<T>&, \
                                   const Matrix<T>&, const Matrix<T>&, const Matrix<T>&,       \
                                   Matrix<T>*, std::vector<T>*);
PGEXPLAINER_INSTANTIATE(float)
PGEXPLAINER_INSTANTIATE(double)
#undef PGEXPLAINER_INSTANTIATE

}  // namespace pgexplainer
