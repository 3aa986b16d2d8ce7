// A strict check that text is well-formed XML 1.0 (without DTDs but for "<!DOCTYPE html>"), and the
// elements it holds.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pgexplainer {

struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;  // unescaped
  std::string text;                               // own text, unescaped, without that of children
  std::string parent;                             // name of the element around it
};

/// Elements in the order of their start tags. Throws std::runtime_error that says where it broke.
class XmlCheck {
 public:
  static std::vector<XmlElement> parse(std::string_view text) { return XmlCheck(text).document(); }

 private:
  explicit XmlCheck(std::string_view text) : text_(text) {}

  std::vector<XmlElement> document() {
    check_characters();
    if (skip("<?xml ")) until("?>");
    spaces();
    if (skip("<!DOCTYPE html>")) spaces();
    std::vector<std::size_t> open;
    do {
      if (peek() == '<' && text_.substr(at_, 2) == "</") {
        at_ += 2;
        const std::string end = name();
        spaces();
        expect('>');
        if (open.empty() || elements_[open.back()].name != end) fail("unexpected </" + end + ">");
        open.pop_back();
      } else if (peek() == '<') {
        ++at_;
        XmlElement element;
        element.name = name();
        if (!open.empty()) element.parent = elements_[open.back()].name;
        attributes(element);
        const bool empty = skip("/");
        expect('>');
        elements_.push_back(element);
        if (!empty) open.push_back(elements_.size() - 1);
      } else {
        if (open.empty()) fail("text outside the root");
        elements_[open.back()].text += character();
      }
    } while (!open.empty());
    spaces();
    if (at_ != text_.size()) fail("something follows the root");
    return elements_;
  }

  void attributes(XmlElement& element) {
    for (;;) {
      const bool gap = spaces();
      if (peek() == '>' || peek() == '/') return;
      if (!gap) fail("no space before an attribute");
      const std::string key = name();
      expect('=');
      const char quote = peek();
      if (quote != '"' && quote != '\'') fail("attribute without quotes");
      ++at_;
      std::string value;
      while (peek() != quote) {
        if (peek() == '<') fail("'<' in an attribute");
        value += character();
      }
      ++at_;
      if (!element.attributes.emplace(key, value).second) fail("attribute " + key + " twice");
    }
  }

  // One character of content; entities are replaced.
  std::string character() {
    if (peek() != '&') return std::string(1, text_[at_++]);
    for (const auto& [entity, value] : std::map<std::string, std::string>{
             {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&#39;", "'"}})
      if (skip(entity)) return value;
    fail("'&' that starts no known entity");
  }

  // UTF-8 without control characters.
  void check_characters() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text_[i]);
      at_ = i;
      if (byte < 0x20 && byte != '\n' && byte != '\t') fail("control character");
      if (byte < 0x80) continue;
      const std::size_t more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
      if (byte < 0xC2 || byte > 0xF4 || i + more >= text_.size()) fail("broken UTF-8");
      for (std::size_t k = 1; k <= more; ++k)
        if ((static_cast<unsigned char>(text_[i + k]) & 0xC0U) != 0x80) fail("broken UTF-8");
      i += more;
    }
    at_ = 0;
  }

  std::string name() {
    std::string result;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 ||
           std::string_view("_:-.").find(peek()) != std::string_view::npos)
      result += text_[at_++];
    if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])) != 0 ||
        result[0] == '-' || result[0] == '.')
      fail("expected a name");
    return result;
  }

  [[nodiscard]] char peek() const {
    if (at_ >= text_.size()) fail("unexpected end");
    return text_[at_];
  }
  void expect(char c) {
    if (peek() != c) fail(std::string("expected '") + c + "'");
    ++at_;
  }
  bool skip(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void until(std::string_view token) {
    const std::size_t found = text_.find(token, at_);
    if (found == std::string_view::npos) fail("unexpected end");
    at_ = found + token.size();
  }
  bool spaces() {
    const std::size_t before = at_;
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ > before;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at_) + ": ..." +
                             std::string(text_.substr(at_ > 30 ? at_ - 30 : 0, 60)));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<XmlElement> elements_;
};

inline std::size_t count_elements(const std::vector<XmlElement>& elements, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(elements.begin(), elements.end(),
                    [&](const XmlElement& element) { return element.name == name; }));
}

inline bool has_text(const std::vector<XmlElement>& elements, std::string_view name,
                     std::string_view text) {
  return std::any_of(elements.begin(), elements.end(), [&](const XmlElement& element) {
    return element.name == name && element.text == text;
  });
}

/// Whether "nan" or "inf" stands where a number should be.
inline bool has_broken_number(const std::vector<XmlElement>& elements) {
  return std::any_of(elements.begin(), elements.end(), [](const XmlElement& element) {
    return std::any_of(element.attributes.begin(), element.attributes.end(), [](const auto& item) {
      return item.first != "aria-label" && (item.second.find("nan") != std::string::npos ||
                                            item.second.find("inf") != std::string::npos);
    });
  });
}

}  // namespace pgexplainer
