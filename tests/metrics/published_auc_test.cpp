// The evaluation protocol against the authors' own explainers: the scores they give to the edges of
// every evaluated node, and the AUC that their notebooks print.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "pgexplainer/core/index.h"
#include "pgexplainer/io/npz.h"
#include "pgexplainer/metrics/auc.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;

class PublishedAuc : public testing::TestWithParam<const char*> {};

TEST_P(PublishedAuc, IsThePooledAucOfBothDirectionsMeans) {
  const fs::path path = fs::path("../shared/golden/authors") / (std::string(GetParam()) + ".npz");
  if (!fs::exists(path)) GTEST_SKIP() << path << " is not there";
  const NpzArrays file = read_npz(path);
  const auto instance = file.list<std::int64_t>("instance");
  const auto source = file.list<std::int64_t>("edge_source");
  const auto target = file.list<std::int64_t>("edge_target");
  const auto omega = file.list<double>("omega");
  const std::vector<std::uint8_t> label = file.mask("edge_gt");

  std::map<std::array<std::int64_t, 3>, std::size_t> place;
  for (std::size_t e = 0; e < omega.size(); ++e) place[{instance[e], source[e], target[e]}] = e;
  const auto sigmoid = [](double v) { return 1.0 / (1.0 + std::exp(-v)); };
  std::vector<double> score(omega.size()), raw(omega.size());
  for (std::size_t e = 0; e < omega.size(); ++e) {
    const std::size_t r = place.at({instance[e], target[e], source[e]});
    // In one order for both directions, so that their means are the same bits.
    const double low = std::min(omega[e], omega[r]), high = std::max(omega[e], omega[r]);
    score[e] = (sigmoid(low) + sigmoid(high)) / 2;
    raw[e] = (low + high) / 2;
  }
  EXPECT_NEAR(roc_auc(label, score), file.scalar<double>("auc_sigmoid"), 1e-12);
  EXPECT_NEAR(roc_auc(label, raw), file.scalar<double>("auc_omega"), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Shared, PublishedAuc,
                         testing::Values("ba_shapes", "ba_community", "tree_cycles", "tree_grid"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace pgexplainer
