// Lines of comma-separated fields, read strictly: every complaint names the file and the line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pgexplainer/core/error.h"

namespace pgexplainer {

/// Spaces around fields, a Windows line end and empty lines at the end of the file are allowed;
/// quotes are not. The first line fixes the number of fields of all lines.
class TextTable {
 public:
  explicit TextTable(const std::filesystem::path& path);

  /// Goes to the next line; false at the end. Throws if its number of fields differs.
  bool next();
  [[nodiscard]] std::int64_t line() const { return line_; }  ///< 1, 2, ...
  [[nodiscard]] std::size_t num_fields() const { return fields_.size(); }
  [[nodiscard]] std::string_view text(std::size_t field) const { return fields_[field]; }
  [[nodiscard]] std::int64_t integer(std::size_t field) const;
  [[nodiscard]] float number(std::size_t field) const;  ///< finite

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw_bad_input("{}: line {}: {}", path_, line_,
                    fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::string path_;
  std::string content_;
  std::string_view rest_;
  std::vector<std::string_view> fields_;
  std::int64_t line_ = 0;
};

}  // namespace pgexplainer
