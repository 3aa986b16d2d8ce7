#include "pgexplainer/io/explanation_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/explanation_json.h"
#include "pgexplainer/io/npz.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/random_explanation.h"
#include "tests/support/raw_npz.h"
#include "tests/support/temporary_folder.h"

namespace pgexplainer {
namespace {

constexpr const char* kSuffixes[] = {".jsonl", ".json", ".csv", ".npz"};

// Two directions of one edge and a third edge; the second node is explained.
Explanation small() {
  Explanation explanation;
  explanation.instance = {7};
  explanation.nodes = {7, 3, 4};
  explanation.targets = {7};
  explanation.edges = {20, 11, 5};
  explanation.source = {3, 7, 4};
  explanation.target = {7, 3, 7};
  explanation.reverse = {1, 0, kNoEdge};
  explanation.score = {0.5F, 0.1F, -2.0F};
  explanation.selected = {1, 1, 0};
  explanation.prediction.probability = {0.25F, 0.75F};
  explanation.prediction_kept.probability = {0.5F, 0.5F};
  explanation.prediction_removed.probability = {1.0F, 0.0F};
  return explanation;
}

std::string line_of(const Explanation& explanation) {
  std::string line = explanation_json(explanation, "x");
  line.pop_back();  // the line end
  return line;
}

void write_all(const std::filesystem::path& path, const std::vector<Explanation>& explanations) {
  const auto writer = new_explanation_writer(path);
  for (const Explanation& explanation : explanations) writer->write(explanation);
  writer->commit();
}

std::vector<Explanation> random_explanations() {
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1'000'000), RandomPurpose::test);
  const std::size_t classes = random.below(4), features = random.below(3);
  std::vector<Explanation> explanations(random.below(6));
  for (std::size_t i = 0; i < explanations.size(); ++i)
    explanations[i] =
        random_explanation(static_cast<std::int64_t>(3 * i), classes, features, random);
  return explanations;
}

std::string message_of(const std::function<void()>& action,
                       Error::Kind kind = Error::Kind::bad_input) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << message << "\n  lacks: " << part;
}

// Refused with a message that has all parts.
void expect_refused(const std::filesystem::path& path, const std::vector<std::string>& parts) {
  const std::string message = message_of([&] { (void)read_explanations(path); });
  expect_parts(message, parts);
  expect_parts(message, {path.string()});
}

RC_GTEST_PROP(ExplanationFile, JsonLinesKeepEverything, ()) {
  const TemporaryFolder folder;
  const std::vector<Explanation> written = random_explanations();
  write_all(folder / "a.jsonl", written);
  const std::vector<Explanation> read = read_explanations(folder / "a.jsonl");
  RC_ASSERT(read.size() == written.size());
  for (std::size_t i = 0; i < read.size(); ++i) expect_same_explanation(read[i], written[i]);
}

RC_GTEST_PROP(ExplanationFile, NpzKeepsEverything, ()) {
  const TemporaryFolder folder;
  const std::vector<Explanation> written = random_explanations();
  write_all(folder / "a.npz", written);
  const std::vector<Explanation> read = read_explanations(folder / "a.npz");
  RC_ASSERT(read.size() == written.size());
  for (std::size_t i = 0; i < read.size(); ++i) expect_same_explanation(read[i], written[i]);
}

RC_GTEST_PROP(ExplanationFile, CsvKeepsTheEdgesOfInstancesThatHaveSome, ()) {
  const TemporaryFolder folder;
  std::vector<Explanation> written = random_explanations();
  write_all(folder / "a.csv", written);
  const std::vector<Explanation> read = read_explanations(folder / "a.csv");
  std::erase_if(written, [](const Explanation& e) { return e.edges.empty(); });
  RC_ASSERT(read.size() == written.size());
  for (std::size_t i = 0; i < read.size(); ++i) expect_same_edges(read[i], written[i]);
}

