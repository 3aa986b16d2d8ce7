#include "pgexplainer/io/npz.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/crc32.h"
#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/io/zip_reader.h"
#include "pgexplainer/parallel/pieces.h"

namespace pgexplainer {
namespace {

// The parts of an .npy header, a Python dictionary of exactly three keys.
struct NpyHeader {
  std::string dtype;
  std::vector<std::int64_t> shape;
};

// Reads the dictionary NumPy writes: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    std::optional<std::string> dtype;
    std::optional<bool> fortran;
    std::optional<std::vector<std::int64_t>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !dtype)
        dtype = parse_dtype();
      else if (key == "fortran_order" && !fortran)
        fortran = boolean();
      else if (key == "shape" && !shape)
        shape = tuple();
      else
        broken();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (position_ != text_.size() || !dtype || !fortran || !shape) broken();
    if (*fortran)
      throw_bad_input(
          "{} is stored in Fortran order; save it as numpy.ascontiguousarray(...) instead", where_);
    return {*dtype, *shape};
  }

 private:
  [[noreturn]] void broken() const {
    throw_bad_input("{} has a broken .npy header: '{}'", where_, printable());
  }
  std::string printable() const {
    std::string result;
    for (const char c : text_.substr(0, 80)) result += c >= ' ' && c <= '~' ? c : '?';
    return result.substr(0, result.find_last_not_of(" ?") + 1);
  }
  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n'))
      ++position_;
  }
  bool accept(char c) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken();
  }
  std::string quoted() {
    skip_space();
    if (position_ == text_.size()) broken();
    const char quote = text_[position_];
    if (quote != '\'' && quote != '"') broken();
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) broken();
    std::string result(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return result;
  }
  std::string parse_dtype() {
    skip_space();
    if (position_ < text_.size() && text_[position_] == '[')
      throw_bad_input("{} is a structured array, expected plain numbers", where_);
    return quoted();
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return word == "True";
      }
    broken();
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> result;
    expect('(');
    while (!accept(')')) {
      skip_space();
      if (position_ < text_.size() && text_[position_] == '-')
        throw_bad_input("{} has a negative length in its shape", where_);
      std::int64_t value = 0;
      const std::size_t begin = position_;
      for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9';
           ++position_) {
        if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10)
          throw_bad_input("{} has an impossibly large shape", where_);
        value = value * 10 + (text_[position_] - '0');
      }
      if (position_ == begin) broken();
      result.push_back(value);
      if (result.size() > 32) throw_bad_input("{} has more than 32 dimensions", where_);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t position_ = 0;
};

// Bytes of one entry of a dtype such as "<f4"; throws for what cannot be a plain array.
std::uint64_t item_size(const std::string& dtype, const std::string& where) {
  if (dtype.size() >= 2 && dtype[0] == '>')
    throw_bad_input("{} is big-endian ({}); save it as little-endian, e.g. .astype('<{}')", where,
                    dtype, dtype.substr(1));
  if (dtype.size() >= 2 && dtype.find('O') != std::string::npos)
    throw_bad_input("{} holds Python objects ({}), which are never loaded; save plain numbers",
                    where, dtype);
  const bool known =
      dtype.size() >= 3 && dtype.size() <= 8 && (dtype[0] == '<' || dtype[0] == '|') &&
      std::string_view("biufcUS").find(dtype[1]) != std::string_view::npos &&
      std::all_of(dtype.begin() + 2, dtype.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!known)
    throw_bad_input("{} has the type '{}', expected numbers such as '<f4' or '<i8'", where, dtype);
  const auto width = static_cast<std::uint64_t>(std::stoul(dtype.substr(2)));
  return dtype[1] == 'U' ? 4 * width : width;
}

template <class... T>
struct TypeList {};
using Numbers = TypeList<float, double, Eigen::half, std::int8_t, std::int16_t, std::int32_t,
                         std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

template <class T>
std::string dtype_of() {
  const char kind = !std::is_integral_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  return fmt::format("{}{}{}", sizeof(T) == 1 ? '|' : '<', kind, sizeof(T));
}

// Calls visit(T{}) for the number type named by dtype; false if it is not a number.
template <class Visit, class... T>
bool visit_dtype(const std::string& dtype, Visit&& visit, TypeList<T...>) {
  const auto try_type = [&](auto example) {
    if (dtype != dtype_of<decltype(example)>()) return false;
    visit(example);
    return true;
  };
  if (dtype == "|b1") {
    visit(std::uint8_t{});
    return true;
  }
  return (try_type(T{}) || ...);
}

template <class T>
T widened(T value) {
  return value;
}
float widened(Eigen::half value) { return static_cast<float>(value); }

