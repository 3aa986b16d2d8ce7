#include "pgexplainer/explain/explained_model.h"

#include <utility>

#include "pgexplainer/core/error.h"

namespace pgexplainer {

ExplainedModel::ExplainedModel(std::shared_ptr<const Gnn> gnn, const Dataset& dataset,
                               CutOptions cut)
    : gnn_(std::move(gnn)),
      dataset_(&dataset),
      cut_(std::move(cut)),
      norms_(dataset, gnn_->reads_gcn_norm()) {
  if (gnn_->num_features() != dataset.x.cols())
    throw_bad_input(
        "{} has {} features per node, the model reads {}; was it trained on other data?",
        dataset.name, dataset.x.cols(), gnn_->num_features());
  const bool on_graphs = gnn_->task() == Task::graph;
  if (on_graphs != (dataset.task == Task::graph))
    throw_bad_input("the model classifies {}, but {} is a dataset of {}",
                    on_graphs ? "graphs" : "nodes", dataset.name, on_graphs ? "nodes" : "graphs");
}

bool ExplainedModel::is_local(const Instance& instance) const {
  if (gnn_->task() == Task::graph || gnn_->num_hops() == Gnn::kWholeGraph) return false;
  if (!cut_.num_neighbors.empty()) return false;  // a sample numbers its nodes otherwise
  if (!gnn_->keeps_bits_in_parts()) return false;
  std::vector<NodeId> targets{static_cast<NodeId>(instance.id)};
  if (instance.is_link()) targets.push_back(static_cast<NodeId>(instance.second));
  thread_local ComputationGraph scratch;
  const ComputationGraphBuilder builder(dataset_->graph, {dataset_->graph.num_edges() / 8, {}, 0});
  return builder.fits(targets, 2 * gnn_->num_hops(), scratch);
}

// An instance's nodes are those within L hops, and each embedding depends on L hops more. Nodes are
// numbered by hop: those of the smaller cut are the first of the larger one, in the same order.
const Matrix<float>& ExplainedModel::embed_around(const Instance& instance, Embedding kind,
                                                  GnnRun& run) const {
  const int hops = gnn_->num_hops();
  thread_local InstanceGraph around;
  const CutOptions exact{dataset_->graph.num_edges(), {}, 0};
  InstanceCutter(*dataset_, norms_, gnn_->task(), 2 * hops, exact).cut(instance, around);
  GnnInput<float> input = around.input();
  input.nodes_within = input.nodes_within.subspan(static_cast<std::size_t>(hops));
  return run.embed(input, kind);
}

}  // namespace pgexplainer
