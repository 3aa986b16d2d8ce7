#include "pgexplainer/explain/methods.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/small_explained_model.h"

namespace pgexplainer {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Methods, KnowTheirOwnNames) {
  for (const std::string& name : method_names()) EXPECT_EQ(make_explainer(name, 1)->method(), name);
}

TEST(Methods, UnknownNameListsTheKnownOnes) {
  const std::string message = message_of([] { make_explainer("magic", 1); });
  EXPECT_NE(message.find("'magic'"), std::string::npos) << message;
  for (const std::string& name : method_names())
    EXPECT_NE(message.find(name), std::string::npos) << name;
}

// What a method lists, it takes; the defaults are among it.
TEST(Methods, TakeTheOptionsTheyList) {
  for (const std::string& name : method_names()) {
    nlohmann::json defaults = nlohmann::json::object();
    for (const auto& field : method_option_fields(name)) {
      EXPECT_FALSE(field.at("help").get<std::string>().empty());
      defaults[field.at("name").get<std::string>()] = field.at("default");
      if (!field.contains("low")) continue;
      nlohmann::json too_low = nlohmann::json::object();
      const double low = field.at("low");
      if (low == 0) too_low[field.at("name").get<std::string>()] = -1;
      if (!too_low.empty()) {
        EXPECT_THROW(make_explainer(name, 1, too_low), Error) << name << " " << field;
      }
    }
    EXPECT_NO_THROW(make_explainer(name, 1, defaults)) << name;
  }
  EXPECT_EQ(method_option_fields("pgexplainer").at(1).at("name"), "epochs");
  EXPECT_THROW(method_option_fields("magic"), Error);
}

TEST(Methods, RefuseOptionsTheyDoNotHave) {
  EXPECT_NE(message_of([] {
              make_explainer("grad", 1, {{"epochs", 3}});
            }).find("unknown key 'epochs'"),
            std::string::npos);
  EXPECT_THROW(make_explainer("gnnexplainer", 1, {{"epochs", 0}}), Error);
  EXPECT_THROW(make_explainer("gnnexplainer", 1, {{"feature_mask", "some"}}), Error);
  EXPECT_THROW(make_explainer("gradient", 1, {{"norm", "l9"}}), Error);
  EXPECT_THROW(make_explainer("random", 1, nlohmann::json::array()), Error);
  EXPECT_NO_THROW(make_explainer("gnnexplainer", 1, {{"epochs", 3}, {"symmetric", false}}));
}

/// Every node of an attention network, so that every method can explain it.
std::vector<Explanation> explain_all(const SmallExplainedModel& model, const std::string& name,
                                     int threads) {
  ThreadPool pool(threads);
  std::vector<Instance> instances;
  const std::int64_t count = model.dataset.task == Task::node ? model.dataset.graph.num_nodes() : 1;
  for (std::int64_t id = 0; id < count; ++id) instances.push_back({id});
  const auto explainer = make_explainer(name, 4);
  explainer->fit(*model.explained, instances, pool, {});
  return explain(*model.explained, *explainer, instances, {}, pool);
}

TEST(Methods, GiveTheSameBitsOnAnyNumberOfThreads) {
  const SmallExplainedModel model(kGat, Task::node, 6, undirected(triangle_with_tail()));
  for (const std::string& name : method_names()) {
    const auto one = explain_all(model, name, 1), four = explain_all(model, name, 4);
    ASSERT_EQ(one.size(), four.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].score, four[i].score) << name;
  }
}

TEST(Methods, ExplainGraphsOfOneEdgeOfNoEdgeAndWithDirections) {
  for (const Task task : {Task::node, Task::graph})
    for (const EdgeList& edges : {EdgeList{}, EdgeList{{0, 1}}, EdgeList{{0, 0}, {0, 1}},
                                  undirected({{0, 1}}), triangle_with_tail()}) {
      const SmallExplainedModel model(kGat, task, 6, edges);
      for (const std::string& name : method_names()) {
        if (name == "pgexplainer" && edges.empty()) {  // nothing to learn from
          EXPECT_THROW(explain_all(model, name, 1), Error);
          continue;
        }
        for (const Explanation& explanation : explain_all(model, name, 1)) {
          EXPECT_EQ(explanation.score.size(), explanation.edges.size()) << name;
          for (const float score : explanation.score) EXPECT_TRUE(std::isfinite(score)) << name;
        }
      }
    }
}

TEST(Methods, RefuseANetworkThatGivesNoNumbers) {
  const SmallExplainedModel model(kGat, Task::node, 6, undirected(triangle_with_tail()));
  for (float& value : model.model->theta()) value = std::numeric_limits<float>::quiet_NaN();
  for (const std::string& name : method_names())
    if (name != "random") {
      EXPECT_THROW(explain_all(model, name, 1), Error) << name;
    }
}

}  // namespace
}  // namespace pgexplainer
