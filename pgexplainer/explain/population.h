// The instances an explanation network is trained over, cut out once (Algorithm 1, lines 2-6), with
// the embeddings of their nodes.
#pragma once

#include <span>
#include <vector>

#include "pgexplainer/explain/company.h"
#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/explain/explained_model.h"
#include "pgexplainer/explain/pg_explainer_options.h"
#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer {

struct Member {
  InstanceGraph graph;
  EdgePairs pairs;
  std::vector<float> p;       ///< what the prediction should stay
  std::size_t predicted = 0;  ///< the model's class
  double without_edges = 0;   ///< its probability when no edge is left
  std::vector<NodeId> rows;   ///< of the population's embeddings, one per node
};

struct Population {
  std::vector<Member> members;  ///< of each instance; those this rank does not work on stay empty
  std::vector<NodeId> nodes;    ///< every node that some member contains
  Matrix<float> z;              ///< their embeddings
  Company company;              ///< none of nodes, or unless the options ask for it
};

/// Cuts out the instances at the `wanted` places. Throws if the model's prediction for one is not a
/// number, or its label is none of the model's classes.
Population gather_population(const ExplainedModel& model, std::span<const Instance> instances,
                             std::span<const std::size_t> wanted, const PGExplainerOptions& options,
                             ThreadPool& pool);

/// Z = GNNE(G_o, X), Eq. (7), of the nodes of the population. Throws unless they are finite.
void embed(const ExplainedModel& model, Embedding kind, Population& population, ThreadPool& pool);

}  // namespace pgexplainer
