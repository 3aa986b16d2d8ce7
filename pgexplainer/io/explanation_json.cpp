#include "pgexplainer/io/explanation_json.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/io/file_bytes.h"

namespace pgexplainer {
namespace {

// Numbers are parsed as float at once: by way of double they would be rounded twice.
using Json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                  std::uint64_t, float>;
using Text = fmt::memory_buffer;

template <class T>
void append_value(Text& text, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (value == 0 && std::signbit(value)) {  // "-0" would be read as a whole number, without sign
      text.append(std::string_view("-0.0"));
      return;
    }
  }
  fmt::format_to(fmt::appender(text), FMT_COMPILE("{}"), value);
}

template <class T>
void append_list(Text& text, const std::vector<T>& values) {
  text.push_back('[');
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text.push_back(',');
    append_value(text, values[i]);
  }
  text.push_back(']');
}

void append_edges(Text& text, const Explanation& explanation) {
  text.push_back('[');
  for (std::size_t e = 0; e < explanation.edges.size(); ++e) {
    if (e > 0) text.push_back(',');
    fmt::format_to(fmt::appender(text), FMT_COMPILE("[{},{},"), explanation.source[e],
                   explanation.target[e]);
    append_value(text, explanation.score[e]);
    text.push_back(']');
  }
  text.push_back(']');
}

void append_explanation(Text& text, const Explanation& explanation) {
  const auto key = [&](std::string_view start) { text.append(start); };
  const Instance& instance = explanation.instance;
  if (instance.is_link())
    fmt::format_to(fmt::appender(text), R"({{"instance":[{},{}])", instance.id, instance.second);
  else
    fmt::format_to(fmt::appender(text), R"({{"instance":{})", instance.id);
  key(R"(,"prediction":)");
  if (explanation.prediction.probability.empty()) {
    key("null");
  } else {
    fmt::format_to(fmt::appender(text), R"({{"class":{},"probability":)",
                   explanation.prediction.predicted_class());
    append_list(text, explanation.prediction.probability);
    key(R"(,"kept":)");
    append_list(text, explanation.prediction_kept.probability);
    key(R"(,"removed":)");
    append_list(text, explanation.prediction_removed.probability);
    if (const double confidence = explanation.confidence(); std::isfinite(confidence))
      fmt::format_to(fmt::appender(text), R"(,"confidence":{:.4g})", confidence);
    key("}");
  }
  key(R"(,"edges":)");
  append_edges(text, explanation);
  key(R"(,"edge_ids":)");
  append_list(text, explanation.edges);
  key(R"(,"selected":)");
  std::vector<std::size_t> selected;
  for (std::size_t e = 0; e < explanation.selected.size(); ++e)
    if (explanation.selected[e]) selected.push_back(e);
  append_list(text, selected);
  key(R"(,"nodes":)");
  append_list(text, explanation.nodes);
  key(R"(,"targets":)");
  append_list(text, explanation.targets);
  if (!explanation.feature_score.empty()) {
    key(R"(,"feature_scores":)");
    append_list(text, explanation.feature_score);
  }
  if (explanation.sampled) key(R"(,"sampled":true)");
  key("}");
}

