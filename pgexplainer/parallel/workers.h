// Who does a job: the threads of this process and, if there are several, the processes (ranks).
// Pieces of work are cut by the data and dealt to the ranks; every rank then sees the results of
// all pieces, so that what it computes from them has the same bits everywhere, for any number of
// ranks.
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

  /// Whether this rank does a piece. They are dealt like cards, for neighbours cost alike.
  [[nodiscard]] bool does(std::size_t piece) const {
    return piece % at(communicator.size()) == at(communicator.rank());
  }

  /// Calls body(piece, worker) for the pieces of this rank, on its threads.
  template <class Body>
  void run(std::size_t pieces, Body&& body) const {
    const std::size_t rank = at(communicator.rank());
    const std::size_t ranks = at(communicator.size());
    const std::size_t own = pieces / ranks + (rank < pieces % ranks ? 1 : 0);
    pool.run(static_cast<std::int64_t>(own),
             [&](std::int64_t i, int worker) { body(rank + at(i) * ranks, worker); });
  }

  /// `values` are equally many of each piece, one piece after the other. Every rank has filled in
  /// those of its own pieces; afterwards it has all.
  template <class T>
  void share(std::span<T> values, std::size_t pieces) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (communicator.size() == 1 || values.empty()) return;
    const std::size_t width = values.size() / pieces;
    const std::size_t bytes = width * sizeof(T);
    std::string mine;
    for (std::size_t piece = 0; piece < pieces; ++piece)
      if (does(piece)) mine.append(reinterpret_cast<const char*>(&values[piece * width]), bytes);
    const std::vector<std::string> all = communicator.all_gather(mine);
    std::vector<std::size_t> taken(all.size(), 0);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const std::size_t rank = piece % all.size();
      if (taken[rank] + bytes > all[rank].size())
        throw_failed("rank {} sent {} bytes, expected more; do all run the same command?", rank,
                     all[rank].size());
      std::memcpy(&values[piece * width], all[rank].data() + taken[rank], bytes);
      taken[rank] += bytes;
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
  static Communicator& one_process() {
    static OneProcess alone;
    return alone;
  }
};

}  // namespace pgexplainer
