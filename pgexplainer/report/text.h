// Text that goes into other formats: escaping for XML and HTML, and how wide it is on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pgexplainer {

/// For content and quoted attributes of XML and HTML. Characters that XML cannot hold (control
/// characters, broken UTF-8) become U+FFFD.
std::string escape_xml(std::string_view text);

/// Columns of UTF-8 text on a terminal: combining marks take none, East Asian wide characters two.
std::size_t terminal_width(std::string_view text);

/// Calls visit(code point, its bytes) from left to right; a broken sequence is U+FFFD, one byte at
/// a time.
template <class Visit>
void for_code_points(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    char32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
    bool valid = length > 0 && length <= text.size();
    for (std::size_t i = 1; valid && i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      valid = (byte & 0xC0U) == 0x80;
      code = (code << 6U) | (byte & 0x3FU);
    }
    // Longer than needed, a surrogate, or beyond Unicode.
    valid = valid && !(length == 3 && code < 0x800) && !(length == 4 && code < 0x10000) &&
            !(code >= 0xD800 && code < 0xE000) && code < 0x110000;
    const std::size_t used = valid ? length : 1;
    visit(valid ? code : U'\uFFFD', text.substr(0, used));
    text.remove_prefix(used);
  }
}

}  // namespace pgexplainer
