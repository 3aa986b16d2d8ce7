// The explanation network g_Psi, Eq. (8): one small MLP that gives every edge its latent variable
//
//   omega_ij = MLP([z_i; z_j])             graph classification, Eq. (11)
//   omega_ij = MLP([z_i; z_j; z_v])        node v, Eq. (10)
//   omega_ij = MLP([z_i; z_j; z_u; z_v])   link (u, v), "similar", as Section 4.2 says
//
// The first layer is linear in its parts, so W [z_i; z_j; z_v] = (Z W_i^T)_i + (Z W_j^T)_j + W_v
// z_v is computed once per node instead of once per edge: an edge costs H additions, a ReLU and a
// dot product.
//
// Shapes: D embedding, H first hidden width, n nodes, E edges.
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/core/matrix.h"
#include "pgexplainer/graph/adjacency.h"
#include "pgexplainer/nn/linear.h"

namespace pgexplainer {

/// The first layer's part of every node: from = Z W_i^T (n x H) and to = Z W_j^T (n x H).
template <class T>
struct NodeProjections {
  Matrix<T> from, to;
};

/// Parameters are named as in PyG: mlp.0.weight (H x parts D), mlp.0.bias, mlp.2.weight, ...
template <class T>
class EdgeScorer {
 public:
  /// num_targets: 0 for a graph, 1 for a node, 2 for a link.
  EdgeScorer(Index embedding_width, int num_targets, const std::vector<std::int64_t>& hidden);

  [[nodiscard]] const ParameterLayout& layout() const { return layout_; }
  [[nodiscard]] Index embedding_width() const { return width_; }
  [[nodiscard]] int num_targets() const { return num_targets_; }

  void project(const T* theta, const Matrix<T>& z, NodeProjections<T>& projections) const;
  /// Its adjoint: dtheta += .
  void project_backward(const Matrix<T>& z, const NodeProjections<T>& dprojections,
                        T* dtheta) const;

  /// One instance: rows of the projections for each end of each edge, and of z for each target.
  struct Edges {
    std::span<const NodeId> source_row, target_row;
    std::span<const NodeId> targets;
  };
  struct Workspace {
    std::vector<Matrix<T>> layer;   ///< hidden activations (E x width), then omega (E x 1)
    std::vector<Matrix<T>> dlayer;  ///< their gradients
    std::vector<T> constant;        ///< W_v z_v + b of the first layer
  };
  /// omega of every edge; it stays in workspace.layer.back().
  std::span<const T> forward(const T* theta, const Matrix<T>& z,
                             const NodeProjections<T>& projections, const Edges& edges,
                             Workspace& workspace) const;
  /// Its adjoint: dtheta += (all but the projected parts), and for the local nodes of the instance
  /// dprojections += , with local_source and local_target the rows of each end there.
  void backward(const T* theta, const Matrix<T>& z, const Edges& edges, std::span<const T> domega,
                std::span<const NodeId> local_source, std::span<const NodeId> local_target,
                Workspace& workspace, T* dtheta, NodeProjections<T>& dprojections) const;

 private:
  /// Columns [part * D, part * D + D) of the first weight, contiguous.
  [[nodiscard]] Matrix<T> first_weight(const T* theta, int part) const;

  Index width_;
  int num_targets_;
  ParameterLayout layout_;
  std::vector<LinearSlots> layers_;
};

}  // namespace pgexplainer
