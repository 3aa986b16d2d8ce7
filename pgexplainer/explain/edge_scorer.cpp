#include "pgexplainer/explain/edge_scorer.h"

#include "pgexplainer/core/index.h"

namespace pgexplainer {

template <class T>
EdgeScorer<T>::EdgeScorer(Index embedding_width, int num_targets,
                          const std::vector<std::int64_t>& hidden)
    : width_(embedding_width), num_targets_(num_targets) {
  Index in = embedding_width * (2 + num_targets);
  std::size_t position = 0;
  for (const std::int64_t out : hidden) {
    layers_.push_back(
        LinearSlots::add(layout_, fmt::format("mlp.{}.", 2 * position++), in, out, true));
    in = out;
  }
  layers_.push_back(LinearSlots::add(layout_, fmt::format("mlp.{}.", 2 * position), in, 1, true));
}

template <class T>
Matrix<T> EdgeScorer<T>::first_weight(const T* theta, int part) const {
  return layers_.front().weight.in(theta).middleCols(part * width_, width_);
}

template <class T>
void EdgeScorer<T>::project(const T* theta, const Matrix<T>& z,
                            NodeProjections<T>& projections) const {
  for (int part = 0; part < 2; ++part) {
    const Matrix<T> weight = first_weight(theta, part);
    linear_forward<T>(z, z.rows(), {weight.data(), weight.rows(), weight.cols()}, nullptr,
                      part == 0 ? projections.from : projections.to);
  }
}

template <class T>
void EdgeScorer<T>::project_backward(const Matrix<T>& z, const NodeProjections<T>& dprojections,
                                     T* dtheta) const {
  MatrixView<T> dweight = layers_.front().weight.in(dtheta);
  for (int part = 0; part < 2; ++part) {
    const Matrix<T> unused(dweight.rows(), width_);
    Matrix<T> dpart = Matrix<T>::Zero(dweight.rows(), width_);
    linear_backward<T>(z, {unused.data(), unused.rows(), unused.cols()},
                       part == 0 ? dprojections.from : dprojections.to, nullptr, false,
                       dpart.data(), nullptr);
    dweight.middleCols(part * width_, width_) += dpart;
  }
}

template <class T>
std::span<const T> EdgeScorer<T>::forward(const T* theta, const Matrix<T>& z,
                                          const NodeProjections<T>& projections, const Edges& edges,
                                          Workspace& workspace) const {
  const auto num_edges = static_cast<Index>(edges.source_row.size());
  const LinearSlots& first = layers_.front();
  const Index width = first.weight.rows;
  workspace.constant.assign(theta + first.bias.offset, theta + first.bias.offset + width);
  const ConstMatrixView<T> weight = first.weight.in(theta);
  for (int k = 0; k < num_targets_; ++k) {
    const T* row = z.data() + edges.targets[at(k)] * z.cols();
    for (Index h = 0; h < width; ++h) {
      T sum(0);
      for (Index d = 0; d < width_; ++d) sum += weight(h, (2 + k) * width_ + d) * row[d];
      workspace.constant[at(h)] += sum;
    }
  }
  workspace.layer.resize(layers_.size());
  Matrix<T>& hidden = workspace.layer.front();
  hidden.resize(num_edges, width);
  const bool single = layers_.size() == 1;  // no hidden layer: omega is linear in z
  for (Index e = 0; e < num_edges; ++e) {
    const T* from = projections.from.data() + edges.source_row[at(e)] * width;
    const T* to = projections.to.data() + edges.target_row[at(e)] * width;
    T* out = hidden.data() + e * width;
    for (Index h = 0; h < width; ++h) {
      const T sum = from[h] + to[h] + workspace.constant[at(h)];
      out[h] = single || sum > T(0) ? sum : T(0);
    }
  }
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    layers_[l].forward(theta, workspace.layer[l - 1], num_edges, workspace.layer[l]);
    if (l + 1 < layers_.size()) workspace.layer[l] = workspace.layer[l].cwiseMax(T(0));
  }
  return {workspace.layer.back().data(), at(num_edges)};
}

template <class T>
void EdgeScorer<T>::backward(const T* theta, const Matrix<T>& z, const Edges& edges,
                             std::span<const T> domega, std::span<const NodeId> local_source,
                             std::span<const NodeId> local_target, Workspace& workspace, T* dtheta,
                             NodeProjections<T>& dprojections) const {
  const auto num_edges = static_cast<Index>(domega.size());
  workspace.dlayer.resize(layers_.size());
  workspace.dlayer.back() = ConstMatrixView<T>(domega.data(), num_edges, 1);
  for (std::size_t l = layers_.size() - 1; l > 0; --l) {
    Matrix<T>& d = workspace.dlayer[l - 1];
    d.resize(num_edges, workspace.layer[l - 1].cols());
    layers_[l].backward(theta, workspace.layer[l - 1], workspace.dlayer[l], &d, false, dtheta);
    d = (workspace.layer[l - 1].array() > T(0)).select(d, T(0));
  }
  const Matrix<T>& d = workspace.dlayer.front();
  const LinearSlots& first = layers_.front();
  const Index width = first.weight.rows;
  for (Index e = 0; e < num_edges; ++e) {
    const T* in = d.data() + e * width;
    T* from = dprojections.from.data() + local_source[at(e)] * width;
    T* to = dprojections.to.data() + local_target[at(e)] * width;
    for (Index h = 0; h < width; ++h) {
      from[h] += in[h];
      to[h] += in[h];
    }
  }
  std::vector<T> dconstant(at(width), T(0));
  add_column_sums(d, dconstant.data());
  MatrixView<T> dweight = first.weight.in(dtheta);
  for (Index h = 0; h < width; ++h) dtheta[first.bias.offset + at(h)] += dconstant[at(h)];
  for (int k = 0; k < num_targets_; ++k) {
    const T* row = z.data() + edges.targets[at(k)] * z.cols();
    for (Index h = 0; h < width; ++h)
      for (Index c = 0; c < width_; ++c)
        dweight(h, (2 + k) * width_ + c) += dconstant[at(h)] * row[c];
  }
}

template class EdgeScorer<float>;
template class EdgeScorer<double>;

}  // namespace pgexplainer
