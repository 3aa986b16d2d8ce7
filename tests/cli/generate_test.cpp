#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "pgexplainer/io/dataset_npz.h"
#include "tests/support/run_tool.h"

namespace pgexplainer {
namespace {

TEST(Generate, WritesEveryDatasetAndSaysSoInJson) {
  const TemporaryFolder folder;
  const struct {
    const char* name;
    int nodes, edges, graphs, classes;
  } published[] = {{"ba-shapes", 700, 4110, 1, 4},
                   {"ba-community", 1400, 8920, 1, 8},
                   {"tree-cycles", 871, 1942, 1, 2},
                   {"tree-grid", 1231, 3130, 1, 2},
                   {"ba-2motifs", 25000, 51392, 1000, 2}};
  for (const auto& expected : published) {
    const std::string file = (folder.path() / expected.name).string() + ".npz";
    const ToolResult result =
        run_tool(std::string("generate ") + expected.name + " -o " + file + " --json");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json, (nlohmann::json{{"name", expected.name},
                                    {"nodes", expected.nodes},
                                    {"edges", expected.edges},
                                    {"graphs", expected.graphs},
                                    {"classes", expected.classes},
                                    {"file", file}}));
    const Dataset dataset = read_dataset_npz(file);
    EXPECT_EQ(dataset.graph.num_edges(), expected.edges);
    EXPECT_FALSE(dataset.eval_instances.empty());
  }
}

TEST(Generate, TakesSizesAndSeed) {
  const TemporaryFolder folder;
  const auto generate = [&](const std::string& options) {
    const std::string file = (folder.path() / "d.npz").string();
    EXPECT_EQ(run_tool("generate ba-shapes -o " + file + " " + options).exit_code, 0);
    return read_dataset_npz(file);
  };
  const Dataset small = generate("--base-nodes 20 --edges-per-node 2 --num-motifs 3 --seed 4");
  EXPECT_EQ(small.graph.num_nodes(), 35);
  EXPECT_EQ(fingerprint(small), fingerprint(generate("--base-nodes 20 --edges-per-node=2 "
                                                     "--num-motifs 3 --seed 4 --threads 2")));
  EXPECT_NE(fingerprint(generate("--seed 1")), fingerprint(generate("--seed 2")));
}

TEST(Generate, PeopleReadStderr) {
  const TemporaryFolder folder;
  const ToolResult result = run_tool("generate tree-grid -o " + (folder.path() / "d.npz").string());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("tree-grid: 1231 nodes"), std::string::npos) << result.err;
}

TEST(Generate, BadUsageIsOneSentenceAndExit2) {
  const TemporaryFolder folder;
  const std::string output = " -o " + (folder.path() / "d.npz").string();
  const struct {
    std::string arguments, message;
  } cases[] = {
      {"", "one of these is needed: generate"},
      {"nonsense", "nonsense is not known here"},
      {"generate", "ba-shapes, ba-community, tree-cycles"},
      {"generate syn1" + output, "syn1 is not known here"},
      {"generate ba-shapes", "--output is required"},
      {"generate ba-shapes --nodes 3" + output, "--nodes"},
      {"generate ba-shapes --base-nodes -3" + output, "--base-nodes: -3 is not a number from 2"},
      {"generate ba-shapes --base-nodes many" + output, "--base-nodes"},
      {"generate ba-shapes --base-nodes 4.5" + output, "--base-nodes"},
      {"generate ba-shapes --random-edge-fraction nan" + output, "--random-edge-fraction"},
      {"generate ba-shapes --seed -1" + output, "--seed"},
      {"generate ba-shapes --threads -1" + output, "--threads"},
      {"generate ba-shapes --base-nodes 5" + output, "cannot give every new node 5 edges"},
      {"generate ba-shapes --random-edge-fraction 1e5" + output, "pairs of nodes are not joined"},
  };
  for (const auto& bad : cases) {
    const ToolResult result = run_tool(bad.arguments);
    EXPECT_EQ(result.exit_code, 2) << bad.arguments;
    EXPECT_EQ(result.out, "") << bad.arguments;
    EXPECT_NE(result.err.find(bad.message), std::string::npos) << bad.arguments << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.err.rfind("pgexplainer: ", 0), 0U) << result.err;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CommandLine, HelpAndVersionAreOnStdout) {
  EXPECT_EQ(run_tool("--version").out.rfind("pgexplainer ", 0), 0U);
  const ToolResult help = run_tool("generate --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("pgexplainer generate ba-shapes -o"), std::string::npos);
  EXPECT_NE(run_tool("generate ba-shapes --help").out.find("(2 to 2e+09, default 300)"),
            std::string::npos);
}

TEST(CommandLine, AFullDiskIsExit1AndABrokenPipeIsHarmless) {
  const TemporaryFolder folder;
  const std::string generate = "generate ba-shapes --json -o " + (folder.path() / "d.npz").string();
  const ToolResult full = run_tool(generate + " > /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_NE(full.err.find("cannot write to standard output"), std::string::npos) << full.err;
  // The shell reports the tool's exit code on stderr; `true` reads nothing.
  const ToolResult pipe = run_tool("--version; { sleep 0.2; " PGEXPLAINER_TOOL " " + generate +
                                   "; echo exit $? >&2; } | true");
  EXPECT_EQ(pipe.err, "exit 0\n");
}

}  // namespace
}  // namespace pgexplainer
