// pgexplainer VERB ...: exit 0 done, 1 failed, 2 bad usage or bad input. Of several processes that
// mpirun started, rank 0 says how the job ended, and returns it.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <system_error>

#include "apps/cli/cli.h"
#include "pgexplainer/core/error.h"
#include "pgexplainer/parallel/mpi_communicator.h"

namespace pgexplainer::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

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

/// The other verbs would do the same work on every rank.
void refuse_ranks(CLI::App& app) {
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = verb->get_name();
    if (name == "fit" || name == "explain") continue;
    verb->preparse_callback([name](std::size_t) {
      throw_bad_input("{} is work for one process; run it without mpirun", name);
    });
  }
}

Ending run(int argc, char** argv) {
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
  if (communicator().size() > 1) refuse_ranks(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return {kBadInput, usage_error(app, error)};
    if (communicator().is_root()) app.exit(error);  // --help and --version
  }
  // Nothing the tool printed may be lost unnoticed; a reader that left (head, say) is no failure.
  if (std::fflush(stdout) != 0 && errno != EPIPE)
    return {kFailed, "cannot write to standard output"};
  return {};
}

/// What is thrown becomes a message and an exit code.
template <class Action>
Ending ending_of(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    return {error.kind() == Error::Kind::bad_input ? kBadInput : kFailed, error.what()};
  } catch (const std::bad_alloc&) {
    return {kFailed, "out of memory; a smaller dataset or batch needs less"};
  } catch (const std::system_error& error) {
    if (error.code().value() == EPIPE) return {};
    return {kFailed, error.what()};
  } catch (const std::exception& error) {
    return {kFailed, error.what()};
  }
}

}  // namespace
}  // namespace pgexplainer::cli

int main(int argc, char** argv) {
  using namespace pgexplainer;
  std::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<JobCommunicator> job;
  Ending ending = cli::ending_of([&] {
    job = join_job();
    if (job) cli::set_communicator(*job);
    return cli::run(argc, argv);
  });
  if (job) ending = job->end(ending);
  if (!cli::communicator().is_root()) return 0;  // rank 0 speaks for all
  if (!ending.message.empty()) fmt::print(stderr, "pgexplainer: {}\n", ending.message);
  return ending.exit_code;
}
