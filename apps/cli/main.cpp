// pgexplainer VERB ...: exit 0 done, 1 failed, 2 bad usage or bad input.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "apps/cli/cli.h"
#include "pgexplainer/core/error.h"

namespace pgexplainer::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

int fail(int exit_code, const std::string& message) {
  fmt::print(stderr, "pgexplainer: {}\n", message);
  return exit_code;
}

/// CLI11 calls an unknown verb or name a missing one; say which word it did not know.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* verb = &app;
  std::string path = app.get_name();
  while (!verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
    path += " " + verb->get_name();
  }
  std::string names;
  for (const CLI::App* name : verb->get_subcommands([](const CLI::App*) { return true; }))
    names += (names.empty() ? "" : ", ") + name->get_name();
  const auto unknown = verb->remaining();
  if (names.empty()) return fmt::format("{}; see {} --help", error.what(), path);
  if (unknown.empty()) return fmt::format("one of these is needed: {}", names);
  return fmt::format("{} is not known here, expected one of: {}", unknown.front(), names);
}

int run(int argc, char** argv) {
  CLI::App app("Which edges made a graph neural network decide.", "pgexplainer");
  app.set_version_flag("--version", "pgexplainer " PGEXPLAINER_VERSION);
  app.require_subcommand(1);
  app.footer("pgexplainer VERB --help explains a verb.");
  add_generate(app);
  add_download(app);
  add_info(app);
  add_train(app);
  add_fit(app);
  add_explain(app);
  add_evaluate(app);
  add_reproduce(app);
  add_bench(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    return fail(kBadInput, usage_error(app, error));
  }
  return 0;
}

/// Nothing the tool printed may be lost unnoticed; a reader that left (head, say) is no failure.
int flush_output(int exit_code) {
  if (std::fflush(stdout) == 0 || errno == EPIPE) return exit_code;
  return fail(kFailed, "cannot write to standard output");
}

}  // namespace
}  // namespace pgexplainer::cli

int main(int argc, char** argv) {
  using namespace pgexplainer;
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return cli::flush_output(cli::run(argc, argv));
  } catch (const Error& error) {
    return cli::fail(error.kind() == Error::Kind::bad_input ? cli::kBadInput : cli::kFailed,
                     error.what());
  } catch (const std::bad_alloc&) {
    return cli::fail(cli::kFailed, "out of memory; a smaller dataset or batch needs less");
  } catch (const std::system_error& error) {
    if (error.code().value() == EPIPE) return 0;
    return cli::fail(cli::kFailed, error.what());
  } catch (const std::exception& error) {
    return cli::fail(cli::kFailed, error.what());
  }
}
