#include "pgexplainer/datasets/dataset.h"

#include <cmath>
#include <functional>

#include "tests/datasets/generated_dataset.h"

namespace pgexplainer {
namespace {

/// Two graphs: a path of three nodes and a single edge.
Dataset two_graphs() {
  Dataset dataset;
  dataset.task = Task::graph;
  dataset.graph = Graph(5, {0, 1, 1, 2, 3, 4}, {1, 0, 2, 1, 4, 3});
  dataset.graph_ptr = {0, 3, 5};
  dataset.edge_ptr = {0, 4, 6};
  dataset.x.setOnes(5, 2);
  dataset.y = {0, 1};
  dataset.train_mask = {1, 0};
  dataset.val_mask = {0, 1};
  dataset.test_mask = {0, 0};
  dataset.edge_gt = {1, 1, 0, 0, 0, 0};
  dataset.edge_weight.assign(6, 1);
  dataset.edge_attr.setOnes(6, 1);
  dataset.eval_instances = {1};
  return dataset;
}

struct Damage {
  const char* message;  // which the error must contain
  std::function<void(Dataset&)> apply;
};

TEST(Validate, NamesWhatDoesNotFit) {
  ASSERT_NO_THROW(validate(two_graphs(), "d.npz"));
  const std::vector<Damage> damages = {
      {"no nodes", [](Dataset& d) { d.graph = Graph(); }},
      {"graph_ptr",
       [](Dataset& d) {
         d.graph_ptr = {0, 3, 6};
       }},
      {"graph_ptr",
       [](Dataset& d) {
         d.graph_ptr = {1, 3, 5};
       }},
      {"graph_ptr",
       [](Dataset& d) {
         d.graph_ptr = {0, 7, 5};
       }},
      {"graph_ptr", [](Dataset& d) { d.graph_ptr = {}; }},
      {"edge_ptr",
       [](Dataset& d) {
         d.edge_ptr = {0, 4, 5};
       }},
      {"2 graphs but edge_ptr 1",
       [](Dataset& d) {
         d.edge_ptr = {0, 6};
       }},
      {"a node dataset has one graph", [](Dataset& d) { d.task = Task::node; }},
      {"in another graph",
       [](Dataset& d) {
         d.graph_ptr = {0, 2, 5};
       }},
      {"x has 4 rows", [](Dataset& d) { d.x.setOnes(4, 2); }},
      {"x has no columns", [](Dataset& d) { d.x.resize(5, 0); }},
      {"row 3, column 1", [](Dataset& d) { d.x(3, 1) = std::nanf(""); }},
      {"y has 3 entries",
       [](Dataset& d) {
         d.y = {0, 1, 0};
       }},
      {"y[1] is -1", [](Dataset& d) { d.y[1] = -1; }},
      {"y[0] is 1000000", [](Dataset& d) { d.y[0] = 1'000'000; }},
      {"train_mask has", [](Dataset& d) { d.train_mask.pop_back(); }},
      {"val_mask has", [](Dataset& d) { d.val_mask.pop_back(); }},
      {"test_mask has", [](Dataset& d) { d.test_mask.pop_back(); }},
      {"graph 0 is in more than one", [](Dataset& d) { d.test_mask[0] = 1; }},
      {"edge_gt has 5", [](Dataset& d) { d.edge_gt.pop_back(); }},
      {"edge_weight has 5", [](Dataset& d) { d.edge_weight.pop_back(); }},
      {"edge_weight has the value inf", [](Dataset& d) { d.edge_weight[2] = HUGE_VALF; }},
      {"edge_attr has 5", [](Dataset& d) { d.edge_attr.setOnes(5, 1); }},
      {"edge_attr has the value nan", [](Dataset& d) { d.edge_attr(0, 0) = std::nanf(""); }},
      {"graph 2 does not exist", [](Dataset& d) { d.eval_instances = {2}; }},
  };
  for (const Damage& damage : damages) {
    Dataset dataset = two_graphs();
    damage.apply(dataset);
    expect_bad_input([&] { validate(dataset, "d.npz"); }, damage.message);
    expect_bad_input([&] { validate(dataset, "d.npz"); }, "d.npz: ");
  }
}

TEST(Validate, AcceptsADatasetWithoutOptionalArrays) {
  Dataset dataset = two_graphs();
  dataset.edge_gt.clear();
  dataset.edge_weight.clear();
  dataset.edge_attr.resize(0, 0);
  dataset.eval_instances.clear();
  EXPECT_NO_THROW(validate(dataset, "d.npz"));
}

TEST(Split, IsADisjointCoverThatDependsOnTheSeed) {
  for (const NodeId nodes : {1, 2, 5, 10, 19, 700}) {
    Dataset dataset;
    dataset.graph = Graph(nodes, {}, {});
    split_80_10_10(dataset, 1);
    for (std::size_t i = 0; i < static_cast<std::size_t>(nodes); ++i)
      ASSERT_EQ(dataset.train_mask[i] + dataset.val_mask[i] + dataset.test_mask[i], 1);
    EXPECT_EQ(count_ones(dataset.train_mask), nodes * 8 / 10);
    EXPECT_EQ(count_ones(dataset.test_mask), nodes - nodes * 9 / 10);
  }
  Dataset one = two_graphs();
  one.task = Task::node;
  one.graph = Graph(100, {}, {});
  Dataset same = one, other = one;
  split_80_10_10(one, 1);
  split_80_10_10(same, 1);
  split_80_10_10(other, 2);
  EXPECT_EQ(one.train_mask, same.train_mask);
  EXPECT_NE(one.train_mask, other.train_mask);
}

TEST(Warnings, SayWhatAUserShouldKnow) {
  const auto warned = [](const std::function<void(Dataset&)>& change, const std::string& part) {
    Dataset dataset = two_graphs();
    dataset.test_mask = {0, 1};
    dataset.val_mask = {1, 0};  // so that nothing is empty
    EXPECT_TRUE(warnings(dataset).empty());
    change(dataset);
    const auto all = warnings(dataset);
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& w) { return w.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(warned([](Dataset& d) { d.y = {0, 2}; }, "class 1 never occurs"));
  EXPECT_TRUE(warned([](Dataset& d) { d.y = {0, 0}; }, "only one class"));
  EXPECT_TRUE(warned([](Dataset& d) { d.graph = Graph(5, {0, 1}, {1, 0}); }, "3 nodes have no"));
  EXPECT_TRUE(warned([](Dataset& d) { d.graph = Graph(2, {0}, {0}); }, "1 edges are self-loops"));
  EXPECT_TRUE(warned([](Dataset& d) { d.graph = Graph(2, {0, 0}, {1, 1}); }, "1 edges repeat"));
  EXPECT_TRUE(warned([](Dataset& d) { d.graph = Graph(2, {0}, {1}); }, "directed"));
  EXPECT_TRUE(warned([](Dataset& d) { d.edge_ptr = {0, 6, 6}; }, "1 graphs have no edge"));
  EXPECT_TRUE(warned([](Dataset& d) { d.train_mask = {0, 0}; }, "training set is empty"));
  EXPECT_TRUE(warned([](Dataset& d) { d.val_mask = {0, 0}; }, "validation set is empty"));
  EXPECT_TRUE(warned([](Dataset& d) { d.test_mask = {0, 0}; }, "test set is empty"));
}

TEST(Fingerprint, ChangesWithEveryArrayThatTrainingReads) {
  std::set<std::uint64_t> seen = {fingerprint(two_graphs())};
  const std::vector<std::function<void(Dataset&)>> changes = {
      [](Dataset& d) {
        d.graph = Graph(5, {0, 1, 1, 2, 3, 4}, {1, 0, 2, 1, 3, 4});
      },
      [](Dataset& d) {
        d.graph = Graph(5, {0, 1, 1, 2, 4, 4}, {1, 0, 2, 1, 4, 3});
      },
      [](Dataset& d) {
        d.graph_ptr = {0, 2, 5};
      },
      [](Dataset& d) { d.x(4, 1) = 2; },
      [](Dataset& d) {
        d.y = {1, 0};
      },
      [](Dataset& d) {
        d.train_mask = {0, 0};
      },
      [](Dataset& d) {
        d.val_mask = {1, 1};
      },
      [](Dataset& d) {
        d.test_mask = {0, 1};
      },
      [](Dataset& d) { d.edge_weight[5] = 2; },
      [](Dataset& d) { d.edge_weight.clear(); },
      [](Dataset& d) { d.edge_attr(5, 0) = 2; },
  };
  for (const auto& change : changes) {
    Dataset dataset = two_graphs();
    change(dataset);
    EXPECT_TRUE(seen.insert(fingerprint(dataset)).second);
  }
  EXPECT_EQ(fingerprint(two_graphs()), fingerprint(two_graphs()));
}

}  // namespace
}  // namespace pgexplainer
