#include "pgexplainer/explain/least_change.h"

#include <gtest/gtest.h>

#include "tests/explain/drawn_instance.h"

namespace pgexplainer {
namespace {

std::vector<float> refined(const DrawnInstance& one, std::int64_t steps) {
  std::vector<float> place = one.place;
  refine_order(one.graph, one.pairs, *one.run, steps, place);
  return place;
}

TEST(LeastChange, IsAsFaithfulAndNoFurtherAway) {
  const SmallProblem nodes(small_tree_cycles(1)), graphs(small_ba_2motifs(1));
  int nearer = 0, unchanged = 0;
  for (const SmallProblem* p : {&nodes, &graphs})
    for (std::int64_t id = 0; id < 12; ++id) {
      const DrawnInstance one(*p, id);
      const std::vector<float> found = refined(one, 60);
      const std::vector<float> nearest =
          least_change(one.graph, one.pairs, *one.run, one.place, found);
      EXPECT_GE(one.gap(nearest), one.gap(found) - 0.005);
      EXPECT_GE(one.gap_of_ten(nearest), one.gap_of_ten(found) - 0.005);
      for (std::size_t k = 0; k < found.size(); ++k)
        EXPECT_LE(std::abs(nearest[k] - one.place[k]), std::abs(found[k] - one.place[k]));
      nearer += nearest != found ? 1 : 0;
      unchanged += nearest == found ? 1 : 0;
    }
  EXPECT_GT(nearer, 0);
  EXPECT_GT(unchanged, 0);
}

TEST(LeastChange, IsNoneWhereTheOrderInCommonIsAsFaithful) {
  const SmallProblem p(small_ba_2motifs(1));
  const DrawnInstance one(p, 3);
  const std::vector<float> good = refined(one, 60);
  ASSERT_GT(one.gap(good), one.gap(one.place));
  EXPECT_EQ(least_change(one.graph, one.pairs, *one.run, good, one.place), good);
}

}  // namespace
}  // namespace pgexplainer