// One line, taken apart strictly: nlohmann would turn fractions into integers.
class LineReader {
 public:
  LineReader(std::string_view line, std::string where) : where_(std::move(where)) {
    json_ = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!json_.is_object())
      throw_bad_input("{}: is not a JSON object of finite numbers; the file is damaged or cut off",
                      where_);
  }

  Explanation read() const {
    Explanation explanation;
    read_instance(explanation.instance);
    read_edges(explanation);
    explanation.edges = list<EdgeId>(json_, "edge_ids");
    if (explanation.edges.size() != explanation.source.size())
      throw_bad_input("{}: 'edge_ids' has {} entries, 'edges' has {}", where_,
                      explanation.edges.size(), explanation.source.size());
    explanation.selected.assign(explanation.edges.size(), 0);
    for (const EdgeId position : list<EdgeId>(json_, "selected")) {
      if (position < 0 || at(position) >= explanation.selected.size())
        throw_bad_input("{}: 'selected' names edge {} of {}; the first is 0", where_, position,
                        explanation.selected.size());
      explanation.selected[at(position)] = 1;
    }
    explanation.nodes = list<NodeId>(json_, "nodes");
    explanation.targets = list<NodeId>(json_, "targets");
    if (json_.contains("feature_scores"))
      explanation.feature_score = list<float>(json_, "feature_scores");
    if (json_.contains("sampled")) {
      if (!json_["sampled"].is_boolean()) fail("sampled", json_["sampled"], "true or false");
      explanation.sampled = json_["sampled"].get<bool>();
    }
    const Json& prediction = field(json_, "prediction");
    if (!prediction.is_null()) {
      if (!prediction.is_object()) fail("prediction", prediction, "an object or null");
      explanation.prediction.probability = list<float>(prediction, "probability");
      explanation.prediction_kept.probability = list<float>(prediction, "kept");
      explanation.prediction_removed.probability = list<float>(prediction, "removed");
    }
    complete_explanation(explanation, where_);
    return explanation;
  }

 private:
  [[noreturn]] void fail(const char* key, const Json& value, const char* expected) const {
    const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    throw_bad_input("{}: '{}' has {}{}, expected {}", where_, key, text.substr(0, 40),
                    text.size() > 40 ? "..." : "", expected);
  }
  const Json& field(const Json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) throw_bad_input("{}: there is no key '{}'", where_, key);
    return *found;
  }
  template <class T>
  T number(const Json& value, const char* key) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (!value.is_number()) fail(key, value, "a number");
      return value.get<T>();
    } else {
      const bool fits = value.is_number_unsigned()  ? std::in_range<T>(value.get<std::uint64_t>())
                        : value.is_number_integer() ? std::in_range<T>(value.get<std::int64_t>())
                                                    : false;
      if (!fits) fail(key, value, sizeof(T) == 4 ? "a whole number of 32 bits" : "a whole number");
      return value.get<T>();
    }
  }
  template <class T>
  std::vector<T> list(const Json& object, const char* key) const {
    const Json& values = field(object, key);
    if (!values.is_array()) fail(key, values, "a list");
    std::vector<T> result;
    result.reserve(values.size());
    for (const Json& value : values) result.push_back(number<T>(value, key));
    return result;
  }
  void read_instance(Instance& instance) const {
    const Json& value = field(json_, "instance");
    if (!value.is_array()) {
      instance.id = number<std::int64_t>(value, "instance");
      return;
    }
    if (value.size() != 2) fail("instance", value, "a number or, for a link, two");
    instance.id = number<std::int64_t>(value[0], "instance");
    instance.second = number<std::int64_t>(value[1], "instance");
    if (instance.second < 0) fail("instance", value, "numbers from 0 on");
  }
  void read_edges(Explanation& explanation) const {
    const Json& edges = field(json_, "edges");
    if (!edges.is_array()) fail("edges", edges, "a list");
    for (const Json& edge : edges) {
      if (!edge.is_array() || edge.size() != 3) fail("edges", edge, "[source, target, score]");
      explanation.source.push_back(number<NodeId>(edge[0], "edges"));
      explanation.target.push_back(number<NodeId>(edge[1], "edges"));
      explanation.score.push_back(number<float>(edge[2], "edges"));
    }
  }

  std::string where_;
  Json json_;
};

}  // namespace

std::string explanation_json(const Explanation& explanation, const std::string& file) {
  check_explanation(explanation,
                    fmt::format("{}: instance {}", file, instance_text(explanation.instance)));
  Text text;
  append_explanation(text, explanation);
  text.push_back('\n');
  return fmt::to_string(text);
}

std::vector<Explanation> read_explanations_json(const std::filesystem::path& path) {
  const std::string content = read_file_text(path);
  std::vector<Explanation> explanations;
  std::string_view rest = content;
  for (std::int64_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    const std::string_view row = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    explanations.push_back(LineReader(row, fmt::format("{}: line {}", path.string(), line)).read());
  }
  return explanations;
}

}  // namespace pgexplainer
