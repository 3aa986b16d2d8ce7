// Runs the command line tool and catches what it prints.
#pragma once

#include <string>

#include "tests/support/run_command.h"

namespace pgexplainer {

/// `arguments` are words of a shell command line, redirections included.
inline ToolResult run_tool(const std::string& arguments) {
  return run_command(PGEXPLAINER_TOOL " " + arguments);
}

}  // namespace pgexplainer
