// Reading zip archives with libzip, believing no size before it is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

struct zip;
struct zip_file;

namespace pgexplainer {

/// The uncompressed bytes of one entry, from front to back.
class ZipEntryReader {
 public:
  [[nodiscard]] std::uint64_t remaining() const { return remaining_; }
  /// Throws if there are fewer bytes or they are damaged.
  void read(void* to, std::uint64_t count);
  /// To be called after the last byte: compares the checksum.
  void finish();

 private:
  friend class ZipReader;
  struct Closer {
    void operator()(zip_file* file) const;
  };
  ZipEntryReader(zip* archive, std::uint64_t index, std::string where, std::uint64_t file_size);
  [[noreturn]] void damaged() const;

  std::string where_;
  std::unique_ptr<zip_file, Closer> file_;
  std::uint64_t remaining_ = 0;
};

class ZipReader {
 public:
  /// Throws unless `path` is a zip archive with a whole directory; `kind` says in the message what
  /// was expected, ".npz" for example.
  ZipReader(const std::filesystem::path& path, const std::string& kind);

  [[nodiscard]] std::uint64_t num_entries() const { return num_entries_; }
  [[nodiscard]] std::string name(std::uint64_t index) const;
  /// Messages start with `where`. Throws if the entry claims more bytes than the archive can hold.
  [[nodiscard]] ZipEntryReader open(std::uint64_t index, std::string where) const;

 private:
  struct Closer {
    void operator()(zip* archive) const;
  };
  std::filesystem::path path_;
  std::uint64_t file_size_;
  std::unique_ptr<zip, Closer> archive_;
  std::uint64_t num_entries_ = 0;
};

/// An entry whose bytes lie uncompressed in the archive.
struct StoredEntry {
  std::uint64_t offset;
  std::uint64_t size;
  std::uint32_t crc;
};

/// By name, for reading in place. Offset and size are inside the archive, the checksum is not yet
/// compared. What is compressed, encrypted or oddly laid out is left to ZipReader.
std::map<std::string, StoredEntry> stored_entries(std::span<const std::byte> archive);

/// Unpacks all files of an archive into an existing folder. A first folder that all entries share
/// is dropped. Throws for names that lead elsewhere: absolute ones, and those with "..".
void unpack_zip(const std::filesystem::path& archive, const std::filesystem::path& folder);

}  // namespace pgexplainer
