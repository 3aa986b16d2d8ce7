#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "pgexplainer/io/model_file.h"
#include "tests/support/run_tool.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Train : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_tool("generate ba-2motifs --num-graphs 40 -o " + data()).exit_code, 0);
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] std::string data() const { return file("data.npz"); }
  [[nodiscard]] std::size_t num_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(file(name)) << text;
    return file(name);
  }

  TemporaryFolder folder_;
};

TEST_F(Train, PrintsAccuraciesAsJsonAndWritesAModelWithItsHistory) {
  const ToolResult result = run_tool("train --data " + data() + " -o " + file("m.safetensors") +
                                     " --epochs 5 --json --seed 2");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json printed = json::parse(result.out);
  for (const char* split : {"train", "val", "test"}) {
    EXPECT_GE(printed["accuracy"][split], 0.0);
    EXPECT_LE(printed["accuracy"][split], 1.0);
  }
  EXPECT_GT(printed["seconds"], 0.0);
  const ModelFile model = read_model(file("m.safetensors"));
  EXPECT_EQ(model.training["history"]["loss"].size(), 5U);
  EXPECT_EQ(model.training["seed"], 2);
  EXPECT_EQ(num_files(), 2U);  // no checkpoint is left

  const ToolResult info = run_tool("info --json " + file("m.safetensors"));
  ASSERT_EQ(info.exit_code, 0) << info.err;
  EXPECT_EQ(json::parse(info.out)["accuracy"], printed["accuracy"]);
}

TEST_F(Train, GivesTheSameBytesForOneAndTwoThreads) {
  for (const char* threads : {"1", "2"})
    ASSERT_EQ(run_tool("train --data " + data() + " --epochs 3 --threads " + threads + " -o " +
                       file(std::string("m") + threads + ".safetensors"))
                  .exit_code,
              0);
  EXPECT_EQ(read_model(file("m1.safetensors")).model->theta(),
            read_model(file("m2.safetensors")).model->theta());
}

TEST_F(Train, GoesOnAfterCtrlCToTheSameBits) {
  ASSERT_EQ(run_tool("generate ba-2motifs --num-graphs 4 -o " + file("few.npz")).exit_code, 0);
  const std::string options = "train --threads 1 --epochs 20000 --data " + file("few.npz") + " -o ";
  // Ctrl-C is SIGINT; the first checkpoint tells that the training has begun.
  const ToolResult stopped = run_tool(
      options + file("m.safetensors") + " & pid=$!; while [ ! -e '" +
      file("m.safetensors.checkpoint") + "' ]; do sleep 0.02; done; kill -INT $pid; wait $pid");
  ASSERT_EQ(stopped.exit_code, 1) << stopped.err;
  EXPECT_NE(stopped.err.find("--resume"), std::string::npos) << stopped.err;
  ASSERT_TRUE(fs::exists(file("m.safetensors.checkpoint")));
  EXPECT_FALSE(fs::exists(file("m.safetensors")));

  const ToolResult other = run_tool(options + file("m.safetensors") + " --resume --seed 5");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("other data, layers, options or seed"), std::string::npos) << other.err;

  ASSERT_EQ(run_tool(options + file("m.safetensors") + " --resume").exit_code, 0);
  ASSERT_EQ(run_tool(options + file("whole.safetensors")).exit_code, 0);
  EXPECT_EQ(read_model(file("m.safetensors")).model->theta(),
            read_model(file("whole.safetensors")).model->theta());
  EXPECT_FALSE(fs::exists(file("m.safetensors.checkpoint")));
}

