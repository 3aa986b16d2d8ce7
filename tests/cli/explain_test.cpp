#include <cmath>
#include <csignal>
#include <cstring>

#include "pgexplainer/explain/methods.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/explanation_file.h"
#include "pgexplainer/io/safetensors.h"
#include "tests/support/explaining_test.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/xml_check.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ExplainVerb : public ExplainingTest {
 protected:
  void SetUp() override {
    ExplainingTest::SetUp();
    fit_explainer();
  }
  [[nodiscard]] std::string explain(const std::string& options, const std::string& output) const {
    return verb("explain") + options + " -o " + file(output);
  }
  [[nodiscard]] std::string fitted(const std::string& options, const std::string& output) const {
    return explain("--explainer " + explainer() + " " + options, output);
  }
  std::vector<Instance> explained(const std::string& spec) {
    run(explain("--method random --instances " + spec, "x.jsonl"));
    std::vector<Instance> instances;
    for (const Explanation& e : read_explanations(file("x.jsonl"))) instances.push_back(e.instance);
    return instances;
  }
};

TEST_F(ExplainVerb, WritesOneJsonObjectPerInstance) {
  const json printed = run_json(fitted("--instances 40,45", "x.jsonl"));
  EXPECT_EQ(printed["method"], "pgexplainer");
  EXPECT_EQ(printed["instances"], 2);
  std::ifstream stream(file("x.jsonl"));
  std::vector<json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["instance"], 40);
  EXPECT_EQ(lines[1]["instance"], 45);
  const Dataset dataset = read_dataset(data());
  for (const json& line : lines) {
    ASSERT_FALSE(line["edges"].empty());
    for (std::size_t e = 0; e < line["edges"].size(); ++e) {
      const json& edge = line["edges"][e];
      ASSERT_EQ(edge.size(), 3U);
      const EdgeId id = line["edge_ids"][e];
      EXPECT_EQ(edge[0], dataset.graph.source(id));
      EXPECT_EQ(edge[1], dataset.graph.target(id));
      EXPECT_TRUE(edge[2].is_number());
    }
    double sum = 0;
    for (const double p : line["prediction"]["probability"]) sum += p;
    EXPECT_NEAR(sum, 1.0, 1e-5);
    EXPECT_EQ(line["selected"].size(), 20U);  // the ten best edges, both directions
    EXPECT_EQ(line["targets"], json::array({line["instance"]}));
  }
}

TEST_F(ExplainVerb, WritesTheSameScoresInAllFormats) {
  for (const char* name : {"x.jsonl", "x.csv", "x.npz"}) run(fitted("", name));
  const auto reference = read_explanations(file("x.jsonl"));
  ASSERT_FALSE(reference.empty());
  for (const char* name : {"x.csv", "x.npz"}) {
    const auto read = read_explanations(file(name));
    ASSERT_EQ(read.size(), reference.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].instance, reference[i].instance);
      EXPECT_EQ(read[i].edges, reference[i].edges);
      EXPECT_EQ(read[i].score, reference[i].score);
      EXPECT_EQ(read[i].selected, reference[i].selected);
    }
  }
}

TEST_F(ExplainVerb, GivesTheSameBytesForOneAndTwoThreadsWithEveryMethod) {
  for (const std::string& method : method_names()) {
    if (method == "att") continue;  // this model has no attention
    const std::string options =
        method == "pgexplainer" ? "--explainer " + explainer() : "--method " + method;
    run(explain(options + " --instances 0:60:7 --threads 1", "one.jsonl"));
    run(explain(options + " --instances 0:60:7 --threads 2", "two.jsonl"));
    EXPECT_EQ(bytes(file("one.jsonl")), bytes(file("two.jsonl"))) << method;
  }
}

TEST_F(ExplainVerb, ExplainsAttentionOfNetworksThatHaveIt) {
  run("train --arch gat --epochs 2 --data " + data() + " -o " + file("gat.safetensors"));
  run("explain --method att --data " + data() + " --model " + file("gat.safetensors") + " -o " +
      file("x.jsonl"));
  for (const Explanation& e : read_explanations(file("x.jsonl")))
    for (const float score : e.score) EXPECT_GE(score, 0.0F);
  run("explain --method att --instances 3-17,40-42 --data " + data() + " --model " +
      file("gat.safetensors") + " -o " + file("links.jsonl"));
  EXPECT_EQ(read_explanations(file("links.jsonl")).size(), 2U);
  expect_refused(explain("--method att --pictures " + file("pictures"), "y.jsonl"),
                 "train --arch gat");
}

