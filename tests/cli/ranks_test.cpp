// Several processes, as a user starts them. Only messages of our own are counted: mpirun adds its
// own words to every exit code but 0.
#include <sstream>
#include <vector>

#include "tests/support/explaining_test.h"
#include "tests/support/mpirun.h"

namespace pgexplainer {
namespace {

class Ranks : public ExplainingTest {
 protected:
  void SetUp() override {
    if (!can_run_ranks()) GTEST_SKIP() << "built without MPI";
    ExplainingTest::SetUp();
  }
  static ToolResult run_ranks(int ranks, const std::string& arguments) {
    return mpirun(ranks, PGEXPLAINER_TOOL " " + arguments);
  }
  /// Each rank runs what the shell makes of this; $tool is the tool, $rank its rank.
  static ToolResult run_script(int ranks, const std::string& script) {
    return mpirun(ranks,
                  "sh -c 'tool=" PGEXPLAINER_TOOL "; rank=$OMPI_COMM_WORLD_RANK; " + script + "'");
  }
  static std::vector<std::string> messages(const ToolResult& result) {
    std::vector<std::string> lines;
    std::istringstream text(result.err);
    for (std::string line; std::getline(text, line);)
      if (line.starts_with("pgexplainer: ")) lines.push_back(line);
    return lines;
  }
  /// Exit code 2, one message, nothing on stdout, no file made or changed.
  template <class Run>
  void expect_refused_by_ranks(const Run& run, const std::string& complaint) const {
    const auto before = contents();
    const ToolResult result = run();
    EXPECT_EQ(result.exit_code, 2) << result.err;
    ASSERT_EQ(messages(result).size(), 1U) << result.err;
    EXPECT_NE(messages(result).front().find(complaint), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(contents(), before);
  }
};

TEST_F(Ranks, FitTheSameBytesAsOneProcess) {
  for (const char* options :
       {"--instances all --epochs 3 --patience 2",
        "--instances all --epochs 2 --batch-size 7 --features --objective paper"}) {
    const std::string fit = verb("fit") + options + " -o ";
    run(fit + explainer());
    for (int ranks = 1; ranks <= 4; ++ranks) {
      const std::string together = file("of-ranks.safetensors");
      const ToolResult result = run_ranks(ranks, fit + together);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(bytes(together), bytes(explainer())) << options << ", ranks: " << ranks;
      EXPECT_NE(result.err.find(together + ": "), std::string::npos) << result.err;
      EXPECT_EQ(result.err.find(together), result.err.rfind(together))
          << "said twice: " << result.err;
      std::filesystem::remove(together);
    }
  }
}

TEST_F(Ranks, PrintOneJsonObject) {
  const ToolResult result =
      run_ranks(3, verb("fit") + "--epochs 1 --threads 1 --json -o " + explainer());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto printed = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_TRUE(printed.is_object()) << result.out;
  EXPECT_EQ(printed["file"], explainer());
}

TEST_F(Ranks, ExplainTheSameBytesAsOneProcess) {
  fit_explainer();
  const std::string explain =
      verb("explain") + "--explainer " + explainer() + " --instances all -o ";
  for (const char* name : {"e.jsonl", "e.csv", "e.npz"}) {
    run(explain + file(name));
    for (int ranks = 1; ranks <= 4; ++ranks) {
      const std::string together = file(std::string("of-ranks-") + name);
      const ToolResult result = run_ranks(ranks, explain + together);
      if (messages(result) ==
          std::vector<std::string>{
              "pgexplainer: explain is work for one process; run it without mpirun"})
        GTEST_SKIP() << "explain knows no ranks yet";
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(bytes(together), bytes(file(name))) << name << ", ranks: " << ranks;
      std::filesystem::remove(together);
    }
  }
}

TEST_F(Ranks, EndWithOneMessageWhenAllReadBadInput) {
  const std::string output = " -o " + explainer();
  expect_refused_by_ranks(
      [&] { return run_ranks(3, "fit --data " + file("no.npz") + " --model " + model() + output); },
      "no.npz: no such file");
  expect_refused_by_ranks([&] { return run_ranks(3, verb("fit") + "--colour red" + output); },
                          "--colour");
  expect_refused_by_ranks(
      [&] { return run_ranks(3, verb("fit") + "-o " + file("no/e.safetensors")); },
      "does not exist");
}

TEST_F(Ranks, EndWithOneMessageWhenOneReadsBadInput) {
  run("generate ba-shapes --num-features 3 -o " + file("other.npz"));
  for (const int bad : {0, 2})
    expect_refused_by_ranks(
        [&] {
          return run_script(3, "data=" + data() + "; [ $rank = " + std::to_string(bad) +
                                   " ] && data=" + file("other.npz") +
                                   "; exec $tool fit --data $data --model " + model() + " -o " +
                                   explainer());
        },
        "other has 3 features per node, the model reads 10");
}

TEST_F(Ranks, EndWhenOneIsKilledAndLeaveNothing) {
  const auto before = contents();
  const ToolResult result = run_script(3, "[ $rank = 1 ] && (sleep 1; kill -9 $$) & exec $tool " +
                                              verb("fit") + "--epochs 100000000 -o " + explainer());
  EXPECT_NE(result.exit_code, 0) << result.err;
  EXPECT_NE(result.exit_code, 124) << "it hung: " << result.err;
  EXPECT_NE(result.err.find("signal 9"), std::string::npos) << result.err;
  EXPECT_EQ(contents(), before);
}

TEST_F(Ranks, AreRefusedByVerbsForOneProcess) {
  for (const std::string& arguments :
       {"train --data " + data() + " -o " + file("again.safetensors"), "info " + data()})
    expect_refused_by_ranks([&] { return run_ranks(2, arguments); }, "run it without mpirun");
}

}  // namespace
}  // namespace pgexplainer
