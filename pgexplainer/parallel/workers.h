// Who does a job: the threads of this process and, if there are several, the processes (ranks).
// Pieces of work are cut by the data and dealt to the ranks in ranges; every rank then sees the
// results of all pieces, so that what it computes from them has the same bits everywhere, for any
// number of ranks.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/parallel/communicator.h"
#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer {

class Workers {
 public:
  /// The threads of this process alone.
  Workers(ThreadPool& threads)
      : pool(threads), communicator(one_process()) {}  // NOLINT: a pool will do
  Workers(ThreadPool& threads, Communicator& ranks) : pool(threads), communicator(ranks) {}

  ThreadPool& pool;
  Communicator& communicator;

  /// Pieces [begin, end).
  struct Range {
    std::size_t begin, end;
  };
  /// What this rank does of so many pieces.
  [[nodiscard]] Range own(std::size_t pieces) const { return of_rank(pieces, communicator.rank()); }

  /// Calls body(piece, worker) for the pieces of this rank, on its threads.
  template <class Body>
  void run(std::size_t pieces, Body&& body) const {
    const auto [begin, end] = own(pieces);
    const std::size_t first = begin;
    pool.run(static_cast<std::int64_t>(end - first),
             [&](std::int64_t i, int worker) { body(first + at(i), worker); });
  }

  /// `values` are equally many of each piece, one piece after the other. Every rank has filled in
  /// those of its own pieces; afterwards it has all.
  template <class T>
  void share(std::span<T> values, std::size_t pieces) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (communicator.size() == 1 || values.empty()) return;
    const std::size_t width = values.size() / pieces;
    const auto bytes_of = [&](int rank) {
      const Range range = of_rank(pieces, rank);
      return std::as_writable_bytes(
          values.subspan(range.begin * width, (range.end - range.begin) * width));
    };
    const std::span<std::byte> mine = bytes_of(communicator.rank());
    const std::vector<std::string> all =
        communicator.all_gather({reinterpret_cast<const char*>(mine.data()), mine.size()});
    for (int rank = 0; rank < communicator.size(); ++rank) {
      const std::span<std::byte> theirs = bytes_of(rank);
      if (all[at(rank)].size() != theirs.size())
        throw_failed("process {} sent {} bytes, expected {}; do all run the same command?", rank,
                     all[at(rank)].size(), theirs.size());
      if (!theirs.empty()) std::memcpy(theirs.data(), all[at(rank)].data(), theirs.size());
    }
  }

  /// Whether all ranks say so.
  [[nodiscard]] bool all_say(bool yes) const {
    if (communicator.size() == 1) return yes;
    for (const std::string& answer : communicator.all_gather(yes ? "y" : "n"))
      if (answer != "y") return false;
    return true;
  }

 private:
  [[nodiscard]] Range of_rank(std::size_t pieces, int rank) const {
    const std::size_t ranks = at(communicator.size());
    return {pieces * at(rank) / ranks, pieces * (at(rank) + 1) / ranks};
  }
  static Communicator& one_process() {
    static OneProcess alone;
    return alone;
  }
};

}  // namespace pgexplainer
