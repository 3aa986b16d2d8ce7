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
// A node's level, how many hops it is from what is explained, can be a further input of both ends,
// one-hot, which adds a row of the first layer's weights to the node's projection: the same node
// has another level in another instance.
//
// Shapes: D embedding, H first hidden width, n nodes, E edges.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pgexplainer/core/matrix.h"
#include "pgexplainer/graph/adjacency.h"
#include "pgexplainer/nn/linear.h"

namespace pgexplainer {

/// Parameters are named as in PyG: mlp.0.weight (H x (parts D + 2 levels)), mlp.0.bias,
/// mlp.2.weight, ...
template <class T>
class EdgeScorer {
 public:
  /// num_targets: 0 for a graph, 1 for a node, 2 for a link; num_levels: 0 = no input.
  EdgeScorer(Index embedding_width, int num_targets, const std::vector<std::int64_t>& hidden,
             Index num_levels = 0, std::string_view name = "mlp");

  [[nodiscard]] const ParameterLayout& layout() const { return layout_; }
  [[nodiscard]] Index embedding_width() const { return width_; }
  [[nodiscard]] int num_targets() const { return num_targets_; }
  [[nodiscard]] Index num_levels() const { return num_levels_; }
  /// H
  [[nodiscard]] Index hidden_width() const { return layers_.front().weight.rows; }

  /// [W_i^T, W_j^T, W_v^T, ...] (D x parts H), below it the levels' rows: once for every theta.
  void transpose_first_weight(const T* theta, Matrix<T>& weight) const;
  /// projections = [Z W_i^T, Z W_j^T] (n x 2 H): once for every node.
  void project(const Matrix<T>& weight, const Matrix<T>& z, Matrix<T>& projections,
               ThreadPool* pool = nullptr) const;
  /// Its adjoint: dtheta += .
  void project_backward(const Matrix<T>& z, const Matrix<T>& dprojections, T* dtheta) const;

  /// local_k = projections of row_k + what its level adds, for the nodes k of an instance, of which
  /// the first nodes_within[h] lie at level h or below.
  void place(const Matrix<T>& weight, const Matrix<T>& projections, std::span<const NodeId> row,
             std::span<const NodeId> nodes_within, Matrix<T>& local) const;
  /// Its adjoint: dprojections += and dtheta += .
  void place_backward(const Matrix<T>& dlocal, std::span<const NodeId> row,
                      std::span<const NodeId> nodes_within, Matrix<T>& dprojections,
                      T* dtheta) const;

  /// One instance. `row` maps its nodes to rows of z and of the projections; empty = they are the
  /// rows.
  struct Edges {
    std::span<const NodeId> source, target;  ///< of each edge
    std::span<const NodeId> targets;         ///< the explained nodes
    std::span<const NodeId> row;
  };
  /// What forward() leaves for backward().
  struct Workspace {
    std::vector<T> constant;        ///< W_v z_v + b of the first layer
    std::vector<T> omega;           ///< of every edge
    std::vector<Matrix<T>> layer;   ///< hidden activations (E x width), unless fused
    std::vector<Matrix<T>> dlayer;  ///< their gradients
    std::vector<T> dconstant;
  };
  /// omega of every edge; it stays in workspace.omega.
  std::span<const T> forward(const T* theta, const Matrix<T>& weight, const Matrix<T>& z,
                             const Matrix<T>& projections, const Edges& edges,
                             Workspace& workspace) const;
  /// Its adjoint: dtheta += (all but the projected parts) and dprojections += .
  void backward(const T* theta, const Matrix<T>& z, const Matrix<T>& projections,
                const Edges& edges, std::span<const T> domega, Workspace& workspace, T* dtheta,
                Matrix<T>& dprojections) const;

 private:
  /// One hidden layer of whole vectors of floats, the usual case: its activations never leave the
  /// registers, and the adjoint makes them again. Everything else goes layer by layer.
  [[nodiscard]] bool is_fused() const;
  void forward_layers(const T* theta, const Matrix<T>& projections, const Edges& edges,
                      Workspace& workspace) const;
  void backward_layers(const T* theta, const Edges& edges, std::span<const T> domega,
                       Workspace& workspace, T* dtheta, Matrix<T>& dprojections) const;

  Index width_;
  int num_targets_;
  Index num_levels_;
  ParameterLayout layout_;
  std::vector<LinearSlots> layers_;
};

}  // namespace pgexplainer
