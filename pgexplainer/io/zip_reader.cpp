#include "pgexplainer/io/zip_reader.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/io/zip_format.h"

namespace pgexplainer {

void ZipEntryReader::Closer::operator()(zip_file* file) const { zip_fclose(file); }
void ZipReader::Closer::operator()(zip* archive) const { zip_discard(archive); }

ZipEntryReader::ZipEntryReader(zip* archive, std::uint64_t index, std::string where,
                               std::uint64_t file_size)
    : where_(std::move(where)) {
  zip_stat_t status;
  zip_stat_init(&status);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive, index, 0, &status) != 0 || (status.valid & kNeeded) != kNeeded)
    throw_bad_input("{} has a damaged zip entry", where_);
  // Deflate cannot shrink data by more than a factor of 1032; a larger claim is a lie.
  constexpr std::uint64_t kDeflateLimit = 1032;
  const bool stored = status.comp_method == ZIP_CM_STORE;
  if (status.comp_size > file_size || (stored && status.size != status.comp_size) ||
      status.size / kDeflateLimit > status.comp_size)
    throw_bad_input("{} claims {} bytes, more than the file can hold", where_, status.size);
  remaining_ = status.size;
  file_.reset(zip_fopen_index(archive, index, 0));
  if (!file_) throw_bad_input("{} cannot be unpacked: {}", where_, zip_strerror(archive));
}

void ZipEntryReader::damaged() const {
  throw_bad_input("{} is damaged: {}", where_, zip_file_strerror(file_.get()));
}

void ZipEntryReader::read(void* to, std::uint64_t count) {
  if (count > remaining_) throw_bad_input("{} is truncated", where_);
  remaining_ -= count;
  auto* out = static_cast<char*>(to);
  while (count > 0) {
    const zip_int64_t done = zip_fread(file_.get(), out, std::min<std::uint64_t>(count, 1U << 30));
    if (done <= 0) damaged();
    out += done;
    count -= static_cast<std::uint64_t>(done);
  }
}

void ZipEntryReader::finish() {
  char extra = 0;  // reading past the end is what makes libzip compare the checksum
  if (zip_fread(file_.get(), &extra, 1) != 0) damaged();
}

ZipReader::ZipReader(const std::filesystem::path& path, const std::string& kind)
    : path_(path), file_size_(check_readable_file(path)) {
  int code = 0;
  archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive_)
    throw_bad_input("{}: is not a whole {} file; it is truncated or something else", path.string(),
                    kind);
  num_entries_ = static_cast<std::uint64_t>(zip_get_num_entries(archive_.get(), 0));
}

std::string ZipReader::name(std::uint64_t index) const {
  const char* name = zip_get_name(archive_.get(), index, 0);
  if (name == nullptr) throw_bad_input("{}: entry {} has no name", path_.string(), index);
  return name;
}

ZipEntryReader ZipReader::open(std::uint64_t index, std::string where) const {
  return {archive_.get(), index, std::move(where), file_size_};
}

namespace {

/// Little-endian numbers in bytes of any size; throws nothing: beyond the end all is zero.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::size_t width) const {
    std::uint64_t value = 0;
    if (!holds(at, width)) return value;
    for (std::size_t i = 0; i < width; ++i)
      value |= std::to_integer<std::uint64_t>(bytes_[at + i]) << (8 * i);
    return value;
  }
  [[nodiscard]] std::uint64_t u16(std::uint64_t at) const { return number(at, 2); }
  [[nodiscard]] std::uint64_t u32(std::uint64_t at) const { return number(at, 4); }
  [[nodiscard]] std::uint64_t u64(std::uint64_t at) const { return number(at, 8); }
  [[nodiscard]] bool holds(std::uint64_t at, std::uint64_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  [[nodiscard]] std::string text(std::uint64_t at, std::uint64_t count) const {
    return {reinterpret_cast<const char*>(bytes_.data() + at), count};
  }

 private:
  std::span<const std::byte> bytes_;
};

struct Directory {
  std::uint64_t offset, entries;
};

std::optional<Directory> find_directory(const Fields& archive, std::uint64_t size) {
  using namespace zip_format;
  constexpr std::uint64_t kLongestComment = 0xFFFF;
  for (std::uint64_t tail = kEnd; tail <= std::min(size, kEnd + kLongestComment); ++tail) {
    const std::uint64_t end = size - tail;
    if (archive.u32(end) != kEndMark || kEnd + archive.u16(end + 20) != tail) continue;
    if (end >= kLocator && archive.u32(end - kLocator) == kLocatorMark) {
      const std::uint64_t end64 = archive.u64(end - kLocator + 8);
      if (archive.u32(end64) != kEnd64Mark) return std::nullopt;
      return Directory{archive.u64(end64 + 48), archive.u64(end64 + 32)};
    }
    return Directory{archive.u32(end + 16), archive.u16(end + 10)};
  }
  return std::nullopt;
}

