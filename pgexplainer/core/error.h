// The one exception of the library. It says what was expected and what to do; only front ends print
// it.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace pgexplainer {

class Error : public std::runtime_error {
 public:
  /// bad_input: the caller can mend it (exit code 2). failed: the machine could not do it (exit
  /// code 1).
  enum class Kind { bad_input, failed };

  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

template <class... Args>
[[noreturn]] void throw_bad_input(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Error::Kind::bad_input, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void throw_failed(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Error::Kind::failed, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace pgexplainer
