#include "pgexplainer/io/npz.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/zip_reader.h"

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

template <class To>
std::vector<To> convert(const NpyArray& array, const std::string& where) {
  std::vector<To> result(static_cast<std::size_t>(array.size()));
  const bool is_number = visit_dtype(
      array.dtype,
      [&](auto example) {
        using From = decltype(example);
        if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
          throw_bad_input("{} has the type '{}', expected whole numbers such as '<i8'", where,
                          array.dtype);
        } else {
          const std::byte* read = array.data.data();
          for (std::size_t i = 0; i < result.size(); ++i, read += sizeof(From)) {
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
  return result;
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

struct ZipCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using ZipArchive = std::unique_ptr<zip_t, ZipCloser>;

NpyArray read_npy(ZipEntryReader& reader, const std::string& where) {
  std::array<unsigned char, 12> start{};
  reader.read(start.data(), 10);
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0)
    throw_bad_input("{} does not start with the mark of an .npy array", where);
  const int major = start[6];
  if (major < 1 || major > 3 || start[7] != 0)
    throw_bad_input("{} is in .npy version {}.{}; versions 1.0, 2.0 and 3.0 can be read", where,
                    major, static_cast<int>(start[7]));
  std::uint64_t length = start[8] + 256U * start[9];
  if (major > 1) {
    reader.read(start.data() + 10, 2);
    length += (std::uint64_t{start[10]} << 16) + (std::uint64_t{start[11]} << 24);
  }
  if (length > reader.remaining())
    throw_bad_input("{} has an .npy header longer than the array", where);
  std::string text(length, '\0');
  reader.read(text.data(), length);
  NpyHeader header = HeaderParser(text, where).parse();

  std::uint64_t bytes = item_size(header.dtype, where);
  for (const std::int64_t extent : header.shape) {
    const auto factor = static_cast<std::uint64_t>(extent);
    if (factor > 0 && bytes > std::numeric_limits<std::int64_t>::max() / factor)
      throw_bad_input("{} has an impossibly large shape {}", where, shape_text(header.shape));
    bytes *= factor;
  }
  if (bytes != reader.remaining())
    throw_bad_input("{} has shape {} of type '{}', which needs {} bytes, but holds {}", where,
                    shape_text(header.shape), header.dtype, bytes, reader.remaining());
  NpyArray array{std::move(header.dtype), std::move(header.shape), std::vector<std::byte>(bytes)};
  reader.read(array.data.data(), bytes);
  reader.finish();
  return array;
}

std::string npy_header(const NpyArray& array) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   array.dtype, shape_text(array.shape));
  header.append(63 - (10 + header.size()) % 64, ' ');  // data start at a multiple of 64
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
NpyArray NpyArray::from(std::span<const T> values, std::vector<std::int64_t> shape) {
  NpyArray array{dtype_of<T>(), std::move(shape), {}};
  if (array.size() != static_cast<std::int64_t>(values.size()))
    throw_bad_input("an array of shape {} cannot hold {} values", shape_text(array.shape),
                    values.size());
  const auto bytes = std::as_bytes(values);
  array.data.assign(bytes.begin(), bytes.end());
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
  NpyArray array{fmt::format("<U{}", width), {static_cast<std::int64_t>(texts.size())}, {}};
  for (std::u32string& text : decoded) {
    text.resize(width, U'\0');
    const auto bytes = std::as_bytes(std::span(text));
    array.data.insert(array.data.end(), bytes.begin(), bytes.end());
  }
  return array;
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
  return convert<T>(array(name), array_name(path_, name));
}

template <class T>
std::vector<T> NpzArrays::list(const std::string& name) const {
  expect_dimensions(name, 1);
  return vector<T>(name);
}

std::vector<std::uint8_t> NpzArrays::mask(const std::string& name) const {
  std::vector<std::uint8_t> result = list<std::uint8_t>(name);
  for (std::size_t i = 0; i < result.size(); ++i)
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
  const std::vector<T> values = vector<T>(name);
  return ConstMatrixView<T>(values.data(), shape(name)[0], shape(name)[1]);
}

template <class T>
T NpzArrays::scalar(const std::string& name) const {
  expect_dimensions(name, 0);
  return vector<T>(name).front();
}

#define PGEXPLAINER_NPZ_TYPE(T)                                                       \
  template NpyArray NpyArray::from<T>(std::span<const T>, std::vector<std::int64_t>); \
  template std::vector<T> NpzArrays::vector<T>(const std::string&) const;             \
  template std::vector<T> NpzArrays::list<T>(const std::string&) const;               \
  template Matrix<T> NpzArrays::matrix<T>(const std::string&) const;                  \
  template T NpzArrays::scalar<T>(const std::string&) const;
PGEXPLAINER_NPZ_TYPE(float)
PGEXPLAINER_NPZ_TYPE(double)
PGEXPLAINER_NPZ_TYPE(std::int32_t)
PGEXPLAINER_NPZ_TYPE(std::int64_t)
PGEXPLAINER_NPZ_TYPE(std::uint8_t)
#undef PGEXPLAINER_NPZ_TYPE

NpzArrays read_npz(const std::filesystem::path& path) {
  const ZipReader archive(path, ".npz (zip)");
  std::map<std::string, NpyArray> arrays;
  for (std::uint64_t i = 0; i < archive.num_entries(); ++i) {
    std::string name = archive.name(i);
    if (!name.ends_with(".npy")) continue;
    name.resize(name.size() - 4);
    const std::string where = array_name(path, name);
    if (arrays.contains(name)) throw_bad_input("{} occurs twice", where);
    ZipEntryReader reader = archive.open(i, where);
    arrays.emplace(name, read_npy(reader, where));
  }
  if (arrays.empty()) throw_bad_input("{}: holds no .npy array", path.string());
  return {path, std::move(arrays)};
}

void write_npz(const std::filesystem::path& path, const std::map<std::string, NpyArray>& arrays) {
  AtomicFile file(path);
  int code = 0;
  ZipArchive archive(zip_open(file.temporary().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!archive) throw_failed("{}: writing failed (libzip error {})", path.string(), code);
  std::vector<std::string> headers;  // libzip reads headers and data only in zip_close
  headers.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    headers.push_back(npy_header(array));
    // libzip takes pointers to non-const but only reads from them.
    std::array<zip_buffer_fragment_t, 2> fragments{};
    fragments[0].data = reinterpret_cast<zip_uint8_t*>(headers.back().data());
    fragments[0].length = headers.back().size();
    fragments[1].data = reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(array.data.data()));
    fragments[1].length = array.data.size();
    const zip_uint64_t parts = array.data.empty() ? 1 : 2;
    zip_source_t* source = zip_source_buffer_fragment(archive.get(), fragments.data(), parts, 0);
    const std::string entry = name + ".npy";
    const zip_int64_t added =
        source == nullptr ? -1
                          : zip_file_add(archive.get(), entry.c_str(), source, ZIP_FL_ENC_UTF_8);
    const auto index = static_cast<zip_uint64_t>(added);
    // 1 January 1980, the zero of zip time: the bytes do not depend on the clock.
    if (added < 0 || zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive.get(), index, 0, 0x21, 0) != 0)
      throw_failed("{}: writing failed: {}", path.string(), zip_strerror(archive.get()));
  }
  if (zip_close(archive.get()) != 0) {
    const zip_error_t* error = zip_get_error(archive.get());
    const int system_code = zip_error_code_system(error);
    if (system_code != 0) throw_write_error(path, system_code);
    throw_failed("{}: writing failed: {}", path.string(), zip_strerror(archive.get()));
  }
  static_cast<void>(archive.release());  // zip_close has freed it
  file.commit();
}

}  // namespace pgexplainer