TEST_F(Train, RefusesBadDescriptionsInOneSentenceAndWritesNothing) {
  const std::string layer = R"({"type":"GCNConv","name":"c","out_channels":4})";
  const std::string classifier =
      R"("classifier":[{"type":"Linear","name":"lin","out_channels":2}])";
  const auto model = [&](const std::string& blocks, const std::string& rest) {
    return "{\"blocks\":" + blocks + ",\"readout\":[\"max\"]," + rest + "}";
  };
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "not valid JSON"},
      {"{", "not valid JSON"},
      {"[1, 2]", "JSON object"},
      {"{}", "'blocks' is missing"},
      {model("[]", classifier), "at least one"},
      {model("[[]]", classifier), "no layer"},
      {model("[[" + layer + "]]", R"("classifier":7)"), "list of layers"},
      {model("[[" + layer + "]]", classifier + R"(,"colour":"red")"), "unknown key 'colour'"},
      {model("[[" + layer + "]]", classifier + R"(,"jumping_knowledge":"lstm")"),
       "jumping_knowledge"},
      {model("[[" + layer + "]]", classifier + R"(,"task":"node")"), "readout"},
      {model("[[" + layer + "]]", classifier + R"(,"in_channels":3)"), "features per node"},
      {model("[[" + layer + "]]", classifier + R"(,"in_channels":-3)"), "in_channels"},
      {model("[[" + layer + "]]", R"("classifier":[])"), "4 wide, but there are 2 classes"},
      {model("[[" + layer + "]]",
             R"("classifier":[{"type":"GCNConv","name":"d","out_channels":2}])"),
       "passes messages"},
      {model(R"([[{"type":"MagicConv","name":"c","out_channels":4}]])", classifier),
       "unknown layer type 'MagicConv'"},
      {model(R"([[{"name":"c"}]])", classifier), "unknown layer type"},
      {model(R"([["GCNConv"]])", classifier), "a layer is an object"},
      {model(R"([[{"type":"GCNConv","out_channels":4}]])", classifier), "name"},
      {model(R"([[{"type":"GCNConv","name":"c"}]])", classifier), "option out_channels is 0"},
      {model(R"([[{"type":"GCNConv","name":"c","out_channels":1e9}]])", classifier),
       "out_channels"},
      {model(R"([[{"type":"GCNConv","name":"c","out_channels":4,"heads":2}]])", classifier),
       "unknown key 'heads'"},
      {model(R"([[{"type":"GATConv","name":"c","out_channels":4,"heads":0}]])", classifier),
       "heads"},
      {model(R"([[{"type":"SAGEConv","name":"c","out_channels":4,"aggr":"median"}]])", classifier),
       "aggregation"},
      {model(R"([[{"type":"GINEConv","name":"c","out_channels":4}]])", classifier),
       "features per edge"},
      {model("[[" + layer + "],[" + layer + "]]", classifier), "two names"},
      {R"({"blocks":[[)" + layer + R"(]],"readout":["median"],)" + classifier + "}", "aggregation"},
      {R"({"blocks":[[)" + layer + R"(]],)" + classifier + "}", "'readout' is missing"},
  };
  for (const auto& [text, complaint] : rows) {
    const std::string description = write("layers.json", text);
    const std::size_t before = num_files();
    const ToolResult result = run_tool("train --data " + data() + " --epochs 1 --arch " +
                                       description + " -o " + file("m.safetensors"));
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_NE(result.err.find(complaint), std::string::npos) << text << "\n" << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(num_files(), before);
  }
}

TEST_F(Train, RefusesBadUsageAndLeavesAnOldModelAlone) {
  write("m.safetensors", "precious");
  const std::string base = "train --data " + data() + " -o " + file("m.safetensors");
  const std::vector<std::pair<std::string, std::string>> rows = {
      {base + " --arch magic", "unknown --arch 'magic'"},
      {base + " --arch gine", "edge features"},
      {base + " --arch missing.json", "no such file"},
      {base + " --epochs 0", "epochs"},
      {base + " --epochs many", "epochs"},
      {base + " --lr -1", "lr"},
      {base + " --hidden 20,x", "hidden"},
      {base + " --pool median", "median"},
      {base + " --norm power", "norm"},
      {base + " --select middle", "select"},
      {base + " --resume", "no such file"},
      {base + " --colour red", "--colour"},
      {"train --data " + file("none.npz") + " -o " + file("m.safetensors"), "no such file"},
      {"train --data " + data() + " -o " + file("none/m.safetensors"), "none"},
      {"train --data " + data(), "--output"},
  };
  for (const auto& [command, complaint] : rows) {
    const ToolResult result = run_tool(command);
    EXPECT_EQ(result.exit_code, 2) << command << "\n" << result.err;
    EXPECT_NE(result.err.find(complaint), std::string::npos) << command << "\n" << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(fs::file_size(file("m.safetensors")), 8U) << command;
    EXPECT_EQ(num_files(), 2U) << command;
  }
}

TEST_F(Train, InfoRefusesBrokenModels) {
  ASSERT_EQ(
      run_tool("train --data " + data() + " --epochs 1 -o " + file("m.safetensors")).exit_code, 0);
  const Safetensors good = read_safetensors(file("m.safetensors"));
  const auto expect = [&](const std::string& complaint,
                          const std::function<void(Safetensors&)>& damage) {
    Safetensors broken = good;
    damage(broken);
    write_safetensors(file("broken.safetensors"), broken);
    const ToolResult result = run_tool("info " + file("broken.safetensors"));
    EXPECT_EQ(result.exit_code, 2) << complaint;
    EXPECT_NE(result.err.find(complaint), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  };
  expect("lin.bias (2,) is missing", [](Safetensors& s) { s.tensors.erase("lin.bias"); });
  expect("expected (2,)",
         [](Safetensors& s) { s.tensors["lin.bias"] = make_tensor(std::vector<float>{1}, {1}); });
  expect("belongs to no layer",
         [](Safetensors& s) { s.tensors["x"] = make_tensor(std::vector<float>{1}, {1}); });
  expect("the model is broken", [](Safetensors& s) {
    s.tensors["lin.bias"] = make_tensor(std::vector<float>{NAN, 1}, {2});
  });
  expect("version '9'", [](Safetensors& s) { s.metadata["version"] = "9"; });
  expect("not valid JSON", [](Safetensors& s) { s.metadata["model"] = "{"; });
  expect("'task' is missing", [](Safetensors& s) { s.metadata["model"] = "{}"; });
}

}  // namespace
}  // namespace pgexplainer
