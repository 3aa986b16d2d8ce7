// How long work tells its caller where it stands. The library calls; only front ends draw.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace pgexplainer {

/// Called with (done, total, message); total 0 = unknown. Return false to ask the work to stop
/// early.
using Progress =
    std::function<bool(std::int64_t done, std::int64_t total, std::string_view message)>;

/// Reports when somebody listens; true = go on.
inline bool report_progress(const Progress& progress, std::int64_t done, std::int64_t total,
                            std::string_view message = {}) {
  return !progress || progress(done, total, message);
}

}  // namespace pgexplainer