template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_integral_v<To>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>) {
    return !std::isfinite(value) || std::abs(value) <= std::numeric_limits<float>::max();
  } else {
    return true;
  }
}

constexpr std::size_t kCopiedAtOnce = std::size_t{4} << 20;  // bytes

/// Writes array.size() values to `result`.
template <class To>
void convert(const NpyArray& array, const std::string& where, To* result) {
  const auto count = static_cast<std::size_t>(array.size());
  if (array.dtype == dtype_of<To>() || (array.dtype == "|b1" && sizeof(To) == 1)) {
    for_each_piece(array.data.size(), kCopiedAtOnce, [&](std::size_t begin, std::size_t end) {
      if (begin < end)
        std::memcpy(reinterpret_cast<std::byte*>(result) + begin, array.data.data() + begin,
                    end - begin);
    });
    return;
  }
  const bool is_number = visit_dtype(
      array.dtype,
      [&](auto example) {
        using From = decltype(example);
        if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
          throw_bad_input("{} has the type '{}', expected whole numbers such as '<i8'", where,
                          array.dtype);
        } else {
          const std::byte* read = array.data.data();
          for (std::size_t i = 0; i < count; ++i, read += sizeof(From)) {
            From stored;
            std::memcpy(&stored, read, sizeof(From));
            const auto value = widened(stored);
            if (!fits<To>(value))
              throw_bad_input("{} has the value {} at position {}, which does not fit {}", where,
                              value, i, dtype_of<To>());
            result[i] = static_cast<To>(value);
          }
        }
      },
      Numbers{});
  if (!is_number)
    throw_bad_input("{} has the type '{}', expected numbers such as '<f4' or '<i8'", where,
                    array.dtype);
}

void append_utf8(std::string& text, char32_t character) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0 | character >> 6);
    put(0x80 | (character & 0x3F));
  } else if (character < 0x10000) {
    put(0xE0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  } else {
    put(0xF0 | (character >> 18 & 0x07));
    put(0x80 | (character >> 12 & 0x3F));
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  }
}

// Bytes that are not UTF-8 become the replacement character.
std::u32string decode_utf8(std::string_view text) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80       ? 1
                               : first >> 5 == 6  ? 2
                               : first >> 4 == 14 ? 3
                               : first >> 3 == 30 ? 4
                                                  : 0;
    char32_t character = length == 1 ? first : first & (0xFFU >> (length + 1));
    bool valid = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      valid = next >> 6 == 2;
      character = character << 6 | (next & 0x3FU);
    }
    result += valid ? character : U'\uFFFD';
    i += valid ? length : 1;
  }
  return result;
}

std::string array_name(const std::filesystem::path& path, const std::string& name) {
  return fmt::format("{}: array {}", path.string(), name);
}

/// The array in the bytes of an .npy file, which it keeps alive.
NpyArray parse_npy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                   const std::string& where) {
  const auto take = [&](std::uint64_t count) {
    if (count > bytes.size()) throw_bad_input("{} is truncated", where);
    const std::string_view taken(reinterpret_cast<const char*>(bytes.data()), count);
    bytes = bytes.subspan(count);
    return taken;
  };
  const auto byte = [](char c) { return std::uint64_t{static_cast<unsigned char>(c)}; };
  const std::string_view start = take(10);
  if (!start.starts_with("\x93NUMPY"))
    throw_bad_input("{} does not start with the mark of an .npy array", where);
  const std::uint64_t major = byte(start[6]);
  if (major < 1 || major > 3 || start[7] != 0)
    throw_bad_input("{} is in .npy version {}.{}; versions 1.0, 2.0 and 3.0 can be read", where,
                    major, byte(start[7]));
  std::uint64_t length = byte(start[8]) + (byte(start[9]) << 8);
  if (major > 1) {
    const std::string_view more = take(2);
    length += (byte(more[0]) << 16) + (byte(more[1]) << 24);
  }
  if (length > bytes.size()) throw_bad_input("{} has an .npy header longer than the array", where);
  NpyHeader header = HeaderParser(take(length), where).parse();

  std::uint64_t needed = item_size(header.dtype, where);
  for (const std::int64_t extent : header.shape) {
    const auto factor = static_cast<std::uint64_t>(extent);
    if (factor > 0 && needed > std::numeric_limits<std::int64_t>::max() / factor)
      throw_bad_input("{} has an impossibly large shape {}", where, shape_text(header.shape));
    needed *= factor;
  }
  if (needed != bytes.size())
    throw_bad_input("{} has shape {} of type '{}', which needs {} bytes, but holds {}", where,
                    shape_text(header.shape), header.dtype, needed, bytes.size());
  return {std::move(header.dtype), std::move(header.shape), {bytes, owner}};
}