/// Replaces those numbers that stand in the ZIP64 field; false if there is no such field.
bool take_zip64(const Fields& archive, std::uint64_t begin, std::uint64_t length,
                std::span<std::uint64_t* const> numbers) {
  using namespace zip_format;
  const auto is_elsewhere = [](const std::uint64_t* number) { return *number == kIn64; };
  if (std::none_of(numbers.begin(), numbers.end(), is_elsewhere)) return true;
  for (std::uint64_t at = begin; at + 4 <= begin + length; at += 4 + archive.u16(at + 2)) {
    if (archive.u16(at) != kZip64Field) continue;
    std::uint64_t next = at + 4;
    for (std::uint64_t* number : numbers)
      if (is_elsewhere(number)) {
        *number = archive.u64(next);
        next += 8;
      }
    return next <= at + 4 + archive.u16(at + 2);
  }
  return false;
}

}  // namespace

std::map<std::string, StoredEntry> stored_entries(std::span<const std::byte> archive) {
  using namespace zip_format;
  std::map<std::string, StoredEntry> result;
  const Fields fields(archive);
  const auto directory = find_directory(fields, archive.size());
  if (!directory) return result;
  std::uint64_t at = directory->offset;
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    const std::uint64_t name = fields.u16(at + 28);
    const std::uint64_t extra = fields.u16(at + 30);
    if (fields.u32(at) != kCentralMark || !fields.holds(at, kCentralHeader + name + extra)) break;
    std::uint64_t packed = fields.u32(at + 20);
    std::uint64_t size = fields.u32(at + 24);
    std::uint64_t local = fields.u32(at + 42);
    const std::array<std::uint64_t*, 3> numbers{&size, &packed, &local};  // in the field's order
    const bool encrypted = fields.u16(at + 8) % 2 != 0;
    const bool known = take_zip64(fields, at + kCentralHeader + name, extra, numbers);
    const std::uint64_t data =
        local + kLocalHeader + fields.u16(local + 26) + fields.u16(local + 28);
    if (known && !encrypted && fields.u16(at + 10) == kStored && packed == size &&
        fields.u32(local) == kLocalMark && data >= local && fields.holds(data, size))
      result[fields.text(at + kCentralHeader, name)] = {
          data, size, static_cast<std::uint32_t>(fields.u32(at + 16))};
    at += kCentralHeader + name + extra + fields.u16(at + 32);
  }
  return result;
}

void unpack_zip(const std::filesystem::path& archive, const std::filesystem::path& folder) {
  const ZipReader reader(archive, "zip");
  std::vector<std::filesystem::path> paths;
  std::set<std::filesystem::path> first_parts;
  for (std::uint64_t i = 0; i < reader.num_entries(); ++i) {
    const std::string name = reader.name(i);
    paths.emplace_back(name);
    const auto& path = paths.back();
    if (name.empty() || path.is_absolute() || name.find('\\') != std::string::npos ||
        std::find(path.begin(), path.end(), "..") != path.end())
      throw_bad_input("{}: refusing the entry '{}', which leads outside the folder",
                      archive.string(), name);
    // A file on the top level keeps everything where it is.
    first_parts.insert(path.has_parent_path() ? *path.begin() : std::filesystem::path{});
  }
  const bool drop_first = first_parts.size() == 1 && !first_parts.begin()->empty();

  std::vector<std::byte> buffer(1 << 20);
  for (std::uint64_t i = 0; i < reader.num_entries(); ++i) {
    if (!paths[i].has_filename()) continue;  // a folder
    const auto inside = drop_first ? paths[i].lexically_relative(*paths[i].begin()) : paths[i];
    std::error_code error;
    std::filesystem::create_directories((folder / inside).parent_path(), error);
    if (error) throw_write_error(folder / inside, error.value());
    ZipEntryReader entry =
        reader.open(i, fmt::format("{}: entry {}", archive.string(), paths[i].string()));
    AtomicFile file(folder / inside);
    while (entry.remaining() > 0) {
      const std::uint64_t count = std::min<std::uint64_t>(entry.remaining(), buffer.size());
      entry.read(buffer.data(), count);
      file.write(std::span(buffer).first(count));
    }
    entry.finish();
    file.commit();
  }
}

}  // namespace pgexplainer
