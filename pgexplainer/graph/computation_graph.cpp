#include "pgexplainer/graph/computation_graph.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"

namespace pgexplainer {

void ComputationGraph::clear(NodeId nodes_of_graph) {
  const bool had_own_slots = std::exchange(has_own_slots_, nodes_of_graph <= kOwnSlots);
  if (!has_own_slots_)
    index_.assign(64, {});  // grows again, so that no instance pays for a larger one before it
  else if (!had_own_slots || index_.size() != at(nodes_of_graph))
    index_.assign(at(nodes_of_graph), {});
  else
    for (const NodeId node : nodes_) index_[at(node)] = {};
  nodes_.clear();
  edges_.clear();
  nodes_within_.clear();
  in_ptr_.assign(1, 0);
  in_source_.clear();
  sampled_ = false;
}

NodeId ComputationGraph::insert(NodeId global) {
  const std::size_t slot = slot_of(global);
  if (index_[slot].node == global) return index_[slot].local;
  const auto local = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(global);
  index_[slot] = {global, local};
  if (!has_own_slots_ && 4 * nodes_.size() > index_.size()) {
    index_.assign(4 * index_.size(), {});
    for (NodeId i = 0; i <= local; ++i) index_[slot_of(nodes_[at(i)])] = {nodes_[at(i)], i};
  }
  return local;
}

void ComputationGraph::append_sources(std::span<const NodeId> globals) {
  if (!has_own_slots_) {
    for (const NodeId global : globals) in_source_.push_back(insert(global));
    return;
  }
  // No processor can guess which nodes are new: each is written down, and the next one overwrites
  // it unless it counts.
  const std::size_t first = in_source_.size();
  std::size_t count = nodes_.size();
  in_source_.resize(first + globals.size());
  nodes_.resize(count + globals.size());
  NodeId* source = in_source_.data() + first;
  NodeId* nodes = nodes_.data();
  Slot* slots = index_.data();
  for (std::size_t i = 0; i < globals.size(); ++i) {
    const NodeId global = globals[i];
    const NodeId known = slots[global].local;
    const NodeId local = known == kNoNode ? static_cast<NodeId>(count) : known;
    nodes[count] = global;
    slots[global] = {global, local};
    source[i] = local;
    count += known == kNoNode ? 1 : 0;
  }
  nodes_.resize(count);
}

int ComputationGraph::hop(NodeId local) const {
  return static_cast<int>(std::upper_bound(nodes_within_.begin(), nodes_within_.end(), local) -
                          nodes_within_.begin());
}

ComputationGraphBuilder::ComputationGraphBuilder(const Graph& graph, CutOptions options)
    : graph_(&graph), options_(std::move(options)) {}

ComputationGraph ComputationGraphBuilder::build(NodeId target, int hops) {
  ComputationGraph result;
  build(std::array{target}, hops, result);
  return result;
}

ComputationGraph ComputationGraphBuilder::build_pair(NodeId first, NodeId second, int hops) {
  if (first == second)
    throw_bad_input("the pair ({}, {}) names one node twice; a pair needs two nodes", first,
                    second);
  ComputationGraph result;
  build(std::array{first, second}, hops, result);
  return result;
}

void ComputationGraphBuilder::build(std::span<const NodeId> targets, int hops,
                                    ComputationGraph& result) {
  if (hops < 0) throw_bad_input("a computation graph cannot have {} hops", hops);
  const auto& wanted = options_.num_neighbors;
  if (!wanted.empty() && (wanted.size() != static_cast<std::size_t>(hops) ||
                          *std::min_element(wanted.begin(), wanted.end()) < 1))
    throw_bad_input("--num-neighbors {}: expected {} numbers from 1 on, one per hop",
                    fmt::join(wanted, ","), hops);
  start(targets, result);
  EdgeId too_many = cut_all(hops, result);
  if (too_many == 0) return;
  if (!wanted.empty()) {
    start(targets, result);
    const auto second = targets.size() > 1 ? static_cast<std::uint32_t>(targets[1] + 1) : 0U;
    RandomStream of_targets(options_.seed, RandomPurpose::sample_neighbors,
                            static_cast<std::uint32_t>(targets[0]), second);
    too_many = cut_sample(hops, of_targets.next64(), result);
    if (too_many == 0) return;
  }
  const bool sampled = std::exchange(result.sampled_, false);
  start(targets, result);  // gives back no memory, but leaves nothing half built
  const std::string who = targets.size() > 1 ? fmt::format("link {}-{}", targets[0], targets[1])
                                             : fmt::format("node {}", targets[0]);
  if (sampled)
    throw_bad_input(
        "{}: even the sample of --num-neighbors {} has {} edges, the limit is {}; give smaller "
        "numbers or a higher --max-edges",
        who, fmt::join(wanted, ","), too_many, options_.max_edges);
  throw_bad_input(
      "{}: its prediction depends on {} edges or more, the limit is {}; give a higher --max-edges, "
      "or --num-neighbors {} to explain such instances by a random sample",
      who, too_many, options_.max_edges,
      fmt::join(std::vector<int>(static_cast<std::size_t>(hops), 20), ","));
}

bool ComputationGraphBuilder::fits(std::span<const NodeId> targets, int hops,
                                   ComputationGraph& scratch) const {
  start(targets, scratch);
  return cut_all(hops, scratch) == 0;
}

void ComputationGraphBuilder::start(std::span<const NodeId> targets,
                                    ComputationGraph& result) const {
  for (const NodeId target : targets)
    if (target < 0 || target >= graph_->num_nodes())
      throw_bad_input("node {} is not in the graph; its nodes are 0 to {}", target,
                      graph_->num_nodes() - 1);
  result.clear(graph_->num_nodes());
  for (const NodeId target : targets) result.insert(target);
  result.nodes_within_.push_back(static_cast<NodeId>(result.nodes_.size()));
}

EdgeId ComputationGraphBuilder::cut_all(int hops, ComputationGraph& result) const {
  std::vector<NodeId>& nodes = result.nodes_;
  // Of a graph too large for the caches, the edges of the next nodes are on their way from memory.
  constexpr std::size_t kAhead = 4;
  const bool is_large = !result.has_own_slots_;
  // All senders to a node less than `hops` away are part of the graph.
  std::size_t node = 0;
  while (result.num_hops() < hops) {
    const std::size_t end = nodes.size();
    EdgeId total = result.num_edges();
    for (std::size_t i = node; i < end; ++i) total += graph_->in_degree(nodes[i]);
    if (total > options_.max_edges) return total;
    for (; node < end; ++node) {
      if (is_large && node + kAhead < nodes.size()) graph_->prefetch_edges(nodes[node + kAhead]);
      const auto neighbors = graph_->in_neighbors(nodes[node]);
      const auto edges = graph_->in_edges(nodes[node]);
      const std::size_t known = nodes.size();
      result.append_sources(neighbors);
      for (std::size_t i = known; is_large && i < nodes.size(); ++i)
        graph_->prefetch_place_of_edges(nodes[i]);
      result.edges_.insert(result.edges_.end(), edges.begin(), edges.end());
      result.in_ptr_.push_back(result.num_edges());
    }
    result.nodes_within_.push_back(static_cast<NodeId>(nodes.size()));
  }
  // Of the edges into the outermost nodes, those from nodes that are there. No processor can guess
  // which: each is written down, and the next one overwrites it unless it counts.
  constexpr std::size_t kChunk = 1024;  // a hub's row is long, and little of it may count
  std::size_t count = result.in_source_.size();
  for (; node < nodes.size(); ++node) {
    if (is_large && node + kAhead < nodes.size()) graph_->prefetch_edges(nodes[node + kAhead]);
    const auto neighbors = graph_->in_neighbors(nodes[node]);
    const auto edges = graph_->in_edges(nodes[node]);
    for (std::size_t begin = 0; begin < neighbors.size(); begin += kChunk) {
      const std::size_t end = std::min(neighbors.size(), begin + kChunk);
      if (count + kChunk > result.in_source_.size()) {
        result.in_source_.resize(2 * count + kChunk);
        result.edges_.resize(2 * count + kChunk);
      }
      NodeId* source = result.in_source_.data();
      EdgeId* edge = result.edges_.data();
      const auto take_known = [&](const auto& local_node) {
        std::size_t next = count;
        for (std::size_t i = begin; i < end; ++i) {
          const NodeId local = local_node(neighbors[i]);
          source[next] = local;
          edge[next] = edges[i];
          next += local != kNoNode ? 1 : 0;
        }
        count = next;
      };
      if (is_large)
        take_known([&](NodeId global) { return result.local_node(global); });
      else
        take_known([slots = result.index_.data()](NodeId global) { return slots[global].local; });
      if (static_cast<EdgeId>(count) > options_.max_edges) return static_cast<EdgeId>(count);
    }
    result.in_ptr_.push_back(static_cast<EdgeId>(count));
  }
  result.in_source_.resize(count);
  result.edges_.resize(count);
  return 0;
}

EdgeId ComputationGraphBuilder::cut_sample(int hops, std::uint64_t seed, ComputationGraph& result) {
  const std::vector<NodeId>& nodes = result.nodes_;
  result.sampled_ = true;
  chosen_.clear();
  for (NodeId node = 0; result.num_hops() < hops;) {
    const EdgeId wanted = options_.num_neighbors[at(result.num_hops())];
    for (const NodeId end = result.num_nodes(); node < end; ++node) {
      const NodeId global = nodes[at(node)];
      draw(graph_->in_degree(global), wanted, seed, global);
      for (const EdgeId position : drawn_) {
        const NodeId source = result.insert(graph_->in_neighbors(global)[at(position)]);
        const EdgeId edge = graph_->in_edges(global)[at(position)];
        const EdgeId reverse = graph_->reverse_edge(edge);
        if (reverse != kNoEdge && source < node) continue;  // `source` has decided about both
        chosen_.push_back({node, edge, source});
        if (reverse != kNoEdge && reverse != edge) chosen_.push_back({source, reverse, node});
      }
      const auto total = static_cast<EdgeId>(chosen_.size());
      if (total > options_.max_edges) return total;
    }
    result.nodes_within_.push_back(result.num_nodes());
  }
  std::sort(chosen_.begin(), chosen_.end());
  result.in_ptr_.assign(nodes.size() + 1, 0);
  for (const Edge& edge : chosen_) {
    ++result.in_ptr_[at(edge.target) + 1];
    result.in_source_.push_back(edge.source);
    result.edges_.push_back(edge.edge);
  }
  std::partial_sum(result.in_ptr_.begin(), result.in_ptr_.end(), result.in_ptr_.begin());
  return 0;
}

// Floyd's sampling without replacement: as many numbers as are wanted, however many there are.
void ComputationGraphBuilder::draw(EdgeId count, EdgeId wanted, std::uint64_t seed, NodeId node) {
  drawn_.clear();
  if (count <= wanted) {
    drawn_.resize(at(count));
    std::iota(drawn_.begin(), drawn_.end(), 0);
    return;
  }
  RandomStream random(seed, RandomPurpose::sample_neighbors, static_cast<std::uint32_t>(node));
  std::unordered_set<EdgeId> seen;
  for (EdgeId last = count - wanted; last < count; ++last) {
    const auto one = static_cast<EdgeId>(random.below(static_cast<std::uint64_t>(last) + 1));
    drawn_.push_back(seen.insert(one).second ? one : *seen.insert(last).first);
  }
  std::sort(drawn_.begin(), drawn_.end());
}

}  // namespace pgexplainer
