#include "pgexplainer/explain/edge_scorer.h"

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <algorithm>
#include <type_traits>

#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/strip.h"
#include "pgexplainer/nn/transpose.h"
#include "pgexplainer/nn/vector_math.h"

namespace pgexplainer {
namespace {

// ---- one hidden layer, fused: omega_e = w . relu(from_i + to_j) + b, E edges, H columns, where
// ---- from_i = W_i z_i and to_j = W_j z_j + W_v z_v + bias

#ifdef __AVX512F__
constexpr Index kVectorBytes = 64;
#else
constexpr Index kVectorBytes = 32;
#endif
constexpr Index kVectorLanes = kVectorBytes / static_cast<Index>(sizeof(float));
using Vector = float __attribute__((vector_size(kVectorBytes)));
using VectorAt = float __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));

[[gnu::always_inline]] inline Vector load(const float* from) {
  return *reinterpret_cast<const VectorAt*>(from);
}
[[gnu::always_inline]] inline void add_to(float* sum, Vector v) {
  *reinterpret_cast<VectorAt*>(sum) = load(sum) + v;
}

/// GCC makes two instructions of x > 0 ? x : 0.
[[gnu::always_inline]] inline Vector relu(Vector x) {
#if defined(__AVX512F__)
  return _mm512_max_ps(x, Vector{});
#elif defined(__AVX__)
  return _mm256_max_ps(x, Vector{});
#else
  return x > 0.0F ? x : Vector{};
#endif
}

/// Lane k = the sum of all lanes of part[k]: log2 steps, each of which adds neighbours at distance
/// S in pairs of vectors and leaves half as many vectors.
template <int S = 1>
[[gnu::always_inline]] inline Vector sums_of_lanes(const Vector* part) {
  if constexpr (S == kVectorLanes) {
    return *part;
  } else {
    Vector half[kVectorLanes / (2 * S)];
    unroll<kVectorLanes / (2 * S)>([&](auto i) {
      const Vector a = part[2 * i], b = part[2 * i + 1];
      half[i] = [&]<int... K>(std::integer_sequence<int, K...>) {
        constexpr int kLanes = kVectorLanes;
        return __builtin_shufflevector(a, b, (K & S ? kLanes + (K ^ S) : K)...) +
               __builtin_shufflevector(a, b, (K & S ? kLanes + K : K | S)...);
      }
      (std::make_integer_sequence<int, kVectorLanes>{});
    });
    return sums_of_lanes<2 * S>(half);
  }
}

using FloatEdges = EdgeScorer<float>::Edges;

/// Where the projections of an edge's ends begin: 2 H wide, as a source first.
template <bool kMapped>
struct Ends {
  const NodeId *source, *target, *row_of;
  Index hidden;

  Ends(const FloatEdges& edges, Index hidden_width)
      : source(edges.source.data()),
        target(edges.target.data()),
        row_of(edges.row.data()),
        hidden(hidden_width) {}

  [[gnu::always_inline]] Index row(NodeId node) const { return kMapped ? row_of[node] : node; }
  [[gnu::always_inline]] Index from(std::size_t e) const { return row(source[e]) * 2 * hidden; }
  [[gnu::always_inline]] Index to(std::size_t e) const {
    return row(target[e]) * 2 * hidden + hidden;
  }
};

/// f(Ends) of the right kind: whether nodes are mapped to rows is not asked for every edge.
template <class F>
void with_ends(const FloatEdges& edges, Index hidden, F&& f) {
  if (edges.row.empty())
    f(Ends<false>(edges, hidden));
  else
    f(Ends<true>(edges, hidden));
}

/// C vectors of columns: omega += their part. Edges come by target, whose part is kept while it
/// stays the same; sums across lanes wait until a block of edges is done.
template <int C, class E>
void score_columns(const E& ends, const float* projections, const float* constant,
                   const float* weight, std::span<float> omega) {
  constexpr std::size_t kBlock = 32;
  Vector c[C], w[C], to[C];
  unroll<C>([&](auto j) {
    c[j] = load(constant + j * kVectorLanes);
    w[j] = load(weight + j * kVectorLanes);
  });
  Vector block[kBlock] = {};
  for (std::size_t first = 0; first < omega.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, omega.size() - first);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t e = first + k;
      if (k == 0 || ends.target[e] != ends.target[e - 1]) {
        const float* v = projections + ends.to(e);
        unroll<C>([&](auto j) { to[j] = load(v + j * kVectorLanes) + c[j]; });
      }
      const float* u = projections + ends.from(e);
      Vector sum[2] = {Vector{}, Vector{}};  // two short chains of additions
      unroll<C>([&](auto j) { sum[j % 2] += relu(load(u + j * kVectorLanes) + to[j]) * w[j]; });
      block[k] = sum[0] + sum[1];
    }
    alignas(kVectorBytes) float sums[kBlock];
    for (std::size_t k = 0; k < count; k += kVectorLanes)
      *reinterpret_cast<VectorAt*>(sums + k) = sums_of_lanes(block + k);
    for (std::size_t k = 0; k < count; ++k) omega[first + k] += sums[k];
  }
}

