// While the library works, Python's lock is released. Ten times a second at most the work takes it
// back, to hear Ctrl-C and to tell a Python callable how far it is.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "pgexplainer/core/progress.h"

namespace pgexplainer::python {

class Listener {
 public:
  /// `callback` is None or called with (done, total, message); it may raise.
  explicit Listener(pybind11::object callback) : callback_(std::move(callback)) {}

  /// Runs work(progress) without the lock. What was raised while it ran (KeyboardInterrupt, say)
  /// comes before what the work itself makes of being stopped.
  template <class Work>
  auto run(const Work& work) {
    const auto progress = [this](std::int64_t done, std::int64_t total, std::string_view message) {
      return hear(done, total, message);
    };
    const pybind11::gil_scoped_release unlocked;
    try {
      auto result = work(Progress(progress));
      if (raised_) std::rethrow_exception(raised_);
      return result;
    } catch (...) {
      if (raised_) std::rethrow_exception(raised_);
      throw;
    }
  }

 private:
  bool hear(std::int64_t done, std::int64_t total, std::string_view message) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100) && done != total) return !raised_;
    last_ = now;
    const pybind11::gil_scoped_acquire locked;
    try {
      if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
      if (!callback_.is_none()) callback_(done, total, std::string(message));
    } catch (const pybind11::error_already_set&) {
      raised_ = std::current_exception();
    }
    return !raised_;
  }

  pybind11::object callback_;
  std::exception_ptr raised_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace pgexplainer::python
