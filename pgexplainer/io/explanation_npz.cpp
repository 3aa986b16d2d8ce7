#include "pgexplainer/io/explanation_npz.h"

#include <fstream>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/io/npz.h"

namespace pgexplainer {
namespace {

/// Rows of one width, end to end.
class Rows {
 public:
  Rows(const char* name, const std::string& file) : name_(name), file_(file) {}

  void append(const std::vector<float>& row, const Instance& instance) {
    if (count_ > 0 && row.size() != width_)
      throw_bad_input(
          "{}: instance {} has {} values for array {}, those before it {}; a .jsonl can hold both",
          file_, instance_text(instance), row.size(), name_, width_);
    width_ = row.size();
    ++count_;
    values_.insert(values_.end(), row.begin(), row.end());
  }
  /// Nothing where no instance has values.
  void store(std::map<std::string, NpyArray>& arrays) const {
    if (width_ > 0)
      arrays[name_] = NpyArray::from(std::span<const float>(values_),
                                     {count_, static_cast<std::int64_t>(width_)});
  }

 private:
  std::string name_, file_;
  std::int64_t count_ = 0;
  std::size_t width_ = 0;
  std::vector<float> values_;
};

template <class T>
void append(std::vector<T>& values, const std::vector<T>& more) {
  values.insert(values.end(), more.begin(), more.end());
}

/// As NumPy stores ids.
template <class T>
NpyArray ids(const std::vector<T>& values) {
  return NpyArray::from(std::vector<std::int64_t>(values.begin(), values.end()));
}

/// Lists of several lengths, end to end.
template <class T>
class Lists {
 public:
  void append(const std::vector<T>& list) {
    pgexplainer::append(values_, list);
    ptr_.push_back(static_cast<std::int64_t>(values_.size()));
  }
  [[nodiscard]] NpyArray ptr() const { return NpyArray::from(ptr_); }
  [[nodiscard]] NpyArray values() const { return ids(values_); }

 private:
  std::vector<std::int64_t> ptr_{0};
  std::vector<T> values_;
};

/// The numbers of one explanation as bytes, as they lie in memory: read by the same program only.
class Packer {
 public:
  void value(std::int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 8); }
  template <class T>
  void list(const std::vector<T>& values) {
    value(static_cast<std::int64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(const std::filesystem::path& path)
      : path_(path), stream_(path, std::ios::binary) {}

  bool at_end() { return stream_.peek() == std::ifstream::traits_type::eof(); }
  std::int64_t value() {
    std::int64_t value = 0;
    read(&value, sizeof value);
    return value;
  }
  template <class T>
  void list(std::vector<T>& values) {
    values.resize(at(value()));
    read(values.data(), values.size() * sizeof(T));
  }

 private:
  void read(void* to, std::size_t bytes) {
    if (!stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)))
      throw_failed("{}: cannot be read back", path_.string());
  }

  std::filesystem::path path_;
  std::ifstream stream_;
};

/// What pack and unpack walk through, in this order.
template <class Archive, class SomeExplanation>
void lists_of(Archive& archive, SomeExplanation& explanation) {
  archive.list(explanation.edges);
  archive.list(explanation.source);
  archive.list(explanation.target);
  archive.list(explanation.score);
  archive.list(explanation.selected);
  archive.list(explanation.nodes);
  archive.list(explanation.targets);
  archive.list(explanation.prediction.probability);
  archive.list(explanation.prediction_kept.probability);
  archive.list(explanation.prediction_removed.probability);
  archive.list(explanation.feature_score);
}

/// All explanations as arrays.
class NpzArraysOf {
 public:
  explicit NpzArraysOf(const std::string& file) : file_(file) {}

  void append(const Explanation& explanation) {
    const Instance& instance = explanation.instance;
    probability_.append(explanation.prediction.probability, instance);
    probability_kept_.append(explanation.prediction_kept.probability, instance);
    probability_removed_.append(explanation.prediction_removed.probability, instance);
    confidence_.push_back(static_cast<float>(explanation.confidence()));
    feature_score_.append(explanation.feature_score, instance);
    instance_.push_back(instance.id);
    second_.push_back(instance.second);
    sampled_.push_back(explanation.sampled ? 1 : 0);
    edge_.append(explanation.edges);
    pgexplainer::append(source_, explanation.source);
    pgexplainer::append(target_, explanation.target);
    pgexplainer::append(score_, explanation.score);
    for (const std::uint8_t flag : explanation.selected) selected_.push_back(flag ? 1 : 0);
    node_.append(explanation.nodes);
    target_node_.append(explanation.targets);
  }

