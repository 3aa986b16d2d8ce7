// A second small network, for the order of the edges within an instance.
//
// The explanation network gives scores that compare between instances, but [z_i; z_j; z_v] does not
// tell how far an edge is from v, nor does a population have to agree on what a single prediction
// rests on first. refinement.h finds out by asking the model a hundred times per instance. This
// network learns from instances whose order was found so, and then gives the order of any instance
// at the price of scoring its edges once more:
//
//   w_e      = (omega_e - mean) / deviation + delta_e          per pair of edges of the instance
//   delta_ij = MLP([z_i; z_j; z_v; hops_i; hops_j])            node v; hops from v, one-hot
//   delta_ij = MLP([z_i; z_j])                                 graph
//
//   loss     = mean_e (delta_e - (w*_e - w_e without delta))^2, both centred; w* from search_order
//
// The scores are omega again, handed out in the order of w. Source: our own measurements,
// docs/reliability.md; learning to do at once what a search does in steps is amortised inference.
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/explain/edge_scorer.h"
#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

class OrderNetwork {
 public:
  static constexpr std::int64_t kHidden =
      64;  ///< units; the last kHidden + 1 parameters give delta

  /// Glorot's initial values, smaller in the last layer: it begins close to omega's order.
  OrderNetwork(Index embedding_width, int num_targets, Index num_levels, std::uint64_t seed);
  /// Throws unless theta has as many parameters as such a network.
  OrderNetwork(Index embedding_width, int num_targets, Index num_levels, std::vector<float> theta);

  /// How many levels the nodes of instances have: 0 if predictions depend on whole graphs.
  static Index levels_of(const Gnn& gnn);

  [[nodiscard]] const EdgeScorer<float>& scorer() const { return scorer_; }
  [[nodiscard]] const std::vector<float>& theta() const { return theta_; }
  /// The first layer's, transposed, as EdgeScorer::project wants it.
  [[nodiscard]] const Matrix<float>& weight() const { return weight_; }
  void set_theta(std::span<const float> theta);

  struct Workspace {
    EdgeScorer<float>::Workspace scorer;
    Matrix<float> local, dlocal, target_z;
    std::vector<NodeId> node_row;
    std::vector<float> dedge;
  };
  /// delta of each pair. `row` maps the instance's nodes to rows of z and of the projections; empty
  /// = they are the rows.
  void forward(const InstanceGraph& instance, const EdgePairs& pairs, const Matrix<float>& z,
               const Matrix<float>& projections, std::span<const NodeId> row, Workspace& workspace,
               std::vector<float>& delta) const;
  /// The adjoint of the last forward(): dtheta += (all but the projected parts), dprojections += .
  void backward(const InstanceGraph& instance, const EdgePairs& pairs, const Matrix<float>& z,
                const Matrix<float>& projections, std::span<const NodeId> row,
                std::span<const float> ddelta, Workspace& workspace, float* dtheta,
                Matrix<float>& dprojections) const;

 private:
  /// With levels the nodes are placed in local rows, of which the targets are the first.
  [[nodiscard]] bool has_levels() const { return scorer_.num_levels() > 0; }

  EdgeScorer<float> scorer_;
  std::vector<float> theta_;
  Matrix<float> weight_;
};

}  // namespace pgexplainer