TEST_F(ExplainVerb, DrawsPictures) {
  for (const char* name : {"x.svg", "x.graphml"}) {
    run(fitted("--instances 40", name));
    EXPECT_NO_THROW(XmlCheck::parse(bytes(file(name)))) << name;
  }
  run(fitted("--instances 40", "x.dot"));
  EXPECT_NE(bytes(file("x.dot")).find("graph"), std::string::npos);
  const json printed = run_json(
      fitted("--instances 40:46 --max-pictures 4 --pictures " + file("deep/pictures"), "x.csv"));
  EXPECT_EQ(printed["pictures"], 4);
  for (const char* name : {"40.svg", "41.svg", "42.svg", "43.svg"})
    EXPECT_NO_THROW(XmlCheck::parse(bytes(file(std::string("deep/pictures/") + name)))) << name;
  EXPECT_FALSE(fs::exists(file("deep/pictures/44.svg")));
}

TEST_F(ExplainVerb, SelectsAsAsked) {
  const auto num_selected = [&](const std::string& options) {
    run(fitted("--instances 40 --all-edges " + options, "x.jsonl"));
    const auto selected = read_explanations(file("x.jsonl")).front().selected;
    return std::count(selected.begin(), selected.end(), 1);
  };
  EXPECT_EQ(num_selected("--top-k 3"), 6);
  EXPECT_EQ(num_selected("--max-selected 7"), 6);
  EXPECT_EQ(num_selected("--use-threshold --threshold 1e9"), 0);
  EXPECT_EQ(num_selected("--top-k 0"), 0);
  EXPECT_LE(num_selected("--top-k 8 --connected"), 16);
}

TEST_F(ExplainVerb, WritesTheChosenEdgesAloneWhenTheyAreChosen) {
  run(fitted("--instances 40:50 --top-k 3 --all-edges", "all.jsonl"));
  const auto all = read_explanations(file("all.jsonl"));
  for (const char* suffix : {".jsonl", ".csv", ".npz"}) {
    const std::string name = std::string("few") + suffix;
    run(fitted("--instances 40:50 --topk 3", name));
    const auto few = read_explanations(file(name));
    ASSERT_EQ(few.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(few[i].edges.size(), 6U);
      EXPECT_EQ(std::count(few[i].selected.begin(), few[i].selected.end(), 1), 6);
      for (const EdgeId edge : few[i].edges) {
        const auto found = std::find(all[i].edges.begin(), all[i].edges.end(), edge);
        ASSERT_NE(found, all[i].edges.end());
        EXPECT_EQ(all[i].selected[static_cast<std::size_t>(found - all[i].edges.begin())], 1);
      }
      if (name != "few.csv") {
        EXPECT_EQ(few[i].prediction.probability, all[i].prediction.probability);
        EXPECT_EQ(few[i].prediction_kept.probability, all[i].prediction_kept.probability);
      }
    }
  }
  run(fitted("--instances 40:50", "default.jsonl"));
  EXPECT_EQ(read_explanations(file("default.jsonl"))[0].edges, all[0].edges);
  expect_refused(fitted("--topk 3 --top-k 4", "x.jsonl"), "--top-k");
  expect_refused(fitted("--topk -3", "x.jsonl"), "--topk");
}

