#include "pgexplainer/io/text_table.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "pgexplainer/io/file_bytes.h"

namespace pgexplainer {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// What to show of a field in a message: short, and printable.
std::string shown(std::string_view field) {
  std::string result;
  for (const char c : field.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (field.size() > 40 ? "..." : "");
}

template <class T>
bool parse(std::string_view field, T& value) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc{} && end == field.data() + field.size();
}

}  // namespace

TextTable::TextTable(const std::filesystem::path& path)
    : path_(path.string()), content_(read_file_text(path)), rest_(content_) {
  if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // byte order mark
  const std::size_t last = rest_.find_last_not_of(" \t\r\n");
  rest_ = rest_.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

bool TextTable::next() {
  if (rest_.empty()) return false;
  const std::size_t expected = fields_.size();
  ++line_;
  const std::size_t end = rest_.find('\n');
  std::string_view row = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
  fields_.clear();
  while (true) {
    const std::size_t comma = row.find(',');
    fields_.push_back(trimmed(row.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    row = row.substr(comma + 1);
  }
  if (line_ > 1 && fields_.size() != expected)
    fail("there are {} fields, expected {} as in line 1", fields_.size(), expected);
  return true;
}

std::int64_t TextTable::integer(std::size_t field) const {
  std::int64_t value = 0;
  if (!parse(fields_[field], value))
    fail("'{}' is not a whole number (field {})", shown(fields_[field]), field + 1);
  return value;
}

float TextTable::number(std::size_t field) const {
  double value = 0;  // not float: a number too small for float is zero, not an error
  if (!parse(fields_[field], value) || !(std::abs(value) <= std::numeric_limits<float>::max()))
    fail("'{}' is not a finite number (field {})", shown(fields_[field]), field + 1);
  return static_cast<float>(value);
}

}  // namespace pgexplainer
