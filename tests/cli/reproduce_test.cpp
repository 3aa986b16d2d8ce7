#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/support/run_tool.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ReproduceVerb : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_tool("generate tree-cycles --tree-levels 5 --num-motifs 12 -o " +
                       (folder_.path() / "tree_cycles.npz").string())
                  .exit_code,
              0);
  }
  [[nodiscard]] ToolResult reproduce(const std::string& options) const {
    return run_tool("reproduce --quick --data-dir " + folder_.path().string() + " -o " +
                    report().string() + " " + options);
  }
  [[nodiscard]] fs::path report() const { return folder_.path() / "report"; }

  TemporaryFolder folder_;
};

TEST_F(ReproduceVerb, MakesAPageAndGoesOnWhereItStopped) {
  const ToolResult first = reproduce("--datasets tree-cycles,mutagenicity --json");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("pgexplainer download mutagenicity"), std::string::npos);
  const json printed = json::parse(first.out);
  EXPECT_EQ(printed, json::parse(text_of(report() / "results.json")));
  const json& found = printed["datasets"]["tree-cycles"];
  for (const char* method : {"grad", "att", "gradient", "gnnexplainer", "pgexplainer",
                             "pgexplainer-network-alone", "random"})
    EXPECT_TRUE(found["methods"][method]["auc"]["pooled"].is_number()) << method;
  EXPECT_TRUE(found["methods"]["pgexplainer"]["auc"]["held_out"].is_number());
  EXPECT_TRUE(found["accuracy"]["test"].is_number());
  EXPECT_EQ(found["gnns"].size(), 1U);
  EXPECT_EQ(found["regularisers"]["auc"].size(), 3U);
  EXPECT_EQ(printed["connectivity"].size(), 3U);
  EXPECT_FALSE(printed["datasets"].contains("mutagenicity"));

  const std::string page = text_of(report() / "index.html");
  EXPECT_NE(page.find("Tree-Cycles"), std::string::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);  // one self-contained file
  EXPECT_NE(text_of(report() / "main_table.csv").find("PGExplainer"), std::string::npos);
  EXPECT_TRUE(fs::exists(report() / "pictures" / "tree-cycles-pgexplainer.svg"));

  // Nothing is computed again: times, which a clock measures, stay the same.
  const ToolResult second = reproduce("--datasets tree-cycles,mutagenicity --threads 1 --json");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(json::parse(second.out)["datasets"], printed["datasets"]);
  // A damaged step is.
  std::ofstream(report() / "steps" / "tree-cycles-inductive.json") << "{";
  const ToolResult third = reproduce("--datasets tree-cycles --json");
  ASSERT_EQ(third.exit_code, 0) << third.err;
  EXPECT_EQ(json::parse(third.out)["datasets"]["tree-cycles"]["inductive"], found["inductive"]);
}

TEST_F(ReproduceVerb, RefusesBadUsage) {
  EXPECT_EQ(reproduce("--datasets karate").exit_code, 2);
  EXPECT_FALSE(fs::exists(report()));  // nothing half-written
  const fs::path in_the_way = folder_.path() / "tree_cycles.npz";
  const ToolResult blocked = run_tool("reproduce --quick -o " + in_the_way.string());
  EXPECT_EQ(blocked.exit_code, 2);
  EXPECT_NE(blocked.err.find("cannot make this folder"), std::string::npos) << blocked.err;
  EXPECT_EQ(
      run_tool("reproduce --quick --data-dir /no/such/folder -o " + report().string()).exit_code,
      2);
  EXPECT_EQ(run_tool("reproduce --quick").exit_code, 2);
}

}  // namespace
}  // namespace pgexplainer