NpyArray unpack_npy(const ZipReader& archive, std::uint64_t index, const std::string& where) {
  ZipEntryReader reader = archive.open(index, where);
  const auto bytes = std::make_shared<std::vector<std::byte>>(reader.remaining());
  reader.read(bytes->data(), bytes->size());
  reader.finish();
  return parse_npy(*bytes, bytes, where);
}

/// The start of an .npy file whose first byte is at `offset` in the archive.
std::string npy_header(const std::string& dtype, const std::vector<std::int64_t>& shape,
                       std::uint64_t offset) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   dtype, shape_text(shape));
  header.append(kNpzAlignment - 1 - (offset + 10 + header.size()) % kNpzAlignment, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() % 256);
  start += static_cast<char>(header.size() / 256);
  return start + header;
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::int64_t NpyArray::size() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

template <class T>
NpyArray NpyArray::refer(std::span<const T> values, std::vector<std::int64_t> shape) {
  NpyArray array{dtype_of<T>(), std::move(shape), {std::as_bytes(values), nullptr}};
  if (array.size() != static_cast<std::int64_t>(values.size()))
    throw_bad_input("an array of shape {} cannot hold {} values", shape_text(array.shape),
                    values.size());
  return array;
}

template <class T>
NpyArray NpyArray::from(std::span<const T> values, std::vector<std::int64_t> shape) {
  NpyArray array = refer(values, std::move(shape));
  array.data = std::vector<std::byte>(array.data.begin(), array.data.end());
  return array;
}

NpyArray NpyArray::refer_mask(const std::vector<std::uint8_t>& values) {
  NpyArray array = refer(values);
  array.dtype = "|b1";
  return array;
}

NpyArray NpyArray::from_mask(const std::vector<std::uint8_t>& values) {
  NpyArray array = from(values);
  array.dtype = "|b1";
  return array;
}

NpyArray NpyArray::from_texts(const std::vector<std::string>& texts) {
  std::vector<std::u32string> decoded;
  std::size_t width = 1;
  for (const std::string& text : texts) {
    decoded.push_back(decode_utf8(text));
    width = std::max(width, decoded.back().size());
  }
  std::vector<std::byte> data;
  for (std::u32string& text : decoded) {
    text.resize(width, U'\0');
    const auto bytes = std::as_bytes(std::span(text));
    data.insert(data.end(), bytes.begin(), bytes.end());
  }
  return {fmt::format("<U{}", width), {static_cast<std::int64_t>(texts.size())}, std::move(data)};
}

std::vector<std::string> NpzArrays::names() const {
  std::vector<std::string> result;
  for (const auto& [name, array] : arrays_) result.push_back(name);
  return result;
}

const NpyArray& NpzArrays::array(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end())
    throw_bad_input("{}: there is no array {}; the arrays are: {}", path_.string(), name,
                    fmt::join(names(), ", "));
  return found->second;
}

void NpzArrays::expect_dimensions(const std::string& name, std::size_t dimensions) const {
  const auto& found = shape(name);
  if (found.size() != dimensions)
    throw_bad_input("{} has shape {}, expected {} dimension{}", array_name(path_, name),
                    shape_text(found), dimensions, dimensions == 1 ? "" : "s");
}

template <class T>
std::vector<T> NpzArrays::vector(const std::string& name) const {
  std::vector<T> result(static_cast<std::size_t>(array(name).size()));
  convert(array(name), array_name(path_, name), result.data());
  return result;
}

template <class T>
Array<T> NpzArrays::shared(const std::string& name) const {
  const NpyArray& found = array(name);
  const auto address = reinterpret_cast<std::uintptr_t>(found.data.data());
  if (found.dtype != dtype_of<T>() || address % alignof(T) != 0) return vector<T>(name);
  const std::span<const T> values(reinterpret_cast<const T*>(found.data.data()),
                                  static_cast<std::size_t>(found.size()));
  return {values, found.data.owner()};
}

template <class T>
std::vector<T> NpzArrays::list(const std::string& name) const {
  expect_dimensions(name, 1);
  return vector<T>(name);
}

std::vector<std::uint8_t> NpzArrays::mask(const std::string& name) const {
  std::vector<std::uint8_t> result = list<std::uint8_t>(name);
  std::uint8_t largest = 0;
  for (const std::uint8_t value : result) largest = std::max(largest, value);
  for (std::size_t i = 0; largest > 1 && i < result.size(); ++i)
    if (result[i] > 1)
      throw_bad_input("{} has the value {} at position {}, expected 0 or 1",
                      array_name(path_, name), result[i], i);
  return result;
}

