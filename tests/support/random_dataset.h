// Small random datasets for property tests, and their comparison.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

/// Every optional array is there or not; isolated nodes, self-loops, parallel edges and empty
/// graphs occur. To be called inside a RapidCheck property.
inline Dataset random_dataset(Task task) {
  const auto below = [](std::int64_t bound) { return *rc::gen::inRange<std::int64_t>(0, bound); };
  const auto value = [&] { return static_cast<float>(below(2'000'001) - 1'000'000) / 7.0F; };
  Dataset dataset;
  dataset.task = task;
  dataset.graph_ptr = {0};
  dataset.edge_ptr = {0};
  std::vector<NodeId> source, target;
  const std::int64_t graphs = task == Task::node ? 1 : 1 + below(4);
  for (std::int64_t g = 0; g < graphs; ++g) {
    const NodeId first = dataset.graph_ptr.back();
    const std::int64_t nodes = 1 + below(5);
    for (std::int64_t edges = below(8); edges > 0; --edges) {
      source.push_back(first + static_cast<NodeId>(below(nodes)));
      target.push_back(first + static_cast<NodeId>(below(nodes)));
    }
    dataset.graph_ptr.push_back(first + static_cast<NodeId>(nodes));
    dataset.edge_ptr.push_back(static_cast<EdgeId>(source.size()));
  }
  const auto edges = static_cast<Index>(source.size());
  dataset.graph = Graph(dataset.graph_ptr.back(), source, target);
  dataset.x = Matrix<float>(dataset.graph.num_nodes(), 1 + below(3));
  for (Index i = 0; i < dataset.x.size(); ++i) dataset.x.data()[i] = value();
  for (std::int64_t i = 0; i < dataset.num_instances(); ++i) dataset.y.push_back(below(2));
  // Every class up to the largest occurs: formats that only list labels cannot know of others.
  dataset.y.front() = 0;
  split_80_10_10(dataset, 1);
  if (below(2) > 0) dataset.train_mask.assign(dataset.y.size(), 0);
  if (edges > 0 && below(2) > 0)
    for (Index e = 0; e < edges; ++e)
      dataset.edge_gt.push_back(static_cast<std::uint8_t>(below(2)));
  if (edges > 0 && below(2) > 0) {
    dataset.edge_attr = Matrix<float>(edges, 1 + below(2));
    for (Index i = 0; i < dataset.edge_attr.size(); ++i) dataset.edge_attr.data()[i] = value();
  }
  if (edges > 0 && below(2) > 0)
    for (Index e = 0; e < edges; ++e) dataset.edge_weight.push_back(value());
  for (std::int64_t i = 0; i < dataset.num_instances(); ++i)
    if (below(2) > 0) dataset.eval_instances.push_back(i);
  return dataset;
}

inline void expect_same_dataset(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.task, b.task);
  EXPECT_EQ(a.graph_ptr, b.graph_ptr);
  EXPECT_EQ(a.edge_ptr, b.edge_ptr);
  EXPECT_TRUE(std::ranges::equal(a.graph.sources(), b.graph.sources()));
  EXPECT_TRUE(std::ranges::equal(a.graph.targets(), b.graph.targets()));
  const auto same_matrix = [](const Matrix<float>& p, const Matrix<float>& q) {
    return p.rows() == q.rows() && p.cols() == q.cols() && p == q;
  };
  EXPECT_TRUE(same_matrix(a.x, b.x));
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.train_mask, b.train_mask);
  EXPECT_EQ(a.val_mask, b.val_mask);
  EXPECT_EQ(a.test_mask, b.test_mask);
  EXPECT_EQ(a.edge_gt, b.edge_gt);
  EXPECT_EQ(a.edge_weight, b.edge_weight);
  EXPECT_EQ(a.edge_attr.cols(), b.edge_attr.cols());
  EXPECT_TRUE(a.edge_attr.cols() == 0 || same_matrix(a.edge_attr, b.edge_attr));
  EXPECT_EQ(a.eval_instances, b.eval_instances);
  EXPECT_EQ(a.node_type_names, b.node_type_names);
}

}  // namespace pgexplainer
