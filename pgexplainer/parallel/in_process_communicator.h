// Threads of one process as ranks, for tests: what several processes would do, without starting
// any.
#pragma once

#include <functional>

#include "pgexplainer/parallel/communicator.h"

namespace pgexplainer {

/// Calls body once per rank, each on a thread of its own, and waits for all. If one throws, or ends
/// while others wait for it, the exchanges of the others throw; the first exception is rethrown
/// here.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body);

}  // namespace pgexplainer
