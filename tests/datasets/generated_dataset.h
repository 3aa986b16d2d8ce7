// What every generated dataset promises, and how the tests look into one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

inline std::int64_t count_ones(const std::vector<std::uint8_t>& mask) {
  return std::count(mask.begin(), mask.end(), 1);
}

struct Counts {
  std::int64_t nodes, edges, motif_edges, classes, evaluated;
  bool operator==(const Counts&) const = default;
};
inline void PrintTo(const Counts& c, std::ostream* out) {
  *out << c.nodes << " nodes, " << c.edges << " edges, " << c.motif_edges << " motif edges, "
       << c.classes << " classes, " << c.evaluated << " evaluated";
}

inline Counts counts_of(const Dataset& dataset) {
  return {dataset.graph.num_nodes(), dataset.graph.num_edges(), count_ones(dataset.edge_gt),
          dataset.num_classes(), static_cast<std::int64_t>(dataset.eval_instances.size())};
}

/// The ground-truth edges that lie in [first, last), numbered from first, each once.
inline std::set<std::pair<NodeId, NodeId>> motif_edges(const Dataset& dataset, NodeId first,
                                                       NodeId last) {
  std::set<std::pair<NodeId, NodeId>> result;
  for (EdgeId e = 0; e < dataset.graph.num_edges(); ++e) {
    const auto [low, high] = std::minmax({dataset.graph.source(e), dataset.graph.target(e)});
    if (dataset.edge_gt[static_cast<std::size_t>(e)] && low >= first && high < last)
      result.emplace(low - first, high - first);
  }
  return result;
}

inline const std::set<std::pair<NodeId, NodeId>> kHouseEdges = {{0, 1}, {1, 2}, {2, 3},
                                                                {0, 3}, {0, 4}, {1, 4}};

/// Undirected and simple, sorted by (source, target), valid, split 80/10/10, no warnings.
inline void expect_sound(const Dataset& dataset) {
  EXPECT_NO_THROW(validate(dataset, "generated"));
  EXPECT_EQ(warnings(dataset), std::vector<std::string>{});
  const Graph& graph = dataset.graph;
  for (EdgeId e = 1; e < graph.num_edges(); ++e)
    ASSERT_LT(std::tuple(graph.source(e - 1), graph.target(e - 1)),
              std::tuple(graph.source(e), graph.target(e)));
  for (EdgeId e = 0; e < graph.num_edges(); ++e)
    ASSERT_EQ(dataset.edge_gt[static_cast<std::size_t>(e)],
              dataset.edge_gt[static_cast<std::size_t>(graph.reverse_edge(e))]);
  const std::int64_t count = dataset.num_instances();
  EXPECT_EQ(count_ones(dataset.train_mask), count * 8 / 10);
  EXPECT_EQ(count_ones(dataset.val_mask), count * 9 / 10 - count * 8 / 10);
  EXPECT_EQ(count_ones(dataset.test_mask), count - count * 9 / 10);
}

/// Same seed, same bits; another seed, other edges and another split.
template <class Generate>
void expect_depends_on_seed_alone(Generate generate) {
  EXPECT_EQ(fingerprint(generate(5)), fingerprint(generate(5)));
  const Dataset one = generate(5);
  const Dataset other = generate(6);
  EXPECT_FALSE(std::ranges::equal(one.graph.targets(), other.graph.targets()));
  EXPECT_NE(one.train_mask, other.train_mask);
}

template <class Call>
void expect_bad_input(Call call, const std::string& part_of_message) {
  try {
    call();
    ADD_FAILURE() << "accepted, expected an error about: " << part_of_message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::bad_input);
    EXPECT_NE(std::string(error.what()).find(part_of_message), std::string::npos) << error.what();
  }
}

}  // namespace pgexplainer
