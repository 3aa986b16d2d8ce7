// Runs a command and catches what it prints.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/temporary_folder.h"

namespace pgexplainer {

struct ToolResult {
  int exit_code;
  std::string out;
  std::string err;
};

/// `command` is a line for the shell, redirections included.
inline ToolResult run_command(const std::string& command) {
  const TemporaryFolder folder;
  const auto text_of = [&](const char* name) {
    std::string text;
    if (std::FILE* file = std::fopen((folder.path() / name).c_str(), "r")) {
      for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
      std::fclose(file);
    }
    return text;
  };
  const std::string line = std::string("exec >'") + (folder.path() / "out").string() + "' 2>'" +
                           (folder.path() / "err").string() + "'; " + command;
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_of("out"),
          text_of("err")};
}

}  // namespace pgexplainer
