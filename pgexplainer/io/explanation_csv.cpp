#include "pgexplainer/io/explanation_csv.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/text_table.h"

namespace pgexplainer {
namespace {

enum Column {
  kInstance,
  kSecond,
  kSource,
  kTarget,
  kEdge,
  kScore,
  kSelected,
  kSampled,
  kNumColumns
};
constexpr std::array<std::string_view, kNumColumns> kNames{
    "instance", "second", "source", "target", "edge", "score", "selected", "sampled"};

/// Tells whether an instance has come before.
class SeenInstances {
 public:
  bool insert(const Instance& instance) {
    return seen_.emplace(instance.id, instance.second).second;
  }

 private:
  std::set<std::pair<std::int64_t, std::int64_t>> seen_;
};

/// The table with its columns in the order of kNames, wherever they stand.
class NamedTable {
 public:
  explicit NamedTable(const std::filesystem::path& path) : table_(path) {
    if (!table_.next()) throw_bad_input("{}: the file is empty, expected a header", path.string());
    field_.fill(kMissing);
    for (std::size_t i = 0; i < table_.num_fields(); ++i)
      for (std::size_t c = 0; c < kNames.size(); ++c) {
        if (table_.text(i) != kNames[c]) continue;
        if (field_[c] != kMissing) table_.fail("there are two columns {}", kNames[c]);
        field_[c] = i;
      }
    for (std::size_t c = 0; c < kNames.size(); ++c)
      if (field_[c] == kMissing && c != kSampled)
        table_.fail("the header has no column {}; expected {}", kNames[c], fmt::join(kNames, ","));
  }

  bool next() { return table_.next(); }
  [[nodiscard]] const TextTable& table() const { return table_; }

  /// A number from 0 on, at most `most`.
  [[nodiscard]] std::int64_t id(Column column, std::int64_t most) const {
    const std::int64_t value = table_.integer(field_[column]);
    if (value < 0 || value > most)
      table_.fail("{} is {}, expected 0 to {}", kNames[column], value, most);
    return value;
  }
  [[nodiscard]] Instance instance() const {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    Instance instance{id(kInstance, kMost)};
    if (!table_.text(field_[kSecond]).empty()) instance.second = id(kSecond, kMost);
    return instance;
  }
  [[nodiscard]] bool sampled() const {
    return field_[kSampled] != kMissing && id(kSampled, 1) == 1;
  }
  [[nodiscard]] float score() const {
    const std::string_view text = table_.text(field_[kScore]);
    float value = 0;  // parsed as float at once: by way of double it would be rounded twice
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool plain = error == std::errc{} && end == text.data() + text.size();
    return plain && std::isfinite(value) ? value : table_.number(field_[kScore]);
  }

 private:
  static constexpr std::size_t kMissing = std::numeric_limits<std::size_t>::max();

  TextTable table_;
  std::array<std::size_t, kNumColumns> field_{};
};

}  // namespace

std::string explanation_csv(const Explanation& explanation, const std::string& file) {
  const Instance& instance = explanation.instance;
  check_explanation(explanation, fmt::format("{}: instance {}", file, instance_text(instance)));
  const std::string start = instance.is_link() ? fmt::format("{},{}", instance.id, instance.second)
                                               : fmt::format("{},", instance.id);
  fmt::memory_buffer text;
  for (std::size_t e = 0; e < explanation.edges.size(); ++e)
    fmt::format_to(fmt::appender(text), FMT_COMPILE("{},{},{},{},{},{},{}\n"), start,
                   explanation.source[e], explanation.target[e], explanation.edges[e],
                   explanation.score[e], explanation.selected[e] ? 1 : 0,
                   explanation.sampled ? 1 : 0);
  return fmt::to_string(text);
}

std::unique_ptr<ExplanationWriter> new_explanation_csv_writer(const std::filesystem::path& path,
                                                              WriterJob job) {
  auto writer = std::make_unique<ExplanationWriter>(path, explanation_csv, std::move(job));
  if (writer->notes().is_null()) writer->append(fmt::format("{}\n", fmt::join(kNames, ",")));
  return writer;
}

std::vector<Explanation> read_explanations_csv(const std::filesystem::path& path) {
  NamedTable table(path);
  SeenInstances seen;
  std::vector<Explanation> explanations;
  const auto complete_last = [&] {
    if (!explanations.empty())
      complete_explanation(explanations.back(),
                           fmt::format("{}: instance {}", path.string(),
                                       instance_text(explanations.back().instance)));
  };
  constexpr auto kMostNode = std::numeric_limits<NodeId>::max();
  constexpr auto kMostEdge = std::numeric_limits<EdgeId>::max();
  while (table.next()) {
    const Instance instance = table.instance();
    if (explanations.empty() || !(explanations.back().instance == instance)) {
      complete_last();
      if (!seen.insert(instance))
        table.table().fail("instance {} comes back; the lines of an instance must stand together",
                           instance_text(instance));
      explanations.emplace_back().instance = instance;
      explanations.back().sampled = table.sampled();
    }
    Explanation& explanation = explanations.back();
    explanation.source.push_back(static_cast<NodeId>(table.id(kSource, kMostNode)));
    explanation.target.push_back(static_cast<NodeId>(table.id(kTarget, kMostNode)));
    explanation.edges.push_back(table.id(kEdge, kMostEdge));
    explanation.score.push_back(table.score());
    explanation.selected.push_back(static_cast<std::uint8_t>(table.id(kSelected, 1)));
  }
  complete_last();
  return explanations;
}

}  // namespace pgexplainer
