#include "pgexplainer/model/instance_graph.h"

#include <bit>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/model/gnn.h"
#include "pgexplainer/nn/strip.h"

namespace pgexplainer {

GnnInput<float> InstanceGraph::input() const {
  GnnInput<float> input;
  input.graph = {in_ptr, in_source, in_edge};
  input.x = &x;
  input.edge_weight = edge_weight;
  if (edge_attr.cols() > 0) input.edge_attr = &edge_attr;
  input.nodes_within = nodes_within;
  for (std::size_t loops = 0; loops < 2; ++loops) input.gcn_norm[loops] = norm[loops];
  return input;
}

namespace {

template <class V, class Offset>
void append(const std::vector<V>& first, const std::vector<V>& second, Offset offset,
            std::vector<V>& both) {
  both = first;
  for (const V value : second) both.push_back(value + static_cast<V>(offset));
}

void append_rows(const Matrix<float>& first, const Matrix<float>& second, Matrix<float>& both) {
  both.resize(first.rows() + second.rows(), first.cols());
  both.topRows(first.rows()) = first;
  both.bottomRows(second.rows()) = second;
}

}  // namespace

const InstanceGraph& unite(const InstanceGraph& first, const InstanceGraph& second,
                           InstanceGraph& both) {
  const NodeId nodes = first.num_nodes();
  const EdgeId edges = first.num_edges();
  both.instance = first.instance;
  append(first.nodes, second.nodes, 0, both.nodes);
  append(first.edges, second.edges, 0, both.edges);
  append(first.source, second.source, nodes, both.source);
  append(first.target, second.target, nodes, both.target);
  both.reverse = first.reverse;
  for (const EdgeId back : second.reverse)
    both.reverse.push_back(back == kNoEdge ? kNoEdge : back + edges);
  append(first.in_ptr, second.in_ptr, edges, both.in_ptr);
  both.in_ptr.erase(both.in_ptr.begin() + nodes);  // where the first ends, the second begins
  append(first.in_edge, second.in_edge, edges, both.in_edge);
  append(first.in_source, second.in_source, nodes, both.in_source);
  append_rows(first.x, second.x, both.x);
  append_rows(first.edge_attr, second.edge_attr, both.edge_attr);
  append(first.edge_weight, second.edge_weight, 0, both.edge_weight);
  for (std::size_t loops = 0; loops < 2; ++loops) {
    append(first.norm[loops].edge, second.norm[loops].edge, 0, both.norm[loops].edge);
    append(first.norm[loops].loop, second.norm[loops].loop, 0, both.norm[loops].loop);
  }
  return both;
}

InstanceCutter::InstanceCutter(const Dataset& dataset, const DatasetNorms<float>& norms, Task task,
                               int num_hops, const CutOptions& options)
    : dataset_(&dataset),
      norms_(&norms),
      task_(task),
      num_hops_(num_hops),
      max_edges_(options.max_edges),
      builder_(dataset.graph, options) {
  if (!options.num_neighbors.empty() && (task == Task::graph || num_hops == Gnn::kWholeGraph))
    throw_bad_input(
        "--num-neighbors {}: the predictions of this model depend on whole graphs, which cannot be "
        "sampled hop by hop",
        fmt::join(options.num_neighbors, ","));
}

void InstanceCutter::cut(const Instance& instance, InstanceGraph& result) {
  cut_structure(instance, result);
  if (task_ == Task::node && num_hops_ != Gnn::kWholeGraph) pair_reverse_edges(result);
  gather(result);
}

void InstanceCutter::cut_structure(const Instance& instance, InstanceGraph& result) {
  const std::int64_t bound =
      task_ == Task::graph ? dataset_->num_graphs() : dataset_->graph.num_nodes();
  const bool known = instance.id >= 0 && instance.id < bound &&
                     (!instance.is_link() ||
                      (task_ != Task::graph && instance.second >= 0 && instance.second < bound));
  if (!known)
    throw_bad_input("{} has no instance {}; it has 0 to {}", dataset_->name,
                    instance.is_link() ? fmt::format("{}-{}", instance.id, instance.second)
                                       : std::to_string(instance.id),
                    bound - 1);
  if (instance.is_link() && instance.id == instance.second)
    throw_bad_input("a link joins two different nodes, not {} and itself", instance.id);
  result.instance = instance;
  if (task_ == Task::graph) {
    const auto first = dataset_->graph_ptr[at(instance.id)];
    const auto edge = dataset_->edge_ptr[at(instance.id)];
    cut_whole(instance, first, dataset_->graph_ptr[at(instance.id) + 1] - first, edge,
              dataset_->edge_ptr[at(instance.id) + 1] - edge, result);
  } else if (num_hops_ == Gnn::kWholeGraph) {
    cut_whole(instance, 0, dataset_->graph.num_nodes(), 0, dataset_->graph.num_edges(), result);
  } else {
    cut_around(instance, result);
  }
}

void InstanceCutter::cut_around(const Instance& instance, InstanceGraph& result) {
  std::vector<NodeId>& targets = result.targets;
  targets.assign(1, static_cast<NodeId>(instance.id));
  if (instance.is_link()) targets.push_back(static_cast<NodeId>(instance.second));
  thread_local ComputationGraph cut;  // a new cutter, too, finds its memory
  builder_.build(targets, num_hops_, cut);
  std::iota(targets.begin(), targets.end(), 0);
  result.logit_row = 0;
  result.sampled = cut.sampled();
  result.nodes.assign(cut.nodes().begin(), cut.nodes().end());
  result.edges.assign(cut.edges().begin(), cut.edges().end());
  const Adjacency graph = cut.adjacency();
  result.in_ptr.assign(graph.in_ptr.begin(), graph.in_ptr.end());
  result.in_source.assign(graph.in_source.begin(), graph.in_source.end());
  result.in_edge.clear();
  result.source = result.in_source;
  result.target.resize(at(cut.num_edges()));
  for (NodeId i = 0; i < cut.num_nodes(); ++i)
    for (EdgeId e = graph.in_ptr[at(i)]; e < graph.in_ptr[at(i) + 1]; ++e) result.target[at(e)] = i;
  result.nodes_within.clear();
  for (int h = 0; h <= num_hops_; ++h) result.nodes_within.push_back(cut.nodes_within(h));
}

// A table of the edges that have not met their reverse yet, by their ends. Edges come in the order
// of target and id, so the k-th of parallel edges meets the k-th of the reversed ones, as in Graph;
// nothing is read from the arrays of the whole graph.
void InstanceCutter::pair_reverse_edges(InstanceGraph& result) {
  const std::size_t count = result.source.size();
  result.reverse.assign(count, kNoEdge);
  const std::size_t last = std::bit_ceil(2 * count + 1) - 1;
  waiting_.assign(last + 1, kNoEdge);
  const auto first_slot = [&](NodeId source, NodeId target) {
    const std::uint64_t ends =
        (static_cast<std::uint64_t>(source) << 32) | static_cast<std::uint64_t>(target);
    return static_cast<std::size_t>(ends * 0x9E3779B97F4A7C15ULL >> 32) & last;
  };
  for (std::size_t e = 0; e < count; ++e) {
    const NodeId source = result.source[e], target = result.target[e];
    if (source == target) {
      result.reverse[e] = static_cast<EdgeId>(e);
      continue;
    }
    const auto is_reverse = [&](EdgeId other) {
      return result.reverse[at(other)] == kNoEdge && result.source[at(other)] == target &&
             result.target[at(other)] == source;
    };
    std::size_t slot = first_slot(target, source);
    while (waiting_[slot] != kNoEdge && !is_reverse(waiting_[slot])) slot = (slot + 1) & last;
    if (const EdgeId other = waiting_[slot]; other != kNoEdge) {
      result.reverse[e] = other;
      result.reverse[at(other)] = static_cast<EdgeId>(e);
      continue;
    }
    slot = first_slot(source, target);
    while (waiting_[slot] != kNoEdge) slot = (slot + 1) & last;
    waiting_[slot] = static_cast<EdgeId>(e);
  }
}

void InstanceCutter::cut_whole(const Instance& instance, NodeId first_node, NodeId num_nodes,
                               EdgeId first_edge, EdgeId num_edges, InstanceGraph& result) const {
  if (num_edges > max_edges_)
    throw_bad_input(
        "{} {}: its prediction depends on {} edges, the limit is {}; give a higher --max-edges",
        task_ == Task::graph ? "graph" : "node", instance.id, num_edges, max_edges_);
  const Graph& graph = dataset_->graph;
  const Adjacency all = graph.adjacency();
  result.sampled = false;
  result.nodes.resize(at(num_nodes));
  std::iota(result.nodes.begin(), result.nodes.end(), first_node);
  result.edges.resize(at(num_edges));
  std::iota(result.edges.begin(), result.edges.end(), first_edge);
  result.source.resize(at(num_edges));
  result.target.resize(at(num_edges));
  result.reverse.resize(at(num_edges));
  for (EdgeId e = 0; e < num_edges; ++e) {
    const EdgeId global = first_edge + e;
    result.source[at(e)] = graph.source(global) - first_node;
    result.target[at(e)] = graph.target(global) - first_node;
    const EdgeId back = graph.reverse_edge(global);
    result.reverse[at(e)] = back == kNoEdge ? kNoEdge : back - first_edge;
  }
  const EdgeId first_slot = all.in_ptr[at(first_node)];
  result.in_ptr.resize(at(num_nodes) + 1);
  for (NodeId i = 0; i <= num_nodes; ++i)
    result.in_ptr[at(i)] = all.in_ptr[at(first_node + i)] - first_slot;
  result.in_source.resize(at(num_edges));
  result.in_edge.resize(at(num_edges));
  for (EdgeId slot = 0; slot < num_edges; ++slot) {
    result.in_source[at(slot)] = all.in_source[at(first_slot + slot)] - first_node;
    result.in_edge[at(slot)] = all.edge_of(first_slot + slot) - first_edge;
  }
  result.nodes_within.clear();
  result.targets.clear();
  result.logit_row = 0;
  if (task_ == Task::graph) return;
  result.targets.push_back(static_cast<NodeId>(instance.id));
  if (instance.is_link()) result.targets.push_back(static_cast<NodeId>(instance.second));
  result.logit_row = instance.is_link() ? 0 : static_cast<Index>(instance.id);
}

void InstanceCutter::gather(InstanceGraph& result) const {
  if (task_ == Task::graph && result.num_nodes() > 0)  // the rows of a graph follow each other
    result.x = dataset_->x.middleRows(result.nodes.front(), result.num_nodes());
  else
    gather_rows<float>(dataset_->x, result.nodes, result.x);
  const auto take_edges = [&](const std::vector<float>& all, std::vector<float>& mine) {
    mine.resize(all.empty() ? 0 : at(result.num_edges()));
    for (std::size_t e = 0; e < mine.size(); ++e) mine[e] = all[at(result.edges[e])];
  };
  take_edges(dataset_->edge_weight, result.edge_weight);
  result.edge_attr.resize(dataset_->edge_attr.cols() > 0 ? result.num_edges() : 0,
                          dataset_->edge_attr.cols());
  for (Index e = 0; e < result.edge_attr.rows(); ++e)
    result.edge_attr.row(e) = dataset_->edge_attr.row(result.edges[at(e)]);
  for (std::size_t loops = 0; loops < 2; ++loops) {
    const GcnNorm<float>& all = norms_->norm[loops];
    take_edges(all.edge, result.norm[loops].edge);
    result.norm[loops].loop.resize(all.loop.empty() ? 0 : at(result.num_nodes()));
    for (std::size_t i = 0; i < result.norm[loops].loop.size(); ++i)
      result.norm[loops].loop[i] = all.loop[at(result.nodes[i])];
    if (result.sampled) scale_to_all(result, result.norm[loops].edge);
  }
}

// A sum over some of the edges into a node becomes an estimate of the sum over all of them.
void InstanceCutter::scale_to_all(const InstanceGraph& result, std::vector<float>& edge) const {
  for (std::size_t e = 0; e < edge.size(); ++e) {
    const NodeId target = result.target[e];
    const EdgeId kept = result.in_ptr[at(target) + 1] - result.in_ptr[at(target)];
    edge[e] *= static_cast<float>(dataset_->graph.in_degree(result.nodes[at(target)])) /
               static_cast<float>(kept);
  }
}

}  // namespace pgexplainer
