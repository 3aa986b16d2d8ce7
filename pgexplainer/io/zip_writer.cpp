#include "pgexplainer/io/zip_writer.h"

#include <utility>

#include "pgexplainer/io/crc32.h"
#include "pgexplainer/io/zip_format.h"

namespace pgexplainer {
namespace {

/// Little-endian fields one after another.
class Record {
 public:
  template <class T>
  Record& put(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
    return *this;
  }
  Record& u16(std::uint16_t value) { return put(value); }
  Record& u32(std::uint32_t value) { return put(value); }
  Record& u64(std::uint64_t value) { return put(value); }
  Record& text(const std::string& value) {
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

constexpr std::uint16_t kVersion = 45;         // the first with ZIP64
constexpr std::uint16_t kUtf8Name = 0x800;     // flag
constexpr std::uint16_t kFirstOf1980 = 0x21;   // the zero of zip dates
constexpr std::uint16_t kSizesOfLocal = 20;    // bytes of the ZIP64 field of a local header
constexpr std::uint16_t kSizesOfCentral = 28;  // the same in the directory, with an offset

}  // namespace

std::uint64_t ZipWriter::data_offset(const std::string& name) const {
  return position_ + zip_format::kLocalHeader + name.size() + kSizesOfLocal;
}

void ZipWriter::write(std::span<const std::byte> bytes) {
  file_.write(bytes);
  position_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::span<const std::span<const std::byte>> parts) {
  Entry entry{name, 0, 0, position_};
  for (const auto part : parts) {
    entry.crc = crc32(part, entry.crc);
    entry.size += part.size();
  }
  Record header;
  header.u32(zip_format::kLocalMark).u16(kVersion).u16(kUtf8Name).u16(zip_format::kStored);
  header.u16(0).u16(kFirstOf1980).u32(entry.crc).u32(zip_format::kIn64).u32(zip_format::kIn64);
  header.u16(static_cast<std::uint16_t>(name.size())).u16(kSizesOfLocal).text(name);
  header.u16(zip_format::kZip64Field).u16(kSizesOfLocal - 4).u64(entry.size).u64(entry.size);
  write(header.bytes());
  for (const auto part : parts) write(part);
  entries_.push_back(std::move(entry));
}

void ZipWriter::commit() {
  const std::uint64_t begin = position_;
  for (const Entry& entry : entries_) {
    Record header;
    header.u32(zip_format::kCentralMark)
        .u16(kVersion)
        .u16(kVersion)
        .u16(kUtf8Name)
        .u16(zip_format::kStored);
    header.u16(0).u16(kFirstOf1980).u32(entry.crc).u32(zip_format::kIn64).u32(zip_format::kIn64);
    header.u16(static_cast<std::uint16_t>(entry.name.size())).u16(kSizesOfCentral).u16(0);
    header.u16(0).u16(0).u32(0).u32(zip_format::kIn64).text(entry.name);
    header.u16(zip_format::kZip64Field).u16(kSizesOfCentral - 4);
    header.u64(entry.size).u64(entry.size).u64(entry.offset);
    write(header.bytes());
  }
  const std::uint64_t end = position_;
  Record tail;
  tail.u32(zip_format::kEnd64Mark)
      .u64(zip_format::kEnd64 - 12)
      .u16(kVersion)
      .u16(kVersion)
      .u32(0)
      .u32(0);
  tail.u64(entries_.size()).u64(entries_.size()).u64(end - begin).u64(begin);
  tail.u32(zip_format::kLocatorMark).u32(0).u64(end).u32(1);
  tail.u32(zip_format::kEndMark).u16(0).u16(0).u16(0xFFFF).u16(0xFFFF);
  tail.u32(zip_format::kIn64).u32(zip_format::kIn64).u16(0);
  write(tail.bytes());
  file_.commit();
}

}  // namespace pgexplainer
