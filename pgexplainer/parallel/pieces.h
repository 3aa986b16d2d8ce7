// One pass over a long array on all cores: what is as fast as memory should use all of memory's
// speed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer {

/// Calls body(begin, end) for consecutive ranges of 0 .. count-1 of `piece` entries each (the last
/// one may be shorter), several at a time; at once and alone when there is only one.
template <class Body>
void for_each_piece(std::size_t count, std::size_t piece, Body&& body) {
  if (count <= piece) return body(std::size_t{0}, count);
  const std::size_t pieces = (count + piece - 1) / piece;
  ThreadPool().run(static_cast<std::int64_t>(pieces), [&](std::int64_t i, int) {
    const std::size_t begin = static_cast<std::size_t>(i) * piece;
    body(begin, std::min(begin + piece, count));
  });
}

}  // namespace pgexplainer
