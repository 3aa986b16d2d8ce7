// An output file that appears complete or not at all: written under a temporary name beside the
// target, flushed to the disk, then renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace pgexplainer {

/// Throws bad_input when the place cannot be written (no such folder, no permission), failed when
/// writing breaks off (full disk). Without commit() the destructor removes what was written.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();

 private:
  std::filesystem::path target_, temporary_;
  int file_ = -1;
};

/// Throws the Error for a system call on `path` that failed with `code` (errno) while writing.
[[noreturn]] void throw_write_error(const std::filesystem::path& path, int code);

}  // namespace pgexplainer