  [[nodiscard]] std::map<std::string, NpyArray> arrays() const {
    std::map<std::string, NpyArray> arrays;
    for (const Rows* rows :
         {&probability_, &probability_kept_, &probability_removed_, &feature_score_})
      rows->store(arrays);
    arrays["instance"] = NpyArray::from(instance_);
    arrays["second"] = NpyArray::from(second_);
    arrays["sampled"] = NpyArray::from_mask(sampled_);
    arrays["confidence"] = NpyArray::from(confidence_);
    arrays["edge_ptr"] = edge_.ptr();
    arrays["edge"] = edge_.values();
    std::vector<std::int64_t> ends(source_.begin(), source_.end());
    ends.insert(ends.end(), target_.begin(), target_.end());
    arrays["edge_index"] = NpyArray::from(std::span<const std::int64_t>(ends),
                                          {2, static_cast<std::int64_t>(source_.size())});
    arrays["score"] = NpyArray::from(score_);
    arrays["selected"] = NpyArray::from_mask(selected_);
    arrays["node_ptr"] = node_.ptr();
    arrays["node"] = node_.values();
    arrays["target_ptr"] = target_node_.ptr();
    arrays["target"] = target_node_.values();
    return arrays;
  }

 private:
  std::string file_;
  std::vector<std::int64_t> instance_, second_;
  std::vector<std::uint8_t> sampled_;
  std::vector<float> confidence_;  ///< Explanation::confidence, for readers in other languages
  Lists<EdgeId> edge_;
  Lists<NodeId> node_, target_node_;
  std::vector<NodeId> source_, target_;  ///< of each edge, as score_ and selected_
  std::vector<float> score_;
  std::vector<std::uint8_t> selected_;
  Rows probability_{"probability", file_};
  Rows probability_kept_{"probability_kept", file_};
  Rows probability_removed_{"probability_removed", file_};
  Rows feature_score_{"feature_score", file_};
};

class NpzWriter : public ExplanationWriter {
 public:
  using ExplanationWriter::ExplanationWriter;

  void commit() override {
    NpzArraysOf all(path_.string());
    Unpacker unpacker(file_.finished_records());
    for (Explanation explanation; !unpacker.at_end();) {
      explanation.instance.id = unpacker.value();
      explanation.instance.second = unpacker.value();
      explanation.sampled = unpacker.value() != 0;
      lists_of(unpacker, explanation);
      all.append(explanation);
    }
    write_npz(path_, all.arrays());
    file_.discard();
  }
};

/// Pointers of `count` lists into `total` values, checked.
std::vector<std::int64_t> read_ptr(const NpzArrays& arrays, const std::string& name,
                                   std::size_t count, std::size_t total) {
  const std::string file = arrays.path().string();
  auto ptr = arrays.list<std::int64_t>(name);
  if (ptr.size() != count + 1)
    throw_bad_input("{}: array {} has {} entries, expected {}, one more than instances", file, name,
                    ptr.size(), count + 1);
  for (std::size_t i = 0; i < count; ++i)
    if (ptr[i] > ptr[i + 1])
      throw_bad_input("{}: array {} falls from {} to {} at position {}", file, name, ptr[i],
                      ptr[i + 1], i + 1);
  if (ptr.front() != 0 || !std::in_range<std::size_t>(ptr.back()) || at(ptr.back()) != total)
    throw_bad_input("{}: array {} goes from {} to {}, expected 0 to {}", file, name, ptr.front(),
                    ptr.back(), total);
  return ptr;
}

template <class T>
std::vector<T> part(const std::vector<T>& values, const std::vector<std::int64_t>& ptr,
                    std::size_t i) {
  return {values.begin() + ptr[i], values.begin() + ptr[i + 1]};
}

/// One row per instance; empty when the array is not there.
Matrix<float> read_rows(const NpzArrays& arrays, const std::string& name, std::size_t count) {
  if (!arrays.contains(name)) return Matrix<float>(static_cast<Index>(count), 0);
  Matrix<float> rows = arrays.matrix<float>(name);
  if (rows.rows() != static_cast<Index>(count))
    throw_bad_input("{}: array {} has {} rows, expected one per instance, {}",
                    arrays.path().string(), name, rows.rows(), count);
  return rows;
}

std::vector<float> row_of(const Matrix<float>& rows, std::size_t i) {
  const float* begin = rows.data() + static_cast<Index>(i) * rows.cols();
  return {begin, begin + rows.cols()};
}

}  // namespace

