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

}  // namespace pgexplainer