/// Its adjoint: dprojections, dconstant and dweight += .
template <int C, class E>
void score_columns_backward(const E& ends, const float* projections, const float* constant,
                            const float* weight, std::span<const float> domega, float* dprojections,
                            float* dconstant, float* dweight) {
  Vector c[C], w[C], dc[C], dw[C];
  unroll<C>([&](auto j) {
    c[j] = load(constant + j * kVectorLanes);
    w[j] = load(weight + j * kVectorLanes);
    dc[j] = dw[j] = Vector{};
  });
  for (std::size_t e = 0; e < domega.size(); ++e) {
    const float* u = projections + ends.from(e);
    const float* v = projections + ends.to(e);
    float* du = dprojections + ends.from(e);
    float* dv = dprojections + ends.to(e);
    const Vector g = Vector{} + domega[e];
    unroll<C>([&](auto j) {
      const Index column = j * kVectorLanes;
      const Vector x = load(u + column) + (load(v + column) + c[j]);
      const Vector d = x > 0.0F ? g * w[j] : Vector{};
      dw[j] += relu(x) * g;
      dc[j] += d;
      add_to(du + column, d);
      add_to(dv + column, d);
    });
  }
  unroll<C>([&](auto j) {
    add_to(dconstant + j * kVectorLanes, dc[j]);
    add_to(dweight + j * kVectorLanes, dw[j]);
  });
}

/// f.operator()<C>(first column) for columns in groups of C vectors.
template <class F>
void for_each_column_group(Index columns, F&& f) {
  Index column = 0;
  for (; columns - column >= 4 * kVectorLanes; column += 4 * kVectorLanes)
    f.template operator()<4>(column);
  for (; column < columns; column += kVectorLanes) f.template operator()<1>(column);
}

}  // namespace

template <class T>
EdgeScorer<T>::EdgeScorer(Index embedding_width, int num_targets,
                          const std::vector<std::int64_t>& hidden, Index num_levels,
                          std::string_view name)
    : width_(embedding_width), num_targets_(num_targets), num_levels_(num_levels) {
  Index in = embedding_width * (2 + num_targets) + 2 * num_levels;
  std::size_t position = 0;
  const auto prefix = [&] { return fmt::format("{}.{}.", name, 2 * position++); };
  for (const std::int64_t out : hidden) {
    layers_.push_back(LinearSlots::add(layout_, prefix(), in, out, true));
    in = out;
  }
  layers_.push_back(LinearSlots::add(layout_, prefix(), in, 1, true));
}

template <class T>
bool EdgeScorer<T>::is_fused() const {
  return std::is_same_v<T, float> && layers_.size() == 2 && hidden_width() % kVectorLanes == 0;
}

template <class T>
void EdgeScorer<T>::transpose_first_weight(const T* theta, Matrix<T>& weight) const {
  const Index hidden = hidden_width();
  const int parts = 2 + num_targets_;
  const ConstMatrixView<T> stored = layers_.front().weight.in(theta);
  weight.resize(width_ + num_levels_, parts * hidden);
  for (int part = 0; part < parts; ++part)
    transpose<false>(stored.data() + part * width_, stored.cols(), hidden, width_,
                     weight.data() + part * hidden, weight.cols());
  if (num_levels_ == 0) return;
  weight.bottomRows(num_levels_).setZero();
  for (int end = 0; end < 2; ++end)
    transpose<false>(stored.data() + parts * width_ + end * num_levels_, stored.cols(), hidden,
                     num_levels_, weight.data() + width_ * weight.cols() + end * hidden,
                     weight.cols());
}

template <class T>
void EdgeScorer<T>::project(const Matrix<T>& weight, const Matrix<T>& z, Matrix<T>& projections,
                            ThreadPool* pool) const {
  multiply_columns(z, weight, 2 * hidden_width(), projections, pool);
}

