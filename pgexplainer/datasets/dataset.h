// A dataset: graphs, features, labels, the motif edges that are the ground truth of explanations,
// and a split.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pgexplainer/core/matrix.h"
#include "pgexplainer/graph/graph.h"

namespace pgexplainer {

/// What an instance is: a node of the one graph, or a whole graph.
enum class Task { node, graph };

/// All graphs are one disjoint union; the nodes and the edges of a graph are contiguous. A node
/// dataset has one graph.
struct Dataset {
  std::string name;
  Task task = Task::node;
  Graph graph;
  std::vector<NodeId> graph_ptr;  ///< nodes of graph g: graph_ptr[g] .. graph_ptr[g+1]-1
  std::vector<EdgeId> edge_ptr;   ///< likewise for edges
  Matrix<float> x;                ///< num_nodes x features
  std::vector<std::int64_t> y;    ///< one label per instance, 0 .. num_classes-1
  std::vector<std::uint8_t> train_mask, val_mask, test_mask;  ///< one per instance; disjoint
  std::vector<std::uint8_t> edge_gt;         ///< per edge: inside a motif; empty = unknown
  std::vector<float> edge_weight;            ///< per edge; empty = all one
  Matrix<float> edge_attr;                   ///< num_edges x edge features; 0 columns = none
  std::vector<std::int64_t> eval_instances;  ///< the instances the paper evaluates; may be empty
  std::vector<std::string>
      node_type_names;  ///< what a one-hot feature column means (atom letters); may be empty

  [[nodiscard]] std::int64_t num_graphs() const {
    return static_cast<std::int64_t>(graph_ptr.size()) - 1;
  }
  [[nodiscard]] std::int64_t num_instances() const {
    return task == Task::node ? graph.num_nodes() : num_graphs();
  }
  [[nodiscard]] std::int64_t num_classes() const;  ///< largest label + 1
};

/// Throws, naming `where` (a file, say) and the array, unless every array fits the graph, labels
/// and features are finite and in range, the masks are disjoint, and no edge joins two graphs.
void validate(const Dataset& dataset, const std::string& where);

/// A random split of 80/10/10 % of the instances (the paper, Appendix B).
void split_80_10_10(Dataset& dataset, std::uint64_t seed);

/// Things a user should know before trusting the data: a class that never occurs, isolated nodes,
/// self-loops, duplicate edges, a directed graph, graphs without edges, an empty split.
std::vector<std::string> warnings(const Dataset& dataset);

/// 64 bits that change when any array does; tells whether a checkpoint belongs to this data.
std::uint64_t fingerprint(const Dataset& dataset);

}  // namespace pgexplainer
