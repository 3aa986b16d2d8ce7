// A small dataset and a network trained on it, for the tests of fit, explain and evaluate through
// the tool.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_tool.h"

namespace pgexplainer {

class ExplainingTest : public testing::Test {
 protected:
  void SetUp() override {
    run("generate ba-shapes --base-nodes 40 --edges-per-node 2 --num-motifs 8 -o " + data());
    run("train --epochs 200 --lr 0.01 --data " + data() + " -o " + model());
  }

  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] std::string data() const { return file("data.npz"); }
  [[nodiscard]] std::string model() const { return file("model.safetensors"); }
  [[nodiscard]] std::string explainer() const { return file("explainer.safetensors"); }
  /// A verb with data and model.
  [[nodiscard]] std::string verb(const std::string& name) const {
    return name + " --data " + data() + " --model " + model() + " ";
  }
  void fit_explainer() {
    run(verb("fit") + "--embedding classifier-input --epochs 3 -o " + explainer());
  }
  void make_graphs() {
    run("generate ba-2motifs --num-graphs 12 -o " + file("graphs.npz"));
    run("train --epochs 5 --data " + file("graphs.npz") + " -o " + file("of-graphs.safetensors"));
  }
  [[nodiscard]] std::string graphs_verb(const std::string& name) const {
    return name + " --data " + file("graphs.npz") + " --model " + file("of-graphs.safetensors") +
           " ";
  }

  /// Runs the tool, which must succeed.
  static ToolResult run(const std::string& command) {
    ToolResult result = run_tool(command);
    EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.err;
    return result;
  }
  /// What it prints on stdout with --json.
  static nlohmann::json run_json(const std::string& command) {
    return nlohmann::json::parse(run(command + " --json").out, nullptr, false);
  }

  [[nodiscard]] static std::string bytes(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// Everything below the folder.
  [[nodiscard]] std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      all[entry.path().string()] =
          entry.is_regular_file() ? bytes(entry.path().string()) : "folder";
    return all;
  }
  /// Exit code 2, one sentence, nothing printed on stdout, no file made or changed.
  void expect_refused(const std::string& command, const std::string& complaint) const {
    const auto before = contents();
    const ToolResult result = run_tool(command);
    EXPECT_EQ(result.exit_code, 2) << command << "\n" << result.err;
    EXPECT_NE(result.err.find(complaint), std::string::npos) << command << "\n" << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "") << command;
    EXPECT_EQ(contents(), before) << command;
  }

  TemporaryFolder folder_;
};

}  // namespace pgexplainer
