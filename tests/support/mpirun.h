// Runs a command as several ranks. PGEXPLAINER_MPIRUN is empty in builds without MPI.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/run_command.h"

namespace pgexplainer {

inline bool can_run_ranks() { return !std::string(PGEXPLAINER_MPIRUN).empty(); }

/// A job that hangs is ended with exit code 124.
inline ToolResult mpirun(int ranks, const std::string& command) {
  return run_command(
      // Any user, any number of cores, inside containers; what MPI itself leaks is not our concern.
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none "
      "OMPI_MCA_btl_vader_single_copy_mechanism=none ASAN_OPTIONS=detect_leaks=0 "
      "timeout 60 " PGEXPLAINER_MPIRUN " -n " +
      std::to_string(ranks) + " " + command + " </dev/null");
}

}  // namespace pgexplainer