TEST_F(ExplainVerb, RefinesTheScoresOfAFittedExplainerWhenAsked) {
  run(fitted("--instances 40:44", "default.jsonl"));
  run(fitted("--instances 40:44 --refine -1", "chosen.jsonl"));
  run(fitted("--instances 40:44 --refine 0", "plain.jsonl"));
  run(fitted("--instances 40:44 --refine 50", "refined.jsonl"));
  EXPECT_EQ(bytes(file("chosen.jsonl")), bytes(file("default.jsonl")));
  const auto plain = read_explanations(file("plain.jsonl"));
  const auto refined = read_explanations(file("refined.jsonl"));
  ASSERT_EQ(refined.size(), plain.size());
  int changed = 0;  // an order may be good as it is
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(refined[i].edges, plain[i].edges);
    changed += refined[i].score != plain[i].score ? 1 : 0;
  }
  EXPECT_GE(changed, 1);
  expect_refused(explain("--method grad --refine 5", "x.jsonl"), "--refine is for pgexplainer");
  expect_refused(fitted("--refine -2", "x.jsonl"), "refine");
}

TEST_F(ExplainVerb, RefusesOrSamplesInstancesWithTooManyEdges) {
  expect_refused(fitted("--instances all --max-edges 20", "x.jsonl"),
                 "edges or more, the limit is 20; give a higher --max-edges, or --num-neighbors "
                 "20,20,20");
  expect_refused(fitted("--instances all --num-neighbors 3,3", "x.jsonl"), "expected 3 numbers");
  expect_refused(fitted("--instances all --max-edges -1", "x.jsonl"), "--max-edges");
  make_graphs();
  expect_refused(
      graphs_verb("explain") + "--method random --threads 1 --max-edges 3 -o " + file("x.jsonl"),
      "graph 0: its prediction depends on");
  std::vector<Explanation> read;
  for (const char* name : {"x.jsonl", "x.csv", "x.npz"}) {
    const std::string few = "--instances all --max-edges 60 --num-neighbors 3,3,3 ";
    const json printed = run_json(fitted(few + "--threads 1", name));
    run(fitted(few + "--threads 2", std::string("again-") + name));
    EXPECT_EQ(bytes(file(name)), bytes(file(std::string("again-") + name)));
    read = read_explanations(file(name));
    const auto sampled =
        std::count_if(read.begin(), read.end(), [](const Explanation& e) { return e.sampled; });
    EXPECT_EQ(printed["sampled"], sampled) << name;
    EXPECT_GT(sampled, 0);
    EXPECT_LT(sampled, 80);
  }
  run(fitted("--instances all", "exact.jsonl"));
  const auto exact = read_explanations(file("exact.jsonl"));
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(exact[i].edges.size() > 60, read[i].sampled);
    if (read[i].sampled) continue;
    EXPECT_EQ(read[i].edges, exact[i].edges);
    EXPECT_EQ(read[i].prediction.probability, exact[i].prediction.probability);
  }
  for (const char* verb_name : {"fit", "evaluate"})
    EXPECT_NE(run_tool(verb(verb_name) + "--max-edges 5 " +
                       (verb_name == std::string("fit") ? "-o " + file("f.safetensors") : ""))
                  .err.find("the limit is 5"),
              std::string::npos);
}

TEST_F(ExplainVerb, ShardsOneAfterTheOtherAreTheWhole) {
  for (const char* suffix : {".jsonl", ".csv"}) {
    run(fitted("--instances 3:80 --topk 2", std::string("whole") + suffix));
    std::string together;
    for (int i = 0; i < 4; ++i) {
      const std::string name = std::to_string(i) + suffix;
      run(fitted("--instances 3:80 --topk 2 --shard " + std::to_string(i) + "/4", name));
      std::string part = bytes(file(name));
      if (suffix == std::string(".csv") && i > 0) part.erase(0, part.find('\n') + 1);
      together += part;
    }
    EXPECT_EQ(together, bytes(file(std::string("whole") + suffix)));
  }
  EXPECT_EQ(run_json(fitted("--instances 1,2 --shard 0/5", "none.jsonl"))["instances"], 0);
  for (const char* bad : {"4/4", "1", "/", "-1/4", "0/0", "a/b", "1/4/2", "1/", "1/x"})
    expect_refused(fitted(std::string("--shard=") + bad, "x.jsonl"), "--shard");
}