template <class T>
void EdgeScorer<T>::project_backward(const Matrix<T>& z, const Matrix<T>& dprojections,
                                     T* dtheta) const {
  const Index hidden = hidden_width();
  Matrix<T> transposed = Matrix<T>::Zero(width_, 2 * hidden);
  add_transposed_product(z, dprojections, z.rows(), transposed.data());
  MatrixView<T> dweight = layers_.front().weight.in(dtheta);
  for (int part = 0; part < 2; ++part)
    transpose<true>(transposed.data() + part * hidden, transposed.cols(), width_, hidden,
                    dweight.data() + part * width_, dweight.cols());
}

template <class T>
void EdgeScorer<T>::place(const Matrix<T>& weight, const Matrix<T>& projections,
                          std::span<const NodeId> row, std::span<const NodeId> nodes_within,
                          Matrix<T>& local) const {
  const Index columns = 2 * hidden_width();
  local.resize(static_cast<Index>(row.size()), columns);
  std::size_t k = 0;
  for (std::size_t level = 0; level < nodes_within.size(); ++level) {
    const T* added = weight.data() + (width_ + static_cast<Index>(level)) * weight.cols();
    for (; k < at(nodes_within[level]); ++k) {
      const T* from = projections.data() + row[k] * columns;
      T* to = local.data() + static_cast<Index>(k) * columns;
      for (Index c = 0; c < columns; ++c) to[c] = from[c] + added[c];
    }
  }
}

template <class T>
void EdgeScorer<T>::place_backward(const Matrix<T>& dlocal, std::span<const NodeId> row,
                                   std::span<const NodeId> nodes_within, Matrix<T>& dprojections,
                                   T* dtheta) const {
  const Index hidden = hidden_width(), columns = 2 * hidden;
  MatrixView<T> dweight = layers_.front().weight.in(dtheta);
  std::size_t k = 0;
  for (std::size_t level = 0; level < nodes_within.size(); ++level) {
    std::vector<T> sum(at(columns), T(0));
    for (; k < at(nodes_within[level]); ++k) {
      const T* from = dlocal.data() + static_cast<Index>(k) * columns;
      T* to = dprojections.data() + row[k] * columns;
      for (Index c = 0; c < columns; ++c) {
        to[c] += from[c];
        sum[at(c)] += from[c];
      }
    }
    const Index source = (2 + num_targets_) * width_ + static_cast<Index>(level);
    for (Index h = 0; h < hidden; ++h) {
      dweight(h, source) += sum[at(h)];
      dweight(h, source + num_levels_) += sum[at(hidden + h)];
    }
  }
}

template <class T>
std::span<const T> EdgeScorer<T>::forward(const T* theta, const Matrix<T>& weight,
                                          const Matrix<T>& z, const Matrix<T>& projections,
                                          const Edges& edges, Workspace& workspace) const {
  const LinearSlots& first = layers_.front();
  const Index hidden = hidden_width();
  std::vector<T>& constant = workspace.constant;
  constant.assign(theta + first.bias.offset, theta + first.bias.offset + hidden);
  for (int k = 0; k < num_targets_; ++k) {
    const NodeId node = edges.targets[at(k)];
    const T* zv = z.data() + (edges.row.empty() ? node : edges.row[at(node)]) * width_;
    for (Index d = 0; d < width_; ++d) {
      const T* column = weight.data() + d * weight.cols() + (2 + k) * hidden;
      for (Index h = 0; h < hidden; ++h) constant[at(h)] += zv[d] * column[h];
    }
  }
  if (!is_fused()) {
    forward_layers(theta, projections, edges, workspace);
  } else if constexpr (std::is_same_v<T, float>) {
    workspace.omega.assign(edges.source.size(), theta[layers_.back().bias.offset]);
    if (edges.source.empty()) return {};
    with_ends(edges, hidden, [&](const auto& ends) {
      for_each_column_group(hidden, [&]<int C>(Index column) {
        score_columns<C>(ends, projections.data() + column, constant.data() + column,
                         theta + layers_.back().weight.offset + column, workspace.omega);
      });
    });
  }
  return workspace.omega;
}

