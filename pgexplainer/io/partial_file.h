// A file that is made over hours and may be interrupted: NAME.partial grows, NAME.partial.json says
// which job it is of and how far that has come, and commit() gives it its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pgexplainer {

/// Throws bad_input when the place cannot be written or another process is writing there, failed
/// when writing breaks off (full disk). What was written up to the last checkpoint stays; without
/// any, the destructor removes all.
class PartialFile {
 public:
  /// `job` names everything that the bytes depend on. `resume`: goes on from the last checkpoint,
  /// if there is one; throws if that is of another job. Else begins anew.
  PartialFile(const std::filesystem::path& target, std::string job, bool resume);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  /// What the caller noted at the checkpoint that is gone on from; null at the beginning.
  [[nodiscard]] const nlohmann::json& notes() const { return notes_; }
  void write(std::string_view bytes);
  /// From here it can be gone on, also when the machine stops.
  void checkpoint(const nlohmann::json& notes);
  void commit();
  /// For formats that are made from all that was written: it is on the disk, under this name, and
  /// discard() removes it.
  [[nodiscard]] const std::filesystem::path& finished_records();
  void discard();

 private:
  void flush();
  [[noreturn]] void fail(int code) const;

  std::filesystem::path target_, partial_, record_;
  std::string job_;
  nlohmann::json notes_;
  std::string buffer_;
  std::uint64_t bytes_ = 0;  // with those in the buffer
  bool kept_ = false;        // there is a checkpoint
  int file_ = -1;
};

}  // namespace pgexplainer
