#include "pgexplainer/explain/order_network.h"

#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/model/gnn.h"
#include "pgexplainer/nn/parameters.h"
#include "pgexplainer/nn/strip.h"

namespace pgexplainer {

OrderNetwork::OrderNetwork(Index embedding_width, int num_targets, Index num_levels,
                           std::uint64_t seed)
    : scorer_(embedding_width, num_targets, {kHidden}, num_levels, "order") {
  constexpr float kLastLayer = 0.1F;
  theta_ = initial_values<float>(scorer_.layout(), seed);
  const auto last = static_cast<std::ptrdiff_t>(kHidden + 1);  // weights and bias
  for (auto value = theta_.end() - last; value != theta_.end(); ++value) *value *= kLastLayer;
  scorer_.transpose_first_weight(theta_.data(), weight_);
}

OrderNetwork::OrderNetwork(Index embedding_width, int num_targets, Index num_levels,
                           std::vector<float> theta)
    : scorer_(embedding_width, num_targets, {kHidden}, num_levels, "order"),
      theta_(std::move(theta)) {
  if (scorer_.layout().size() != theta_.size())
    throw_bad_input("the order network has {} parameters, its description asks for {}",
                    theta_.size(), scorer_.layout().size());
  scorer_.transpose_first_weight(theta_.data(), weight_);
}

Index OrderNetwork::levels_of(const Gnn& gnn) {
  const bool whole = gnn.task() == Task::graph || gnn.num_hops() == Gnn::kWholeGraph;
  return whole ? 0 : static_cast<Index>(gnn.num_hops()) + 1;
}

void OrderNetwork::set_theta(std::span<const float> theta) {
  theta_.assign(theta.begin(), theta.end());
  scorer_.transpose_first_weight(theta_.data(), weight_);
}

void OrderNetwork::forward(const InstanceGraph& instance, const EdgePairs& pairs,
                           const Matrix<float>& z, const Matrix<float>& projections,
                           std::span<const NodeId> row, Workspace& workspace,
                           std::vector<float>& delta) const {
  EdgeScorer<float>::Edges edges{instance.source, instance.target, instance.targets, row};
  if (!has_levels()) {
    pairs.mean<float>(
        scorer_.forward(theta_.data(), weight_, z, projections, edges, workspace.scorer), delta);
    return;
  }
  std::vector<NodeId>& rows = workspace.node_row;
  rows.resize(at(instance.num_nodes()));
  if (row.empty())
    std::iota(rows.begin(), rows.end(), 0);
  else
    rows.assign(row.begin(), row.end());
  scorer_.place(weight_, projections, rows, instance.nodes_within, workspace.local);
  gather_rows<float>(z, std::span(rows).first(instance.targets.size()), workspace.target_z);
  edges.row = {};
  pairs.mean<float>(scorer_.forward(theta_.data(), weight_, workspace.target_z, workspace.local,
                                    edges, workspace.scorer),
                    delta);
}

void OrderNetwork::backward(const InstanceGraph& instance, const EdgePairs& pairs,
                            const Matrix<float>& z, const Matrix<float>& projections,
                            std::span<const NodeId> row, std::span<const float> ddelta,
                            Workspace& workspace, float* dtheta,
                            Matrix<float>& dprojections) const {
  workspace.dedge.assign(instance.source.size(), 0.0F);
  pairs.mean_backward<float>(ddelta, workspace.dedge);
  EdgeScorer<float>::Edges edges{instance.source, instance.target, instance.targets, row};
  if (!has_levels()) {
    scorer_.backward(theta_.data(), z, projections, edges, workspace.dedge, workspace.scorer,
                     dtheta, dprojections);
    return;
  }
  edges.row = {};
  workspace.dlocal.setZero(workspace.local.rows(), workspace.local.cols());
  scorer_.backward(theta_.data(), workspace.target_z, workspace.local, edges, workspace.dedge,
                   workspace.scorer, dtheta, workspace.dlocal);
  scorer_.place_backward(workspace.dlocal, workspace.node_row, instance.nodes_within, dprojections,
                         dtheta);
}

}  // namespace pgexplainer