// A slow method, so that there is time to interrupt it; the checkpoint tells that it has begun.
class InterruptedExplain : public ExplainVerb {
 protected:
  void SetUp() override {
    ExplainVerb::SetUp();
    run("generate ba-shapes --base-nodes 40 --edges-per-node 2 --num-motifs 40 -o " +
        file("longer.npz"));
  }
  [[nodiscard]] std::string slow(const std::string& output, const std::string& options = "") const {
    return "explain --data " + file("longer.npz") + " --model " + model() +
           " --method gnnexplainer --instances all --topk 4 " + options + " -o " + file(output);
  }
  [[nodiscard]] ToolResult interrupt(const std::string& command, const std::string& output,
                                     const std::string& signal) const {
    return run_tool(command + " & pid=$!; until [ -e '" + file(output) +
                    ".partial.json' ]; do sleep 0.01; done; kill -" + signal + " $pid; wait $pid");
  }
};

TEST_F(InterruptedExplain, GoesOnAfterAKillToTheSameBytes) {
  for (const char* suffix : {".jsonl", ".csv", ".npz"}) {
    const std::string whole = std::string("whole") + suffix, killed = std::string("x") + suffix;
    run(slow(whole));
    EXPECT_EQ(interrupt(slow(killed), killed, "KILL").exit_code, 128 + SIGKILL);
    ASSERT_TRUE(fs::exists(file(killed + ".partial")));
    EXPECT_FALSE(fs::exists(file(killed)));
    const json record = json::parse(bytes(file(killed + ".partial.json")));
    EXPECT_GT(record["notes"]["instances"], 0);
    EXPECT_LT(record["notes"]["instances"], 240);
    expect_refused(slow(killed, "--resume --seed 5"), "the checkpoint is of a run with other");
    expect_refused(slow(killed, "--resume --max-edges 1000"), "had --max-edges 10000000");
    {  // an instance of which only a part was written
      std::ofstream tail(file(killed + ".partial"), std::ios::app);
      tail << "half a li";
    }
    EXPECT_EQ(run_json(slow(killed, "--resume --max-edges 20000000"))["instances"], 240);
    EXPECT_EQ(bytes(file(killed)), bytes(file(whole))) << suffix;
    EXPECT_FALSE(fs::exists(file(killed + ".partial")));
    EXPECT_FALSE(fs::exists(file(killed + ".partial.json")));
  }
}

TEST_F(InterruptedExplain, CtrlCSaysHowToGoOn) {
  const ToolResult stopped = interrupt(slow("x.jsonl"), "x.jsonl", "INT");
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_NE(stopped.err.find("repeat the command with --resume"), std::string::npos) << stopped.err;
  run(slow("x.jsonl", "--resume"));
  run(slow("y.jsonl", "--resume"));  // nothing to go on from: begins
  EXPECT_EQ(bytes(file("x.jsonl")), bytes(file("y.jsonl")));
}

TEST_F(InterruptedExplain, BeginsAnewWithoutResume) {
  (void)interrupt(slow("x.jsonl"), "x.jsonl", "KILL");
  run(fitted("--instances 40", "x.jsonl"));
  EXPECT_EQ(read_explanations(file("x.jsonl")).size(), 1U);
  EXPECT_FALSE(fs::exists(file("x.jsonl.partial")));
  EXPECT_FALSE(fs::exists(file("x.jsonl.partial.json")));
}

