#include "pgexplainer/report/text.h"

#include <algorithm>
#include <array>

namespace pgexplainer {
namespace {

struct Range {
  char32_t first, last;
};

// The blocks that occur in practice, from Unicode's EastAsianWidth.txt and the category Mn.
constexpr std::array kNoColumn{Range{0x300, 0x36F},   Range{0x483, 0x489},   Range{0x591, 0x5BD},
                               Range{0x610, 0x61A},   Range{0x64B, 0x65F},   Range{0x1AB0, 0x1AFF},
                               Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF},
                               Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}, Range{0xFEFF, 0xFEFF}};
constexpr std::array kTwoColumns{
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
    Range{0xA960, 0xA97C},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x1F300, 0x1F64F}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

template <class Ranges>
bool contains(const Ranges& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](Range range) { return code >= range.first && code <= range.last; });
}

}  // namespace

std::string escape_xml(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string result;
  result.reserve(text.size());
  for_code_points(text, [&](char32_t code, std::string_view bytes) {
    switch (code) {
      case U'<':
        result += "&lt;";
        break;
      case U'>':
        result += "&gt;";
        break;
      case U'&':
        result += "&amp;";
        break;
      case U'"':
        result += "&quot;";
        break;
      case U'\'':
        result += "&#39;";
        break;
      case U'\t':
      case U'\n':
        result += bytes;
        break;
      case U'\uFFFD':
      case 0xFFFE:
      case 0xFFFF:
        result += kReplacement;
        break;
      default:
        result += code < 0x20 || (code >= 0x7F && code < 0xA0) ? kReplacement : bytes;
    }
  });
  return result;
}

std::size_t terminal_width(std::string_view text) {
  std::size_t width = 0;
  for_code_points(text, [&](char32_t code, std::string_view) {
    if (code < 0x20 || contains(kNoColumn, code)) return;
    width += contains(kTwoColumns, code) ? 2 : 1;
  });
  return width;
}

}  // namespace pgexplainer
