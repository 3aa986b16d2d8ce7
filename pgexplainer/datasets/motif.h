// Small graphs planted in a base graph, and where they were planted: the ground truth.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pgexplainer/core/random.h"
#include "pgexplainer/datasets/dataset.h"
#include "pgexplainer/datasets/undirected_edges.h"

namespace pgexplainer {

/// Node 0 is the one that is linked to the base graph.
struct Motif {
  std::vector<std::pair<NodeId, NodeId>> edges;
  std::vector<std::int64_t> labels;  ///< one per node; the base graph's label is 0

  [[nodiscard]] NodeId num_nodes() const { return static_cast<NodeId>(labels.size()); }
};

/// A square 0-1-2-3 (0 and 1 above, 2 and 3 at the bottom) under the roof 4, with the published
/// files' labels: 1 for nodes 0 and 1, 2 for nodes 2 and 3, 3 for the roof.
Motif house_motif();
/// A ring; all nodes have label 1.
Motif cycle_motif(std::int64_t length);
/// side x side nodes, row by row; all nodes have label 1.
Motif grid_motif(std::int64_t side);

/// Consecutive nodes: a base graph, then its motifs one after another.
struct PlantedMotifs {
  Motif motif;
  NodeId first_node;
  NodeId base_nodes;
  NodeId num_motifs;

  [[nodiscard]] NodeId first_motif_node() const { return first_node + base_nodes; }
  [[nodiscard]] NodeId node_of(NodeId motif_index) const {
    return first_motif_node() + motif_index * motif.num_nodes();
  }
  [[nodiscard]] NodeId end() const { return node_of(num_motifs); }
};

/// The nodes of one or more such blocks; throws if they are too many to be numbered.
NodeId checked_block_nodes(std::int64_t base_nodes, std::int64_t num_motifs, const Motif& motif,
                           std::int64_t blocks = 1);

/// Adds the motifs' own edges and one edge from each motif to a base node, which is returned. Base
/// nodes are drawn without replacement until all have been used.
std::vector<NodeId> attach_motifs(UndirectedEdges& edges, const PlantedMotifs& planted,
                                  RandomStream random);

/// Appends the labels of a block's nodes, each plus `offset`.
void append_labels(std::vector<std::int64_t>& y, const PlantedMotifs& planted,
                   std::int64_t offset = 0);

/// Marks both directions of the edges inside the planted motifs. Expects a graph sorted by source,
/// without parallel edges; an edge that joins two nodes of a motif but is not of the motif stays 0.
void mark_motif_edges(Dataset& dataset, const PlantedMotifs& planted);

/// A node dataset of one graph with everything but x, labels and split.
Dataset make_node_dataset(std::string name, NodeId num_nodes, UndirectedEdges edges);

}  // namespace pgexplainer