std::vector<std::string> NpzArrays::texts(const std::string& name) const {
  expect_dimensions(name, 1);
  const NpyArray& found = array(name);
  if (!found.dtype.starts_with("<U"))
    throw_bad_input("{} has the type '{}', expected texts ('<U')", array_name(path_, name),
                    found.dtype);
  std::vector<std::string> result(static_cast<std::size_t>(found.size()));
  const std::size_t width = result.empty() ? 0 : found.data.size() / result.size();
  for (std::size_t i = 0; i < result.size(); ++i)
    for (std::size_t at = i * width; at < (i + 1) * width; at += 4) {
      char32_t character = 0;
      std::memcpy(&character, found.data.data() + at, 4);
      if (character != 0) append_utf8(result[i], character);
    }
  return result;
}

template <class T>
Matrix<T> NpzArrays::matrix(const std::string& name) const {
  expect_dimensions(name, 2);
  Matrix<T> result(shape(name)[0], shape(name)[1]);
  convert(array(name), array_name(path_, name), result.data());
  return result;
}

template <class T>
T NpzArrays::scalar(const std::string& name) const {
  expect_dimensions(name, 0);
  return vector<T>(name).front();
}

#define PGEXPLAINER_NPZ_TYPE(T)                                                        \
  template NpyArray NpyArray::from<T>(std::span<const T>, std::vector<std::int64_t>);  \
  template NpyArray NpyArray::refer<T>(std::span<const T>, std::vector<std::int64_t>); \
  template Array<T> NpzArrays::shared<T>(const std::string&) const;                    \
  template std::vector<T> NpzArrays::vector<T>(const std::string&) const;              \
  template std::vector<T> NpzArrays::list<T>(const std::string&) const;                \
  template Matrix<T> NpzArrays::matrix<T>(const std::string&) const;                   \
  template T NpzArrays::scalar<T>(const std::string&) const;
PGEXPLAINER_NPZ_TYPE(float)
PGEXPLAINER_NPZ_TYPE(double)
PGEXPLAINER_NPZ_TYPE(std::int32_t)
PGEXPLAINER_NPZ_TYPE(std::int64_t)
PGEXPLAINER_NPZ_TYPE(std::uint8_t)
#undef PGEXPLAINER_NPZ_TYPE

NpzArrays read_npz(const std::filesystem::path& path) {
  const ZipReader archive(path, ".npz (zip)");
  const Array<std::byte> file = map_file_bytes(path);
  const std::map<std::string, StoredEntry> stored = stored_entries(file);
  std::map<std::string, NpyArray> arrays;
  for (std::uint64_t i = 0; i < archive.num_entries(); ++i) {
    const std::string entry = archive.name(i);
    if (!entry.ends_with(".npy")) continue;
    const std::string name = entry.substr(0, entry.size() - 4);
    const std::string where = array_name(path, name);
    if (arrays.contains(name)) throw_bad_input("{} occurs twice", where);
    if (const auto found = stored.find(entry); found != stored.end()) {
      const auto bytes = std::span(file).subspan(found->second.offset, found->second.size);
      NpyArray array = parse_npy(bytes, file.owner(), where);
      if ((array.data.data() - file.data()) % kNpzAlignment == 0) {
        if (crc32(bytes) != found->second.crc)
          throw_bad_input("{} is damaged: its checksum is another", where);
        array.mapped = true;
        arrays.emplace(name, std::move(array));
        continue;
      }
    }
    arrays.emplace(name, unpack_npy(archive, i, where));
  }
  if (arrays.empty()) throw_bad_input("{}: holds no .npy array", path.string());
  return {path, std::move(arrays)};
}

void NpzArrayWriter::add(const std::string& name, const std::string& dtype,
                         const std::vector<std::int64_t>& shape, std::span<const NpyArray> parts) {
  const std::string entry = name + ".npy";
  const std::string header = npy_header(dtype, shape, zip_.data_offset(entry));
  std::vector<std::span<const std::byte>> bytes{std::as_bytes(std::span(header))};
  for (const NpyArray& part : parts) bytes.emplace_back(part.data);
  zip_.add(entry, bytes);
}

void NpzArrayWriter::add(const std::string& name, const NpyArray& array) {
  add(name, array.dtype, array.shape, {&array, 1});
}

void NpzArrayWriter::add_stacked(const std::string& name, std::span<const NpyArray> rows) {
  std::vector<std::int64_t> shape = rows.front().shape;
  shape.insert(shape.begin(), static_cast<std::int64_t>(rows.size()));
  add(name, rows.front().dtype, shape, rows);
}

void write_npz(const std::filesystem::path& path, const std::map<std::string, NpyArray>& arrays) {
  NpzArrayWriter writer(path);
  for (const auto& [name, array] : arrays) writer.add(name, array);
  writer.commit();
}

}  // namespace pgexplainer
