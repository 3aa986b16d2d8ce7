// Undirected edges as metrics count them: an edge and its reverse are one, are kept or removed
// together, and score the mean of both directions (the evaluation of the paper's released code).
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/graph/adjacency.h"

namespace pgexplainer {

/// An edge and its reverse, first < second; second = kNoEdge where there is none (also a
/// self-loop).
struct EdgePair {
  EdgeId first, second;
};

/// The edges of a graph by ascending id. reverse[e] is the id of the opposite edge, e itself for a
/// self-loop, or kNoEdge; empty = every edge stands alone. Throws unless reverse covers the graph
/// and pairs each edge with one that points back.
std::vector<EdgePair> edge_pairs(const Adjacency& graph, std::span<const EdgeId> reverse);

/// Per pair; throws if score does not cover the pairs.
std::vector<float> mean_of_directions(std::span<const EdgePair> pairs,
                                      std::span<const float> score);

}  // namespace pgexplainer
