// An output folder that appears complete or not at all: filled under a temporary name, then
// renamed.
#pragma once

#include <filesystem>

namespace pgexplainer {

/// Throws bad_input if the target exists and is not an empty folder, or its parent cannot be
/// written. Without commit() the destructor removes everything.
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::filesystem::path& target);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// Where to put the files until commit().
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  void commit();

 private:
  std::filesystem::path target_, temporary_;
};

}  // namespace pgexplainer