std::string explanation_record(const Explanation& explanation, const std::string& file) {
  check_explanation(explanation,
                    fmt::format("{}: instance {}", file, instance_text(explanation.instance)));
  Packer packer;
  packer.value(explanation.instance.id);
  packer.value(explanation.instance.second);
  packer.value(explanation.sampled ? 1 : 0);
  lists_of(packer, explanation);
  return packer.take();
}

std::unique_ptr<ExplanationWriter> new_explanation_npz_writer(const std::filesystem::path& path,
                                                              WriterJob job) {
  return std::make_unique<NpzWriter>(path, explanation_record, std::move(job));
}

std::vector<Explanation> read_explanations_npz(const std::filesystem::path& path) {
  const NpzArrays arrays = read_npz(path);
  const std::string file = path.string();
  const auto instance = arrays.list<std::int64_t>("instance");
  const std::size_t count = instance.size();
  const auto edge = arrays.list<EdgeId>("edge");
  const auto expect_length = [&](std::size_t length, const char* name, std::size_t expected) {
    if (length != expected)
      throw_bad_input("{}: array {} has {} entries, expected {}", file, name, length, expected);
  };
  const auto second = arrays.list<std::int64_t>("second");
  expect_length(second.size(), "second", count);
  const auto& shape = arrays.shape("edge_index");
  if (shape != std::vector<std::int64_t>{2, static_cast<std::int64_t>(edge.size())})
    throw_bad_input("{}: array edge_index has shape {}, expected (2, {}) as array edge", file,
                    shape_text(shape), edge.size());
  const auto ends = arrays.vector<NodeId>("edge_index");
  const std::vector<NodeId> source(ends.begin(), ends.begin() + static_cast<Index>(edge.size()));
  const std::vector<NodeId> target(ends.begin() + static_cast<Index>(edge.size()), ends.end());
  const auto score = arrays.list<float>("score");
  expect_length(score.size(), "score", edge.size());
  const auto selected = arrays.mask("selected");
  expect_length(selected.size(), "selected", edge.size());
  std::vector<std::uint8_t> sampled(count, 0);
  if (arrays.contains("sampled")) sampled = arrays.mask("sampled");
  expect_length(sampled.size(), "sampled", count);
  const auto node = arrays.list<NodeId>("node");
  const auto target_node = arrays.list<NodeId>("target");
  const auto edge_ptr = read_ptr(arrays, "edge_ptr", count, edge.size());
  const auto node_ptr = read_ptr(arrays, "node_ptr", count, node.size());
  const auto target_ptr = read_ptr(arrays, "target_ptr", count, target_node.size());
  const Matrix<float> probability = read_rows(arrays, "probability", count);
  const Matrix<float> kept = read_rows(arrays, "probability_kept", count);
  const Matrix<float> removed = read_rows(arrays, "probability_removed", count);
  const Matrix<float> feature_score = read_rows(arrays, "feature_score", count);

  std::vector<Explanation> explanations(count);
  for (std::size_t i = 0; i < count; ++i) {
    Explanation& explanation = explanations[i];
    explanation.instance = {instance[i], second[i]};
    explanation.sampled = sampled[i] != 0;
    explanation.nodes = part(node, node_ptr, i);
    explanation.targets = part(target_node, target_ptr, i);
    explanation.edges = part(edge, edge_ptr, i);
    explanation.source = part(source, edge_ptr, i);
    explanation.target = part(target, edge_ptr, i);
    explanation.score = part(score, edge_ptr, i);
    explanation.selected = part(selected, edge_ptr, i);
    explanation.prediction.probability = row_of(probability, i);
    explanation.prediction_kept.probability = row_of(kept, i);
    explanation.prediction_removed.probability = row_of(removed, i);
    explanation.feature_score = row_of(feature_score, i);
    complete_explanation(explanation,
                         fmt::format("{}: instance {} at position {}", file, instance[i], i));
  }
  return explanations;
}

}  // namespace pgexplainer
