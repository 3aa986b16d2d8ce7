// Writing zip archives: entries uncompressed, straight from memory. ZIP64 throughout (PKWARE
// APPNOTE 4.5.3), so that a small file and one of many gigabytes are written alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "pgexplainer/io/atomic_file.h"

namespace pgexplainer {

class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path) {}

  /// Where in the file the data of an entry of this name begin if it is added next.
  [[nodiscard]] std::uint64_t data_offset(const std::string& name) const;
  /// The parts follow each other. Dated 1 January 1980: the same content gives the same bytes.
  void add(const std::string& name, std::span<const std::span<const std::byte>> parts);
  void commit();

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc;
    std::uint64_t size, offset;
  };
  void write(std::span<const std::byte> bytes);

  AtomicFile file_;
  std::uint64_t position_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace pgexplainer
