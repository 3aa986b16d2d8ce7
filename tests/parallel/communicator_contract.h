// What every Communicator promises, as a body that all ranks run; throws where a promise is broken.
#pragma once

#include <stdexcept>
#include <string>

#include "pgexplainer/core/index.h"
#include "pgexplainer/parallel/communicator.h"

namespace pgexplainer {

inline void check_contract(Communicator& communicator) {
  const auto require = [](bool kept, const char* promise) {
    if (!kept) throw std::logic_error(promise);
  };
  const int rank = communicator.rank();
  const int size = communicator.size();
  require(rank >= 0 && rank < size, "a rank is below the number of ranks");
  require(communicator.is_root() == (rank == 0), "rank 0 is the root");
  // Any byte, also 0; of rank 0 and in every fourth round nothing at all; now and then long.
  const auto message_of = [](int from, int round) {
    std::string message;
    const int length = from * (round % 4) * (round == 7 ? 1000 : 1);
    for (int i = 0; i < length; ++i) message += static_cast<char>(31 * i + 7 * from + round);
    return message;
  };
  for (int round = 0; round < 12; ++round) {
    const std::string mine = message_of(rank, round);
    const auto all = communicator.all_gather(mine);
    require(static_cast<int>(all.size()) == size, "all_gather() gives one message per rank");
    for (int from = 0; from < size; ++from)
      require(all[at(from)] == message_of(from, round), "all_gather() is in the order of ranks");
    const auto here = communicator.gather(mine);
    require(here == (rank == 0 ? all : std::vector<std::string>()),
            "gather() gives the same on rank 0 and nothing elsewhere");
  }
}

}  // namespace pgexplainer
