#include "pgexplainer/model/gnn_input.h"

#include <array>

#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/gcn_conv.h"

namespace pgexplainer {

template <class T>
DatasetNorms<T>::DatasetNorms(const Dataset& dataset, std::array<bool, 2> wanted)
    : present(wanted) {
  const std::vector<T> weight(dataset.edge_weight.begin(), dataset.edge_weight.end());
  for (std::size_t loops = 0; loops < 2; ++loops)
    if (wanted[loops]) gcn_norm<T>(dataset.graph.adjacency(), weight, loops == 1, norm[loops]);
}

GnnInput<float> whole_input(const Dataset& dataset, const DatasetNorms<float>& norms) {
  GnnInput<float> input;
  input.graph = dataset.graph.adjacency();
  input.x = &dataset.x;
  input.edge_weight = dataset.edge_weight;
  if (dataset.edge_attr.cols() > 0) input.edge_attr = &dataset.edge_attr;
  if (dataset.task == Task::graph) input.graph_ptr = dataset.graph_ptr;
  for (std::size_t loops = 0; loops < 2; ++loops) input.gcn_norm[loops] = norms.norm[loops];
  return input;
}

const GnnInput<float>& GraphBatch::assemble(std::span<const std::int64_t> graphs) {
  const Adjacency all = dataset_->graph.adjacency();
  graph_ptr_.assign(1, 0);
  for (const std::int64_t g : graphs)
    graph_ptr_.push_back(graph_ptr_.back() + dataset_->graph_ptr[at(g) + 1] -
                         dataset_->graph_ptr[at(g)]);
  EdgeId num_edges = 0;
  for (const std::int64_t g : graphs)
    num_edges += dataset_->edge_ptr[at(g) + 1] - dataset_->edge_ptr[at(g)];
  in_ptr_.resize(at(graph_ptr_.back()) + 1);
  in_ptr_[0] = 0;
  in_source_.resize(at(num_edges));
  in_edge_.resize(at(num_edges));
  x_.resize(graph_ptr_.back(), dataset_->x.cols());
  EdgeId filled = 0;
  for (std::size_t b = 0; b < graphs.size(); ++b) {
    const NodeId first = dataset_->graph_ptr[at(graphs[b])];
    const NodeId count = graph_ptr_[b + 1] - graph_ptr_[b];
    const EdgeId begin = all.in_ptr[at(first)];
    const EdgeId end = all.in_ptr[at(first + count)];
    const NodeId move = graph_ptr_[b] - first;  // of every node of this graph
    for (NodeId v = first; v < first + count; ++v)
      in_ptr_[at(v + move) + 1] = all.in_ptr[at(v) + 1] - begin + filled;
    for (EdgeId slot = begin; slot < end; ++slot, ++filled) {
      in_source_[at(filled)] = all.in_source[at(slot)] + move;
      in_edge_[at(filled)] = all.in_edge[at(slot)];
    }
    x_.middleRows(graph_ptr_[b], count) = dataset_->x.middleRows(first, count);
  }
  input_.graph = {in_ptr_, in_source_, in_edge_};
  input_.x = &x_;
  input_.edge_weight = dataset_->edge_weight;
  input_.edge_attr = dataset_->edge_attr.cols() > 0 ? &dataset_->edge_attr : nullptr;
  input_.graph_ptr = graph_ptr_;
  for (std::size_t loops = 0; loops < 2; ++loops) {
    if (!norms_->present[loops]) continue;
    norm_[loops].loop.clear();
    if (loops == 1)
      for (const std::int64_t g : graphs)
        norm_[loops].loop.insert(norm_[loops].loop.end(),
                                 norms_->norm[loops].loop.begin() + dataset_->graph_ptr[at(g)],
                                 norms_->norm[loops].loop.begin() + dataset_->graph_ptr[at(g) + 1]);
    input_.gcn_norm[loops] = {norms_->norm[loops].edge, norm_[loops].loop};
  }
  return input_;
}

template struct DatasetNorms<float>;
template struct DatasetNorms<double>;

}  // namespace pgexplainer
