// The JSON description of a network: an encoder made of blocks, a readout for graph tasks, and a
// classifier.
//
//   {"task": "node", "in_channels": 10, "num_classes": 4,
//    "blocks": [[{"type": "GCNConv", "name": "conv1", "out_channels": 20}, {"type": "ReLU"}], ...],
//    "jumping_knowledge": "cat",            // or "last": what leaves the encoder
//    "readout": ["max"],                    // graph task only: add, mean, max, concatenated
//    "classifier": [{"type": "Linear", "name": "lin", "out_channels": 4}]}
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pgexplainer/datasets/dataset.h"
#include "pgexplainer/nn/aggregate.h"

namespace pgexplainer {

struct ModelSpec {
  Task task = Task::node;
  std::int64_t in_channels = 0;
  std::int64_t num_classes = 0;
  std::vector<std::vector<nlohmann::json>> blocks;  ///< layers as make_layer reads them
  bool concatenate_blocks = false;
  std::vector<Aggregation> readout;
  std::vector<nlohmann::json> classifier;
};

/// Throws, naming `where` and the key, unless the description is whole. Layers are checked when the
/// model is built.
ModelSpec parse_model_spec(const nlohmann::json& json, const std::string& where);
nlohmann::json to_json(const ModelSpec& spec);

}  // namespace pgexplainer
