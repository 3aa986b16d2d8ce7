#include "pgexplainer/model/model_spec.h"

#include <gtest/gtest.h>

#include "pgexplainer/core/error.h"
#include "pgexplainer/model/native_gnn.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

const char* kGraphModel = R"({
  "task": "graph", "in_channels": 3, "num_classes": 2, "jumping_knowledge": "cat", "readout": ["max", "mean"],
  "blocks": [[{"type": "GCNConv", "name": "conv1", "out_channels": 4}, {"type": "ReLU"}],
             [{"type": "GINConv", "name": "conv2", "out_channels": 5}]],
  "classifier": [{"type": "Linear", "name": "lin", "out_channels": 2}]})";

TEST(ModelSpec, SurvivesARoundTrip) {
  const ModelSpec spec = parse_model_spec(json::parse(kGraphModel), "test");
  EXPECT_EQ(spec.readout.size(), 2U);
  EXPECT_EQ(spec.jumping_knowledge, JumpingKnowledge::cat);
  EXPECT_EQ(to_json(parse_model_spec(to_json(spec), "again")), to_json(spec));
  const NativeGnn<float> model(spec, "test", 1);
  EXPECT_EQ(model.layout().find("lin.weight")->shape, (std::vector<std::int64_t>{2, 18}));
  EXPECT_NE(model.layout().find("conv2.nn.2.bias"), nullptr);
}

TEST(ModelSpec, RefusesWhatItCannotMean) {
  const std::vector<std::pair<const char*, json>> changes = {{"/task", "edge"},
                                                             {"/in_channels", 0},
                                                             {"/in_channels", 2.5},
                                                             {"/num_classes", -1},
                                                             {"/num_classes", "two"},
                                                             {"/blocks", json::array()},
                                                             {"/blocks", "none"},
                                                             {"/blocks/0", json::array()},
                                                             {"/blocks/1", 7},
                                                             {"/readout", json::array()},
                                                             {"/readout", {"median"}},
                                                             {"/readout", {3}},
                                                             {"/jumping_knowledge", "lstm"},
                                                             {"/classifier", 3},
                                                             {"/colour", "red"}};
  for (const auto& [where, value] : changes) {
    json changed = json::parse(kGraphModel);
    changed[json::json_pointer(where)] = value;
    EXPECT_THROW(parse_model_spec(changed, "test"), Error) << where << " = " << value;
  }
  for (const char* key :
       {"task", "in_channels", "num_classes", "blocks", "readout", "classifier"}) {
    json changed = json::parse(kGraphModel);
    changed.erase(key);
    EXPECT_THROW(parse_model_spec(changed, "test"), Error) << key;
  }
  json on_nodes = json::parse(kGraphModel);
  on_nodes["task"] = "node";  // with a readout
  EXPECT_THROW(parse_model_spec(on_nodes, "test"), Error);
  EXPECT_THROW(parse_model_spec(json::array(), "test"), Error);
}

TEST(NativeGnn, RefusesLayersThatDoNotFit) {
  const auto build = [](const char* where, const json& value) {
    json changed = json::parse(kGraphModel);
    changed[json::json_pointer(where)] = value;
    return NativeGnn<float>(parse_model_spec(changed, "test"), "test", 1);
  };
  EXPECT_THROW(build("/classifier/0/out_channels", 3), Error);  // two classes
  EXPECT_THROW(build("/classifier/0/type", "GCNConv"), Error);  // passes messages
  EXPECT_NO_THROW(build("/num_classes", 2));
}

}  // namespace
}  // namespace pgexplainer