template <class T>
void EdgeScorer<T>::forward_layers(const T* theta, const Matrix<T>& projections, const Edges& edges,
                                   Workspace& workspace) const {
  const auto num_edges = static_cast<Index>(edges.source.size());
  const auto row = [&](NodeId node) { return edges.row.empty() ? node : edges.row[at(node)]; };
  const Index hidden = hidden_width();
  const bool single = layers_.size() == 1;  // no hidden layer: omega is linear in z
  workspace.layer.resize(layers_.size());
  workspace.layer.front().resize(num_edges, hidden);
  for (Index e = 0; e < num_edges; ++e)
    for (Index h = 0; h < hidden; ++h) {
      const T sum = projections(row(edges.source[at(e)]), h) +
                    projections(row(edges.target[at(e)]), hidden + h) + workspace.constant[at(h)];
      workspace.layer.front()(e, h) = single || sum > T(0) ? sum : T(0);
    }
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    layers_[l].forward(theta, workspace.layer[l - 1], num_edges, workspace.layer[l]);
    if (l + 1 < layers_.size()) workspace.layer[l] = workspace.layer[l].cwiseMax(T(0));
  }
  const T* omega = workspace.layer.back().data();
  workspace.omega.assign(omega, omega + num_edges);
}

template <class T>
void EdgeScorer<T>::backward(const T* theta, const Matrix<T>& z, const Matrix<T>& projections,
                             const Edges& edges, std::span<const T> domega, Workspace& workspace,
                             T* dtheta, Matrix<T>& dprojections) const {
  const LinearSlots& first = layers_.front();
  const Index hidden = hidden_width();
  std::vector<T>& dconstant = workspace.dconstant;
  dconstant.assign(at(hidden), T(0));
  if (!is_fused()) {
    backward_layers(theta, edges, domega, workspace, dtheta, dprojections);
  } else if constexpr (std::is_same_v<T, float>) {
    const LinearSlots& last = layers_.back();
    T db(0);
    for (const T d : domega) db += d;
    dtheta[last.bias.offset] += db;
    with_ends(edges, hidden, [&](const auto& ends) {
      for_each_column_group(hidden, [&]<int C>(Index column) {
        score_columns_backward<C>(
            ends, projections.data() + column, workspace.constant.data() + column,
            theta + last.weight.offset + column, domega, dprojections.data() + column,
            dconstant.data() + column, dtheta + last.weight.offset + column);
      });
    });
  }
  for (Index h = 0; h < hidden; ++h) dtheta[first.bias.offset + at(h)] += dconstant[at(h)];
  MatrixView<T> dweight = first.weight.in(dtheta);
  for (int k = 0; k < num_targets_; ++k) {
    const NodeId node = edges.targets[at(k)];
    const T* zv = z.data() + (edges.row.empty() ? node : edges.row[at(node)]) * width_;
    for (Index h = 0; h < hidden; ++h) {
      T* out = dweight.data() + h * dweight.cols() + (2 + k) * width_;
      for (Index d = 0; d < width_; ++d) out[d] += dconstant[at(h)] * zv[d];
    }
  }
}

template <class T>
void EdgeScorer<T>::backward_layers(const T* theta, const Edges& edges, std::span<const T> domega,
                                    Workspace& workspace, T* dtheta,
                                    Matrix<T>& dprojections) const {
  const auto num_edges = static_cast<Index>(domega.size());
  const auto row = [&](NodeId node) { return edges.row.empty() ? node : edges.row[at(node)]; };
  const Index hidden = hidden_width();
  workspace.dlayer.resize(layers_.size());
  workspace.dlayer.back() = ConstMatrixView<T>(domega.data(), num_edges, 1);
  for (std::size_t l = layers_.size() - 1; l > 0; --l) {
    Matrix<T>& d = workspace.dlayer[l - 1];
    d.resize(num_edges, workspace.layer[l - 1].cols());
    layers_[l].backward(theta, workspace.layer[l - 1], workspace.dlayer[l], &d, false, dtheta);
    d = (workspace.layer[l - 1].array() > T(0)).select(d, T(0));
  }
  const Matrix<T>& d = workspace.dlayer.front();
  for (Index e = 0; e < num_edges; ++e)
    for (Index h = 0; h < hidden; ++h) {
      dprojections(row(edges.source[at(e)]), h) += d(e, h);
      dprojections(row(edges.target[at(e)]), hidden + h) += d(e, h);
      workspace.dconstant[at(h)] += d(e, h);
    }
}

template class EdgeScorer<float>;
template class EdgeScorer<double>;

}  // namespace pgexplainer
