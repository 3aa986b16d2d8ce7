#include "pgexplainer/datasets/undirected_edges.h"

#include <limits>
#include <utility>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

std::span<const NodeId> SortedNeighbors::of(NodeId node) const {
  const std::size_t begin = at(ptr[at(node)]);
  return std::span<const NodeId>(neighbor).subspan(begin, at(ptr[at(node) + 1]) - begin);
}

SortedNeighbors sort_neighbors(NodeId num_nodes, const UndirectedEdges& edges) {
  const std::vector<NodeId>& ends = edges.endpoints();
  SortedNeighbors rows;
  rows.ptr.assign(at(num_nodes) + 1, 0);
  for (const NodeId node : ends) ++rows.ptr[at(node) + 1];
  for (std::size_t i = 1; i < rows.ptr.size(); ++i) rows.ptr[i] += rows.ptr[i - 1];

  std::vector<NodeId> unsorted(ends.size());
  std::vector<EdgeId> next = rows.ptr;
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    unsorted[at(next[at(ends[i])]++)] = ends[i + 1];
    unsorted[at(next[at(ends[i + 1])]++)] = ends[i];
  }
  next = rows.ptr;
  rows.neighbor.resize(ends.size());
  for (NodeId node = 0; node < num_nodes; ++node)
    for (EdgeId i = rows.ptr[at(node)]; i < rows.ptr[at(node) + 1]; ++i)
      rows.neighbor[at(next[at(unsorted[at(i)])]++)] = node;
  return rows;
}

Graph make_graph(NodeId num_nodes, UndirectedEdges edges) {
  SortedNeighbors rows = sort_neighbors(num_nodes, edges);
  edges = {};
  std::vector<NodeId> source(rows.neighbor.size());
  for (NodeId node = 0; node < num_nodes; ++node)
    for (EdgeId i = rows.ptr[at(node)]; i < rows.ptr[at(node) + 1]; ++i) source[at(i)] = node;
  return {num_nodes, std::move(source), std::move(rows.neighbor)};
}

NodeId checked_num_nodes(std::int64_t num_nodes) {
  constexpr NodeId kMost = std::numeric_limits<NodeId>::max();
  if (num_nodes > kMost)
    throw_bad_input("these sizes make {} nodes, but a dataset holds at most {}", num_nodes, kMost);
  return static_cast<NodeId>(num_nodes);
}

}  // namespace pgexplainer
