// An interrupted training run on disk (.safetensors), enough to go on to the same bits.
#pragma once

#include <filesystem>
#include <string>

#include "pgexplainer/model/trainer.h"

namespace pgexplainer {

/// `identity` names everything the bits depend on: data, network, options, seed.
void write_train_checkpoint(const std::filesystem::path& path, const TrainState& state,
                            const std::string& identity);
/// Throws if the file belongs to another run.
TrainState read_train_checkpoint(const std::filesystem::path& path, const std::string& identity);

}  // namespace pgexplainer