TEST(ExplanationFile, JsonHasTheKeysThatScriptsReadWith) {
  Explanation explanation = small();
  const auto json = nlohmann::json::parse(explanation_json(explanation, "x"));
  EXPECT_EQ(json["instance"], 7);
  EXPECT_EQ(json["edges"].size(), 3U);
  EXPECT_EQ(json["edges"][2], (nlohmann::json{4, 7, -2}));
  EXPECT_EQ(json["edge_ids"], (nlohmann::json{20, 11, 5}));
  EXPECT_EQ(json["selected"], (nlohmann::json{0, 1}));
  EXPECT_EQ(json["nodes"], (nlohmann::json{7, 3, 4}));
  EXPECT_EQ(json["targets"], nlohmann::json::array({7}));
  EXPECT_EQ(json["prediction"]["class"], 1);
  EXPECT_EQ(json["prediction"]["probability"], (nlohmann::json{0.25, 0.75}));
  EXPECT_EQ(json["prediction"]["kept"], (nlohmann::json{0.5, 0.5}));
  EXPECT_EQ(json["prediction"]["removed"], (nlohmann::json{1, 0}));
  EXPECT_FALSE(json.contains("feature_scores"));
  explanation.instance = {7, 3};
  explanation.feature_score = {0.5F};
  const auto link = nlohmann::json::parse(explanation_json(explanation, "x"));
  EXPECT_EQ(link["instance"], (nlohmann::json{7, 3}));
  EXPECT_EQ(link["feature_scores"], nlohmann::json::array({0.5}));
}

TEST(ExplanationFile, WritesFloatsWithTheFewestDigits) {
  Explanation explanation = small();
  explanation.score = {0.1F, 1e-7F, -0.0F};
  const std::string text = explanation_json(explanation, "x");
  expect_parts(text, {"[3,7,0.1]", "[7,3,1e-07]", "[4,7,-0.0]"});
}

TEST(ExplanationFile, CsvHasOneLinePerEdge) {
  const TemporaryFolder folder;
  Explanation link = small();
  link.instance = {7, 4};
  link.sampled = true;
  write_all(folder / "a.csv", {small(), link});
  EXPECT_EQ(read_file_text(folder / "a.csv"),
            "instance,second,source,target,edge,score,selected,sampled\n"
            "7,,3,7,20,0.5,1,0\n7,,7,3,11,0.1,1,0\n7,,4,7,5,-2,0,0\n"
            "7,4,3,7,20,0.5,1,1\n7,4,7,3,11,0.1,1,1\n7,4,4,7,5,-2,0,1\n");
}

TEST(ExplanationFile, NpzHasTheShapesOfTheDocumentation) {
  const TemporaryFolder folder;
  Explanation other = small();
  other.instance = {8};
  write_all(folder / "a.npz", {small(), other});
  const NpzArrays arrays = read_npz(folder / "a.npz");
  using Shape = std::vector<std::int64_t>;
  for (const auto& [name, shape] : std::map<std::string, Shape>{{"instance", {2}},
                                                                {"sampled", {2}},
                                                                {"confidence", {2}},
                                                                {"second", {2}},
                                                                {"edge_ptr", {3}},
                                                                {"edge", {6}},
                                                                {"edge_index", {2, 6}},
                                                                {"score", {6}},
                                                                {"selected", {6}},
                                                                {"node_ptr", {3}},
                                                                {"node", {6}},
                                                                {"target_ptr", {3}},
                                                                {"target", {2}},
                                                                {"probability", {2, 2}},
                                                                {"probability_kept", {2, 2}},
                                                                {"probability_removed", {2, 2}}})
    EXPECT_EQ(arrays.shape(name), shape) << name;
  EXPECT_EQ(arrays.names().size(), 16U);
  EXPECT_FLOAT_EQ(arrays.list<float>("confidence")[0], static_cast<float>(small().confidence()));
  EXPECT_EQ(arrays.array("score").dtype, "<f4");
  EXPECT_EQ(arrays.array("selected").dtype, "|b1");
}

// The writers empty their buffers several times on the way.
TEST(ExplanationFile, KeepsManyInstances) {
  const TemporaryFolder folder;
  RandomStream random(3, RandomPurpose::test);
  std::vector<Explanation> written;
  for (int i = 0; i < 30'000; ++i) {
    written.push_back(small());
    written.back().instance.id = i;
    written.back().score = any_finite_floats(3, random);
  }
  for (const char* suffix : kSuffixes) {
    const auto path = folder / (std::string("a") + suffix);
    write_all(path, written);
    const std::vector<Explanation> read = read_explanations(path);
    ASSERT_EQ(read.size(), written.size()) << suffix;
    for (std::size_t i = 0; i < read.size(); ++i) {
      ASSERT_EQ(read[i].instance, written[i].instance);
      ASSERT_TRUE(same_floats(read[i].score, written[i].score)) << suffix;
    }
  }
  EXPECT_GT(std::filesystem::file_size(folder / "a.csv"), 2U << 20);
}

