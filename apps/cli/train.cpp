// pgexplainer train: trains a graph neural network, for the paper's pipeline and for people without
// one.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>

#include "apps/cli/cli.h"
#include "apps/cli/progress_bar.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/model_file.h"
#include "pgexplainer/io/train_checkpoint.h"
#include "pgexplainer/metrics/accuracy.h"
#include "pgexplainer/model/architecture.h"
#include "pgexplainer/model/trainer.h"

namespace pgexplainer::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string data, output;
  bool resume = false;
  CommonOptions common;
  ArchitectureOptions architecture;
  TrainOptions train;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

nlohmann::json history_to_json(const std::vector<EpochRecord>& history) {
  nlohmann::json json = {{"loss", nlohmann::json::array()},
                         {"train_accuracy", nlohmann::json::array()},
                         {"val_accuracy", nlohmann::json::array()}};
  for (const EpochRecord& record : history) {
    json["loss"].push_back(record.loss);
    json["train_accuracy"].push_back(record.train_accuracy);
    json["val_accuracy"].push_back(record.val_accuracy);
  }
  return json;
}

/// Runs to the end, leaving a checkpoint at first, every few seconds, and when the user stops it.
void run_epochs(Trainer& trainer, std::int64_t epochs, const std::filesystem::path& checkpoint,
                const std::string& identity) {
  ProgressBar bar("training");
  const Progress progress = bar.callback();
  Clock::time_point
      saved{};  // long ago: the first epoch leaves a checkpoint, so that a bad place shows at once
  while (!trainer.finished()) {
    trainer.run_epoch();
    const EpochRecord& last = trainer.state().history.back();
    const bool go_on =
        report_progress(progress, trainer.state().epoch, epochs,
                        fmt::format("loss {:.4f}, val {:.3f}", last.loss, last.val_accuracy));
    if (go_on && seconds_since(saved) < 5.0) continue;
    write_train_checkpoint(checkpoint, trainer.state(), identity);
    saved = Clock::now();
    if (!go_on)
      throw_failed("interrupted after epoch {}; repeat the command with --resume to go on",
                   trainer.state().epoch);
  }
}

void train(const Arguments& arguments) {
  const auto start = Clock::now();
  const std::filesystem::path output(arguments.output);
  const std::filesystem::path checkpoint(arguments.output + ".checkpoint");
  { const AtomicFile can_be_written(output); }  // asked before hours of work, not after

  const Dataset dataset = read_dataset(arguments.data);
  const ModelSpec spec = arguments.architecture.arch.ends_with(".json")
                             ? read_model_spec(arguments.architecture.arch, dataset)
                             : make_architecture(arguments.architecture, dataset);
  const std::uint64_t seed = arguments.common.seed;
  auto model = std::make_shared<NativeGnn<float>>(spec, arguments.architecture.arch, seed);
  Trainer trainer(dataset, model, arguments.train, seed, arguments.common.threads);
  const std::string identity =
      fmt::format("{:016x} {} {} seed {}", fingerprint(dataset), to_json(spec).dump(),
                  options_to_json(arguments.train).dump(), seed);
  if (arguments.resume) trainer.restore(read_train_checkpoint(checkpoint, identity));
  const auto loop_start = Clock::now();
  run_epochs(trainer, arguments.train.epochs, checkpoint, identity);
  const double train_seconds = seconds_since(loop_start);
  trainer.finish();

  const SplitAccuracy accuracy = split_accuracy(trainer.logits(), dataset);
  const std::int64_t epochs = trainer.state().epoch;
  const nlohmann::ordered_json accuracies = {
      {"train", accuracy.train}, {"val", accuracy.val}, {"test", accuracy.test}};
  write_model(output, *model,
              {{"options", options_to_json(arguments.train)},
               {"seed", seed},
               {"dataset", dataset.name},
               {"accuracy", accuracies},
               {"history", history_to_json(trainer.state().history)}});
  std::filesystem::remove(checkpoint);
  if (arguments.common.json)
    print_json({{"accuracy", accuracies},
                {"seconds", seconds_since(start)},
                {"train_seconds", train_seconds},
                {"epochs", epochs},
                {"file", arguments.output}});
  else
    fmt::print(stderr, "{}: {} parameters, {} epochs in {:.1f} s\n", arguments.output,
               model->theta().size(), epochs, seconds_since(start));
  const auto in_words = [](double share) {
    return std::isnan(share) ? std::string("none") : fmt::format("{:.3f}", share);
  };
  fmt::print(stderr, "accuracy: train {}, validation {}, test {}\n", in_words(accuracy.train),
             in_words(accuracy.val), in_words(accuracy.test));
}

}  // namespace

void add_train(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("train", "train a graph neural network");
  verb->add_option("--data", arguments->data, "a dataset: .npz, .csv or TU folder")->required();
  verb->add_option("-o,--output", arguments->output, "the .safetensors file to write")->required();
  verb->add_flag("--resume", arguments->resume, "go on from the checkpoint of an interrupted run");
  add_common_options(*verb, arguments->common);
  add_option_fields(*verb, arguments->architecture);
  add_option_fields(*verb, arguments->train);
  verb->footer(
      "Examples:\n"
      "  pgexplainer train --data ba-shapes.npz -o model.safetensors\n"
      "  pgexplainer train --data mutagenicity/ --arch gin --hidden 32,32,32 --pool add --norm "
      "batch -o gin.safetensors\n"
      "  pgexplainer train --data ba-shapes.npz --arch layers.json -o model.safetensors");
  verb->callback([=] { train(*arguments); });
}

}  // namespace pgexplainer::cli