TEST_F(ExplainVerb, FailsCleanlyWhenTheDiskIsFull) {
  const FileSizeLimit limit(20'000);
  const ToolResult result = run_tool(fitted("--instances all", "x.jsonl"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("writing failed"), std::string::npos) << result.err;
  EXPECT_FALSE(fs::exists(file("x.jsonl")));
}

TEST_F(ExplainVerb, UnderstandsEveryFormOfInstances) {
  const Dataset dataset = read_dataset(data());
  std::vector<Instance> listed, all;
  for (const std::int64_t id : dataset.eval_instances) listed.push_back({id});
  for (std::int64_t id = 0; id < dataset.num_instances(); ++id) all.push_back({id});
  EXPECT_EQ(explained("eval"), listed);
  EXPECT_EQ(explained("all"), all);
  EXPECT_EQ(explained(":"), all);
  EXPECT_EQ(explained("40:52:5"), (std::vector<Instance>{{40}, {45}, {50}}));
  EXPECT_EQ(explained("77:"), (std::vector<Instance>{{77}, {78}, {79}}));
  EXPECT_EQ(explained(":2"), (std::vector<Instance>{{0}, {1}}));
  EXPECT_EQ(explained("0::9223372036854775807"), (std::vector<Instance>{{0}}));
  EXPECT_EQ(explained("7,3,5"), (std::vector<Instance>{{7}, {3}, {5}}));
  EXPECT_EQ(explained("3-17,5-9"), (std::vector<Instance>{{3, 17}, {5, 9}}));
}

TEST_F(ExplainVerb, RefusesBadInstances) {
  make_graphs();
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"80", "data has no node 80; it has 0 to 79"},
      {"0,80", "data has no node 80"},
      {"-1:5", "data has the instances 0 to 79"},
      {"0:81", "data has the instances 0 to 79"},
      {"0:99999999999999", "data has the instances 0 to 79"},
      {"0:99999999999999999999", "'99999999999999999999' is not a number"},
      {"5:5", "names no instance"},
      {"5:3", "names no instance"},
      {"0:5:0", "the step is 0"},
      {"0:5:-1", "the step is -1"},
      {"0:5:1:1", "expected start:stop"},
      {"0:x", "'x' is not a number"},
      {"x", "'x' is not a number; expected eval, all"},
      {"Eval", "'Eval' is not a number"},
      {"1,,2", "'' is neither a number from 0 on nor a link"},
      {"1,", "'' is neither"},
      {",", "'' is neither"},
      {"-5", "'-5' is neither a number from 0 on nor a link"},
      {"1.5", "'1.5' is not a number"},
      {"5,1,5", "names 5 twice"},
      {"3-5,1-2,3-5", "names 3-5 twice"},
      {"3-5,7", "nodes and links cannot be explained together"},
      {"7,3-5", "nodes and links cannot be explained together"},
      {"3-80", "data has no node 80"},
      {"3-3", "a link joins two different nodes"},
      {"3-", "'' is not a number"},
      {"1-2-3", "'1-2-3' is neither"},
  };
  for (const auto& [spec, complaint] : rows)
    expect_refused(explain("--method random --instances=" + spec, "x.jsonl"), complaint);
  expect_refused(graphs_verb("explain") + "--method random --instances 0-1 -o " + file("x.jsonl"),
                 "graphs is a dataset of graphs");
  expect_refused(graphs_verb("explain") + "--method random --instances 12 -o " + file("x.jsonl"),
                 "graphs has no graph 12; it has 0 to 11");
}

TEST_F(ExplainVerb, ExplainsLinksAsTwoClasses) {
  run(verb("fit") + "--instances 0-1,3-17,40-42,41-43 --epochs 2 -o " + file("links.safetensors"));
  for (const std::string& method :
       {std::string("--explainer " + file("links.safetensors")), std::string("--method grad"),
        std::string("--method gradient"), std::string("--method gnnexplainer"),
        std::string("--method occlusion")}) {
    run(explain(method + " --instances 40-42,5-9", "x.jsonl"));
    const auto links = read_explanations(file("x.jsonl"));
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(links[0].instance, (Instance{40, 42}));
    EXPECT_EQ(links[0].targets, (std::vector<NodeId>{40, 42}));
    EXPECT_EQ(links[0].prediction.probability.size(), 2U);
  }
  run(explain("--method grad --instances 40-42 --pictures " + file("pictures"), "x.csv"));
  EXPECT_TRUE(fs::exists(file("pictures/40-42.svg")));
  expect_refused(fitted("--instances 40-42", "y.jsonl"), "fitted for 1 explained nodes");
  expect_refused(explain("--explainer " + file("links.safetensors") + " --instances 40", "y.jsonl"),
                 "fitted for 2 explained nodes");
}

TEST_F(ExplainVerb, WritesFeatureScoresOfAnExplainerThatHasThem) {
  run(verb("fit") + "--epochs 1 --features -o " + file("f.safetensors"));
  run(explain("--instances 40,41 --explainer " + file("f.safetensors"), "x.jsonl"));
  const auto read = read_explanations(file("x.jsonl"));
  EXPECT_EQ(read[0].feature_score.size(), 10U);
  EXPECT_EQ(read[0].feature_score, read[1].feature_score);  // of the population
}

