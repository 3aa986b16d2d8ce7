// The JSON description of a network: an encoder made of blocks, a readout for graph tasks, and a
// classifier.
//
//   {"task": "node", "in_channels": 10, "num_classes": 4,
//    "blocks": [[{"type": "GCNConv", "name": "conv1", "out_channels": 20}, {"type": "ReLU"}], ...],
//    "jumping_knowledge": "cat",            // or "last", "max": what leaves the encoder
//    "readout": ["max"],                    // graph task only: add, mean, max, concatenated
//    "classifier": [{"type": "Linear", "name": "lin", "out_channels": 4}]}
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pgexplainer/datasets/dataset.h"
#include "pgexplainer/nn/aggregate.h"

namespace pgexplainer {

/// What leaves the encoder: the last block, all of them side by side, or their largest entries (Xu
/// et al., "Representation Learning on Graphs with Jumping Knowledge Networks", ICML 2018).
enum class JumpingKnowledge { last, cat, max };
/// By these words; throws, naming `where`, on others.
JumpingKnowledge parse_jumping_knowledge(const std::string& word, const std::string& where);

struct ModelSpec {
  Task task = Task::node;
  std::int64_t in_channels = 0;
  std::int64_t num_classes = 0;
  std::vector<std::vector<nlohmann::json>> blocks;  ///< layers as make_layer reads them
  JumpingKnowledge jumping_knowledge = JumpingKnowledge::last;
  std::vector<Aggregation> readout;
  std::vector<nlohmann::json> classifier;
};

/// Throws, naming `where` and the key, unless the description is whole. Layers are checked when the
/// model is built.
ModelSpec parse_model_spec(const nlohmann::json& json, const std::string& where);
nlohmann::json to_json(const ModelSpec& spec);

}  // namespace pgexplainer