TEST(ExplanationFile, UnknownSuffixIsRefusedWithTheKnownOnes) {
  const TemporaryFolder folder;
  for (const char* name : {"a.txt", "a", "a.npz.bak"}) {
    expect_parts(message_of([&] { (void)new_explanation_writer(folder / name); }),
                 {name, ".jsonl", ".json", ".csv", ".npz"});
    expect_refused(folder / name, {".jsonl", ".json", ".csv", ".npz"});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ExplanationFile, MissingFileIsRefused) {
  const TemporaryFolder folder;
  for (const char* suffix : kSuffixes)
    EXPECT_THROW((void)read_explanations(folder / (std::string("a") + suffix)), Error);
}

TEST(ExplanationFile, AppearsOnlyWithCommit) {
  const TemporaryFolder folder;
  for (const char* suffix : kSuffixes) {
    new_explanation_writer(folder / (std::string("a") + suffix))->write(small());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << suffix;
  }
}

TEST(ExplanationFile, RefusesAPlaceThatCannotBeWrittenBeforeTheFirstExplanation) {
  const TemporaryFolder folder;
  for (const char* suffix : kSuffixes)
    expect_parts(message_of([&] {
                   (void)new_explanation_writer(folder / "missing" / (std::string("a") + suffix));
                 }),
                 {"missing", "folder"});
}

TEST(ExplanationFile, FailsCleanlyWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const FileSizeLimit limit(1000);
  for (const char* suffix : kSuffixes)
    (void)message_of(
        [&] {
          const auto writer = new_explanation_writer(folder / (std::string("a") + suffix));
          for (int i = 0; i < 100; ++i) {
            Explanation explanation = small();
            explanation.instance.id = i;
            writer->write(explanation);
          }
          writer->commit();
        },
        Error::Kind::failed);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ExplanationFile, NeverWritesWhatIsNotANumber) {
  const TemporaryFolder folder;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<std::string, std::function<void(Explanation&)>>> spoils{
      {"score", [&](Explanation& e) { e.score[1] = nan; }},
      {"score", [&](Explanation& e) { e.score[1] = infinite; }},
      {"feature_score", [&](Explanation& e) { e.feature_score = {nan}; }},
      {"prediction", [&](Explanation& e) { e.prediction.probability[0] = nan; }},
      {"with the selected", [&](Explanation& e) { e.prediction_kept.probability[0] = -infinite; }},
      {"without the selected", [&](Explanation& e) { e.prediction_removed.probability[1] = nan; }}};
  for (const char* suffix : kSuffixes)
    for (const auto& [name, spoil] : spoils) {
      Explanation explanation = small();
      spoil(explanation);
      const auto writer = new_explanation_writer(folder / (std::string("a") + suffix));
      expect_parts(message_of([&] { writer->write(explanation); }), {"instance 7", name, "finite"});
    }
}

TEST(ExplanationFile, RefusesToWriteListsThatDoNotFit) {
  const TemporaryFolder folder;
  const std::vector<std::function<void(Explanation&)>> spoils{
      [](Explanation& e) { e.score.pop_back(); },
      [](Explanation& e) { e.selected.clear(); },
      [](Explanation& e) { e.source.push_back(0); },
      [](Explanation& e) { e.target.pop_back(); },
      [](Explanation& e) { e.edges.push_back(1); },
      [](Explanation& e) { e.edges[0] = -1; },
      [](Explanation& e) { e.nodes[0] = -1; },
      [](Explanation& e) { e.instance.id = -4; },
      [](Explanation& e) { e.instance.second = -2; },
      [](Explanation& e) { e.prediction_kept.probability.push_back(0); }};
  for (const char* suffix : kSuffixes)
    for (const auto& spoil : spoils) {
      Explanation explanation = small();
      spoil(explanation);
      const auto writer = new_explanation_writer(folder / (std::string("a") + suffix));
      (void)message_of([&] { writer->write(explanation); });
    }
}

TEST(ExplanationFile, NpzRefusesInstancesWithOtherNumbersOfClasses) {
  const TemporaryFolder folder;
  const auto writer = new_explanation_writer(folder / "a.npz");
  writer->write(small());
  Explanation other = small();
  other.prediction.probability.push_back(0);
  other.prediction_kept = other.prediction_removed = {};
  writer->write(other);
  expect_parts(message_of([&] { writer->commit(); }), {"probability", "3", "2", ".jsonl"});
}

TEST(ExplanationFile, BadJsonIsRefusedWithLineAndKey) {
  const TemporaryFolder folder;
  const auto path = folder / "a.jsonl";
  const std::string good = line_of(small());
  struct Case {
    std::string from, to, part;
  };
  const std::vector<Case> cases{{"\"instance\":7", "\"instance\":7.5", "'instance'"},
                                {"\"instance\":7", "\"instance\":\"7\"", "'instance'"},
                                {"\"instance\":7", "\"instance\":[7]", "'instance'"},
                                {"\"instance\":7", "\"instance\":[7,-1]", "'instance'"},
                                {"\"instance\":7", "\"instance\":-7", "instance"},
                                {"\"instance\":7,", "", "'instance'"},
                                {"[3,7,0.5]", "[3,7]", "'edges'"},
                                {"[3,7,0.5]", "[3.5,7,0.5]", "'edges'"},
                                {"[3,7,0.5]", "[3,7,null]", "'edges'"},
                                {"[3,7,0.5]", "[3,3000000000,0.5]", "'edges'"},
                                {"[3,7,0.5]", "[-3,7,0.5]", "source"},
                                {"[3,7,0.5]", "[3,7,1e60]", "finite"},
                                {"[3,7,0.5]", "[3,7,NaN]", "JSON"},
                                {"[20,11,5]", "[20,11]", "'edge_ids'"},
                                {"[20,11,5]", "[20,11,20]", "edge 20"},
                                {"[20,11,5]", "5", "'edge_ids'"},
                                {"\"edge_ids\"", "\"edge_id\"", "'edge_ids'"},
                                {"\"selected\":[0,1]", "\"selected\":[0,3]", "'selected'"},
                                {"\"selected\":[0,1]", "\"selected\":[-1]", "'selected'"},
                                {"\"nodes\":[7,3,4]", "\"nodes\":{}", "'nodes'"},
                                {"\"prediction\"", "\"predicted\"", "'prediction'"},
                                {"\"kept\":[0.5,0.5]", "\"kept\":[0.5]", "with the selected"},
                                {"\"kept\":[0.5,0.5]", "\"kept\":[\"0.5\"]", "'kept'"},
                                {"\"nodes\"", "\"sampled\":1,\"nodes\"", "'sampled'"},
                                {"}}", "}", "JSON"},
                                {"{\"instance\"", "[{\"instance\"", "JSON"}};
  for (const Case& bad : cases) {
    std::string line = good;
    const std::size_t found = line.find(bad.from);
    if (bad.from == "}}")
      line.pop_back();
    else if (found == std::string::npos)
      FAIL() << bad.from;
    else
      line.replace(found, bad.from.size(), bad.to);
    write_text(path, good + "\n" + line + "\n" + good + "\n");
    expect_refused(path, {"line 2", bad.part});
  }
}

TEST(ExplanationFile, JsonMayHaveOtherKeysAndBlankLines) {
  const TemporaryFolder folder;
  std::string line = line_of(small());
  line.insert(1, "\"comment\": \"checked by hand\", ");
  write_text(folder / "a.json", line + "\r\n\n" + line);
  const auto read = read_explanations(folder / "a.json");
  ASSERT_EQ(read.size(), 2U);
  expect_same_explanation(read[1], small());
}

TEST(ExplanationFile, BadCsvIsRefusedWithItsLine) {
  const TemporaryFolder folder;
  const auto path = folder / "a.csv";
  const std::string header = "instance,second,source,target,edge,score,selected\n";
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"", {"header"}},
      {"instance,second,source,target,edge,score\n", {"line 1", "selected"}},
      {"score,instance,second,source,target,edge,score,selected\n", {"line 1", "score"}},
      {header + "1,,0,1,5,0.5,1\n1,,0,1,6,nan,1\n", {"line 3", "nan"}},
      {header + "1,,0,1,5,0.5,1\n1,,0,1,6,1e60,1\n", {"line 3", "1e60"}},
      {header + "1,,0,1,5,0.5,2\n", {"line 2", "selected"}},
      {header + "1,,0,1,-5,0.5,1\n", {"line 2", "edge"}},
      {header + "1,,0,3000000000,5,0.5,1\n", {"line 2", "target"}},
      {header + "1,-1,0,1,5,0.5,1\n", {"line 2", "second"}},
      {header + "x,,0,1,5,0.5,1\n", {"line 2", "'x'"}},
      {header + "1,,0,1,5,0.5\n", {"line 2", "fields"}},
      {header + "1,,0,1,5,0.5,1\n1,,1,0,5,0.5,1\n", {"instance 1", "edge 5"}},
      {header + "1,,0,1,5,0.5,1\n2,,1,0,5,0.5,1\n1,,1,0,6,0.5,1\n", {"line 4", "instance 1"}}};
  for (const auto& [text, parts] : cases) {
    write_text(path, text);
    expect_refused(path, parts);
  }
}