TEST_F(ExplainVerb, ExplainsDataThatTheExplainerHasNotSeen) {
  run("generate ba-shapes --base-nodes 30 --num-motifs 3 --seed 9 -o " + file("new.npz"));
  run("explain --data " + file("new.npz") + " --model " + model() + " --explainer " + explainer() +
      " --instances all -o " + file("x.jsonl"));
  EXPECT_EQ(read_explanations(file("x.jsonl")).size(), 45U);
}

TEST_F(ExplainVerb, RefusesBadUsage) {
  make_graphs();
  expect_refused(explain("", "x.jsonl"), "pgexplainer needs --explainer FILE");
  expect_refused(explain("--method pgexplainer", "x.jsonl"), "pgexplainer needs --explainer FILE");
  expect_refused(explain("--method magic", "x.jsonl"), "there is no method 'magic'; known are att");
  expect_refused(fitted("--method grad", "x.jsonl"), "--method grad needs none");
  expect_refused(explain("--explainer " + model(), "x.jsonl"),
                 "is not an explainer of pgexplainer");
  expect_refused(explain("--explainer " + file("no.safetensors"), "x.jsonl"), "no such file");
  expect_refused("explain --data " + data() + " --model " + explainer() + " --explainer " +
                     explainer() + " -o " + file("x.jsonl"),
                 "is not a model of pgexplainer");
  expect_refused(graphs_verb("explain") + "--explainer " + explainer() + " -o " + file("x.jsonl"),
                 "the explainer was fitted for nodes, the model classifies graphs");
  expect_refused(fitted("--instances 40,41", "x.svg"), "one picture cannot show 2 instances");
  expect_refused(fitted("", "x.txt"), "which format?");
  expect_refused(fitted("", "no/x.jsonl"), "does not exist");
  expect_refused(fitted("--instances 40", "no/x.svg"), "does not exist");
  expect_refused(fitted("--instances 40 --pictures " + data(), "x.jsonl"),
                 "cannot make this folder");
  expect_refused(fitted("--top-k -1", "x.jsonl"), "--top-k");
  expect_refused(fitted("--max-pictures -1", "x.jsonl"), "--max-pictures");
  expect_refused(verb("explain") + "--method grad", "--output");
  // Fitted to embeddings of another width.
  run("train --arch gcn --hidden 7 --epochs 1 --data " + data() + " -o " +
      file("narrow.safetensors"));
  expect_refused("explain --data " + data() + " --model " + file("narrow.safetensors") +
                     " --explainer " + explainer() + " -o " + file("x.jsonl"),
                 "the explainer reads embeddings of width 60, the model gives 7");
}

TEST_F(ExplainVerb, RefusesBrokenExplainers) {
  const Safetensors good = read_safetensors(explainer());
  const auto expect = [&](const std::string& complaint, auto&& damage) {
    Safetensors broken = good;
    damage(broken);
    write_safetensors(file("broken.safetensors"), broken);
    expect_refused(explain("--explainer " + file("broken.safetensors"), "x.jsonl"), complaint);
    expect_refused("info " + file("broken.safetensors"), complaint);
  };
  expect("version '9'", [](Safetensors& s) { s.metadata["version"] = "9"; });
  expect("'options' is not valid JSON", [](Safetensors& s) { s.metadata["options"] = "{"; });
  expect("unknown key 'colour'",
         [](Safetensors& s) { s.metadata["options"] = R"({"colour":"red"})"; });
  expect("the metadata have no 'shape'", [](Safetensors& s) { s.metadata.erase("shape"); });
  expect("embedding_width", [](Safetensors& s) { s.metadata["shape"] = R"({"num_targets":1})"; });
  expect("mlp.0.bias (64,) is missing", [](Safetensors& s) { s.tensors.erase("mlp.0.bias"); });
  expect("the tensor extra is unknown",
         [](Safetensors& s) { s.tensors["extra"] = s.tensors["mlp.0.bias"]; });
  expect("the explainer is broken", [](Safetensors& s) {
    const float nan = std::nanf("");
    std::memcpy(s.tensors["mlp.0.bias"].data.data(), &nan, sizeof nan);
  });
}

}  // namespace
}  // namespace pgexplainer
