#include <fstream>

#include "tests/support/explaining_test.h"
#include "tests/support/xml_check.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

class BenchVerb : public ExplainingTest {};

TEST_F(BenchVerb, MeasuresTheMachineAndHowCloseTheKernelsCome) {
  const json result = run_json("bench --quick --repetitions 2");
  for (const char* key : {"cores", "l2_bytes", "gflops_one", "gflops_all", "l2_gbs_one",
                          "l2_gbs_all", "memory_gbs_one", "memory_gbs_all"})
    EXPECT_GT(result["machine"][key], 0) << key;
  std::map<std::string, int> widths;
  for (const json& kernel : result["kernels"]) {
    const std::string name = kernel["kernel"];
    ++widths[name];
    for (const char* key : {"flops", "bytes", "seconds", "gflops", "gbs", "roof_seconds"})
      EXPECT_GT(kernel[key], 0.0) << name << " " << key;
    EXPECT_TRUE(kernel["bound"] == "L2 bandwidth" || kernel["bound"] == "multiply-adds") << kernel;
    EXPECT_NEAR(kernel["gflops"],
                kernel["flops"].get<double>() / kernel["seconds"].get<double>() * 1e-9,
                1e-6 * kernel["gflops"].get<double>());
    EXPECT_NEAR(kernel["fraction"],
                kernel["roof_seconds"].get<double>() / kernel["seconds"].get<double>(), 1e-6)
        << kernel;
  }
  EXPECT_EQ(widths, (std::map<std::string, int>{{"dense layer", 2},
                                                {"SpMM", 2},
                                                {"SDDMM", 2},
                                                {"edge scorer", 2},
                                                {"training step", 2}}));
}

TEST_F(BenchVerb, PrintsTablesForPeople) {
  const std::string kernels = run("bench --quick --repetitions 1").out;
  for (const char* words : {"multiply-adds", "read from L2", "edge scorer", "fraction"})
    EXPECT_NE(kernels.find(words), std::string::npos) << kernels;
  const std::string times = run(verb("bench") + "--quick --repetitions 1 --epochs 1").out;
  for (const char* words : {"6 instances", "fit", "warm", "cold", "GNNExplainer", "speed-up"})
    EXPECT_NE(times.find(words), std::string::npos) << times;
}

TEST_F(BenchVerb, TimesEveryKindOfWorkOnNodes) {
  const json result = run_json(verb("bench") + "--quick --repetitions 3 --epochs 2 --threads 2");
  EXPECT_EQ(result["instances"], 6);
  EXPECT_GT(result["edges_per_instance"], result["nodes_per_instance"]);
  for (const char* work : {"fit", "warm", "cold", "gnnexplainer"}) {
    const json& seconds = result["seconds"][work];
    ASSERT_EQ(seconds["all"].size(), 3U) << work;
    std::vector<double> sorted = seconds["all"];
    std::sort(sorted.begin(), sorted.end());
    EXPECT_GT(sorted.front(), 0.0) << work;
    EXPECT_EQ(seconds["median"], sorted[1]) << work;
  }
  EXPECT_FALSE(result["seconds"].contains("cold_together"));
  EXPECT_EQ(result["fit_options"]["epochs"], 2);
  EXPECT_EQ(result["gnnexplainer_options"]["epochs"], 100);
  EXPECT_EQ(result["gnnexplainer_options"]["symmetric"], false);
  ASSERT_EQ(result["threads"].size(), 2U);
  EXPECT_EQ(result["threads"][1]["threads"], 2);
  for (const char* work : {"explain", "apart", "fit"})
    EXPECT_GT(result["threads"][1][work], 0.0) << work;
}

TEST_F(BenchVerb, TimesOnlyWhatIsAskedAndTakesAFittedExplainer) {
  fit_explainer();
  const json result = run_json(verb("bench") + "--quick --repetitions 1 --work warm --explainer " +
                               explainer() + " --instances 40,41");
  EXPECT_EQ(result["instances"], 2);
  EXPECT_EQ(result["seconds"].size(), 1U);
  EXPECT_TRUE(result["seconds"].contains("warm"));
  EXPECT_FALSE(result.contains("threads"));
}

TEST_F(BenchVerb, TimesGraphsAloneAndTogether) {
  make_graphs();
  const json result = run_json(graphs_verb("bench") +
                               "--quick --repetitions 1 --epochs 1 --work cold --instances 3,7,8");
  EXPECT_GT(result["seconds"]["cold"]["median"], 0.0);
  EXPECT_GT(result["seconds"]["cold_together"]["median"], 0.0);
}

TEST_F(BenchVerb, DrawsTheTimePerInstanceOverTheSizeOfTheGraph) {
  const std::string picture = file("scaling.svg");
  const json result =
      run_json("bench --quick --repetitions 1 --max-nodes 50000 --scaling " + picture);
  ASSERT_EQ(result["points"].size(), 2U);
  const json& small = result["points"][0];
  const json& large = result["points"][1];
  EXPECT_GT(large["nodes"], 3 * small["nodes"].get<std::int64_t>());
  // The same local structure: instances are about as large.
  EXPECT_NEAR(large["edges_per_instance"], small["edges_per_instance"],
              0.25 * small["edges_per_instance"].get<double>());
  for (const char* key : {"random", "successive", "repeated"}) {
    const std::string seconds = std::string(key) + "_seconds";
    EXPECT_GT(small[seconds], 0.0);
    EXPECT_DOUBLE_EQ(result[std::string(key) + "_growth"],
                     large[seconds].get<double>() / small[seconds].get<double>());
  }
  EXPECT_TRUE(has_text(XmlCheck::parse(bytes(picture)), "text", "nodes at random"));
}

TEST_F(BenchVerb, RefusesWhatItCannotTime) {
  expect_refused("bench --data " + data(), "--data and --model go together");
  expect_refused("bench --model " + model(), "--data and --model go together");
  expect_refused(verb("bench") + "--work walking", "walking");
  expect_refused(verb("bench") + "--scaling " + file("s.svg"), "leave out --data");
  expect_refused(verb("bench") + "--instances 1-2", "not links");
  expect_refused(verb("bench") + "--instances 100000", "has no node 100000");
  expect_refused(verb("bench") + "--explainer " + model(), "is not an explainer");
  expect_refused("bench --repetitions 0", "--repetitions");
  expect_refused("bench --quick --scaling " + file("no/such/folder/s.svg"), "no/such/folder");
  make_graphs();
  fit_explainer();
  expect_refused(graphs_verb("bench") + "--explainer " + explainer() + " --work warm",
                 "was fitted for nodes");
}

}  // namespace
}  // namespace pgexplainer