TEST(ExplanationFile, CsvColumnsMayStandInAnyOrder) {
  const TemporaryFolder folder;
  write_text(folder / "a.csv",
             "name,score,selected,edge,target,source,second,instance\nA,0.5,1,9,2,1,4,3\n");
  const auto read = read_explanations(folder / "a.csv");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].instance, (Instance{3, 4}));
  EXPECT_EQ(read[0].source, std::vector<NodeId>{1});
  EXPECT_EQ(read[0].target, std::vector<NodeId>{2});
  EXPECT_EQ(read[0].edges, std::vector<EdgeId>{9});
  EXPECT_EQ(read[0].score, std::vector<float>{0.5F});
}

TEST(ExplanationFile, BadNpzIsRefusedWithTheArray) {
  const TemporaryFolder folder;
  const auto path = folder / "a.npz";
  write_all(path, {small()});
  const NpzArrays good = read_npz(path);
  using Numbers = std::vector<std::int64_t>;
  const auto matrix = [](Index rows, Index cols) {
    return NpyArray::from(Matrix<float>(Matrix<float>::Zero(rows, cols)));
  };
  const std::vector<std::pair<std::string, NpyArray>> cases{
      {"instance", NpyArray::from(Numbers{1, 2})},
      {"second", NpyArray::from(Numbers{})},
      {"edge_ptr", NpyArray::from(Numbers{0, 2})},
      {"edge_ptr", NpyArray::from(Numbers{1, 3})},
      {"edge_ptr", NpyArray::from(Numbers{0, -1})},
      {"edge_ptr", NpyArray::from(Numbers{0, 2, 3})},
      {"node_ptr", NpyArray::from(Numbers{0, 4})},
      {"target_ptr", NpyArray::from(Numbers{0, 0})},
      {"edge", NpyArray::from(Numbers{1, 2})},
      {"edge", NpyArray::from(Numbers{1, 2, 1})},
      {"edge_index", NpyArray::from(Numbers{3, 7, 4, 7, 3, 7})},
      {"score", NpyArray::from(std::vector<float>{1, 2})},
      {"score", NpyArray::from(std::vector<float>{1, 2, std::nanf("")})},
      {"selected", NpyArray::from(Numbers{0, 1, 2})},
      {"selected", NpyArray::from(Numbers{0, 1})},
      {"sampled", NpyArray::from(Numbers{0, 1})},
      {"node", NpyArray::from(Numbers{0, 1, std::int64_t{1} << 40})},
      {"probability", matrix(2, 2)},
      {"probability_kept", matrix(1, 3)},
      {"feature_score", matrix(0, 3)}};
  for (const auto& [name, array] : cases) {
    std::map<std::string, NpyArray> arrays;
    for (const std::string& each : good.names()) arrays[each] = good.array(each);
    arrays[name] = array;
    write_npz(path, arrays);
    const std::string message = message_of([&] { (void)read_explanations(path); });
    EXPECT_TRUE(message.starts_with(path.string())) << name << ": " << message;
  }
  for (const std::string& name : good.names()) {
    // Optional, or for other readers.
    if (name.starts_with("probability") || name == "sampled" || name == "confidence") continue;
    std::map<std::string, NpyArray> arrays;
    for (const std::string& each : good.names())
      if (each != name) arrays[each] = good.array(each);
    write_npz(path, arrays);
    expect_refused(path, {"no array " + name});
  }
}

}  // namespace
}  // namespace pgexplainer
