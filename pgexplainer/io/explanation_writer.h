// What all formats of explanations share: a writer whose encoding runs on many threads and which
// can be gone on with after an interruption, and the demands on an explanation that is written or
// was read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "pgexplainer/explain/explanation.h"
#include "pgexplainer/io/partial_file.h"

namespace pgexplainer {

/// Which job writes and whether it goes on from a checkpoint, as PartialFile says.
struct WriterJob {
  std::string name;
  bool resume = false;
};

/// The bytes of one explanation in some format; throws, naming the file, unless it is valid. For
/// several threads at once.
using ExplanationEncoder = std::string (*)(const Explanation& explanation, const std::string& file);

/// The file appears with commit(), complete, or not at all. Throws bad_input when the place cannot
/// be written (at once, not after hours of explaining) or an explanation is not valid, failed when
/// writing breaks off. Every instance may be written once.
class ExplanationWriter {
 public:
  ExplanationWriter(const std::filesystem::path& path, ExplanationEncoder encode, WriterJob job);
  virtual ~ExplanationWriter() = default;

  void write(const Explanation& explanation) { append(encode_(explanation, path_.string())); }
  /// What the encoder of the format made of the next explanations, one after the other.
  void append(std::string_view encoded) { file_.write(encoded); }

  /// As of PartialFile.
  [[nodiscard]] const nlohmann::json& notes() const { return file_.notes(); }
  void checkpoint(const nlohmann::json& notes) { file_.checkpoint(notes); }
  virtual void commit() { file_.commit(); }

 protected:
  std::filesystem::path path_;
  ExplanationEncoder encode_;
  PartialFile file_;
};

/// "5", or "5-7" for a link.
std::string instance_text(const Instance& instance);

/// Throws, naming `where`, unless the lists of edges are equally long, every id is a number from 0
/// on, every number is finite, and all three predictions know the same classes (the last two may be
/// empty).
void check_explanation(const Explanation& explanation, const std::string& where);

/// For readers: as check_explanation, and an edge may occur once; then finds `reverse`, which no
/// format stores. The k-th of parallel edges, by id, pairs with the k-th of the reversed ones, as
/// in Graph.
void complete_explanation(Explanation& explanation, const std::string& where);

}  // namespace pgexplainer
