#include "pgexplainer/io/train_checkpoint.h"

#include <cstring>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/model_file.h"
#include "pgexplainer/io/safetensors.h"

namespace pgexplainer {
namespace {

constexpr const char* kFormat = "pgexplainer training checkpoint 1";

template <class T>
Tensor bytes_of(const std::vector<T>& values, const char* dtype) {
  const auto bytes = std::as_bytes(std::span(values));
  return {dtype, {static_cast<std::int64_t>(values.size())}, {bytes.begin(), bytes.end()}};
}

template <class T>
std::vector<T> values_of(const Safetensors& content, const char* name, const char* dtype,
                         const std::string& where) {
  const auto found = content.tensors.find(name);
  if (found == content.tensors.end() || found->second.dtype != dtype)
    throw_bad_input("{}: the tensor {} of type {} is missing; start the training anew", where, name,
                    dtype);
  std::vector<T> values(found->second.data.size() / sizeof(T));
  std::memcpy(values.data(), found->second.data.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

void write_train_checkpoint(const std::filesystem::path& path, const TrainState& state,
                            const std::string& identity) {
  std::vector<double> history;
  for (const EpochRecord& r : state.history)
    history.insert(history.end(), {r.loss, r.train_accuracy, r.val_accuracy, r.val_loss});
  Safetensors content;
  content.metadata = {{"format", kFormat}, {"identity", identity}};
  content.tensors["theta"] = bytes_of(state.theta, "F32");
  content.tensors["adam.m"] = bytes_of(state.adam.m, "F32");
  content.tensors["adam.v"] = bytes_of(state.adam.v, "F32");
  content.tensors["best.theta"] = bytes_of(state.best_theta, "F32");
  content.tensors["best.score"] =
      bytes_of(std::vector<double>{state.best_accuracy, state.best_loss}, "F64");
  content.tensors["history"] = bytes_of(history, "F64");
  content.tensors["counters"] =
      bytes_of(std::vector<std::int64_t>{state.epoch, state.adam.step, state.best_epoch}, "I64");
  write_safetensors(path, content);
}

TrainState read_train_checkpoint(const std::filesystem::path& path, const std::string& identity) {
  const Safetensors content = read_safetensors(path);
  const std::string where = path.string();
  if (!content.metadata.contains("format") || content.metadata.at("format") != kFormat)
    throw_bad_input("{}: this is not a training checkpoint", where);
  if (!content.metadata.contains("identity") || content.metadata.at("identity") != identity)
    throw_bad_input(
        "{}: the checkpoint is of a run with other data, layers, options or seed; repeat them "
        "exactly, or train "
        "without --resume",
        where);
  TrainState state;
  state.theta = values_of<float>(content, "theta", "F32", where);
  state.adam.m = values_of<float>(content, "adam.m", "F32", where);
  state.adam.v = values_of<float>(content, "adam.v", "F32", where);
  state.best_theta = values_of<float>(content, "best.theta", "F32", where);
  const auto score = values_of<double>(content, "best.score", "F64", where);
  const auto history = values_of<double>(content, "history", "F64", where);
  const auto counters = values_of<std::int64_t>(content, "counters", "I64", where);
  if (score.size() != 2 || counters.size() != 3 || history.size() % 4 != 0)
    throw_bad_input("{}: the checkpoint is damaged; start the training anew", where);
  state.best_accuracy = score[0];
  state.best_loss = score[1];
  state.epoch = counters[0];
  state.adam.step = counters[1];
  state.best_epoch = counters[2];
  for (std::size_t i = 0; i < history.size(); i += 4)
    state.history.push_back({history[i], history[i + 1], history[i + 2], history[i + 3]});
  return state;
}

}  // namespace pgexplainer
