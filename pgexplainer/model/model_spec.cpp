#include "pgexplainer/model/model_spec.h"

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

const char* word(Aggregation aggregation) {
  return aggregation == Aggregation::sum    ? "add"
         : aggregation == Aggregation::mean ? "mean"
                                            : "max";
}

const char* word(JumpingKnowledge kind) {
  return kind == JumpingKnowledge::cat ? "cat" : kind == JumpingKnowledge::max ? "max" : "last";
}

std::vector<json> layer_list(const json& list, const std::string& where) {
  if (!list.is_array()) throw_bad_input("{} must be a list of layers", where);
  return {list.begin(), list.end()};
}

}  // namespace

JumpingKnowledge parse_jumping_knowledge(const std::string& name, const std::string& where) {
  for (const auto kind : {JumpingKnowledge::last, JumpingKnowledge::cat, JumpingKnowledge::max})
    if (name == word(kind)) return kind;
  throw_bad_input("{} is {}, expected last, cat or max", where, name);
}

ModelSpec parse_model_spec(const json& json, const std::string& where) {
  if (!json.is_object()) throw_bad_input("{}: a model is described by a JSON object", where);
  for (const auto& item : json.items())
    if (item.key() != "task" && item.key() != "in_channels" && item.key() != "num_classes" &&
        item.key() != "blocks" && item.key() != "jumping_knowledge" && item.key() != "readout" &&
        item.key() != "classifier")
      throw_bad_input(
          "{}: unknown key '{}'; known are task, in_channels, num_classes, blocks, "
          "jumping_knowledge, "
          "readout, classifier",
          where, item.key());
  const auto get = [&](const char* key) -> const nlohmann::json& {
    const auto found = json.find(key);
    if (found == json.end()) throw_bad_input("{}: the key '{}' is missing", where, key);
    return *found;
  };
  const auto positive = [&](const char* key) {
    const nlohmann::json& value = get(key);
    if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > 1e6)
      throw_bad_input("{}: '{}' is {}, expected a whole number from 1 to 1000000", where, key,
                      value.dump());
    return value.get<std::int64_t>();
  };

  ModelSpec spec;
  const nlohmann::json& task = get("task");
  if (task == "graph")
    spec.task = Task::graph;
  else if (task != "node")
    throw_bad_input("{}: 'task' is {}, expected \"node\" or \"graph\"", where, task.dump());
  spec.in_channels = positive("in_channels");
  spec.num_classes = positive("num_classes");

  const nlohmann::json& blocks = get("blocks");
  if (!blocks.is_array() || blocks.empty())
    throw_bad_input("{}: 'blocks' must be a list of at least one list of layers", where);
  for (const auto& block : blocks) {
    spec.blocks.push_back(
        layer_list(block, fmt::format("{}: blocks[{}]", where, spec.blocks.size())));
    if (spec.blocks.back().empty())
      throw_bad_input("{}: blocks[{}] has no layer", where, spec.blocks.size() - 1);
  }
  spec.classifier = layer_list(get("classifier"), where + ": classifier");

  if (json.contains("jumping_knowledge")) {
    const nlohmann::json& kind = json["jumping_knowledge"];
    spec.jumping_knowledge = parse_jumping_knowledge(
        kind.is_string() ? kind.get<std::string>() : kind.dump(), where + ": 'jumping_knowledge'");
  }
  if (spec.task == Task::graph) {
    const nlohmann::json& readout = get("readout");
    if (!readout.is_array() || readout.empty())
      throw_bad_input("{}: 'readout' must be a list of add, mean, max", where);
    for (const auto& kind : readout) {
      if (!kind.is_string()) throw_bad_input("{}: 'readout' holds {}", where, kind.dump());
      spec.readout.push_back(parse_aggregation(kind.get<std::string>()));
    }
  } else if (json.contains("readout") && !json["readout"].empty()) {
    throw_bad_input("{}: a node model has no 'readout'", where);
  }
  return spec;
}

json to_json(const ModelSpec& spec) {
  json result = {{"task", spec.task == Task::node ? "node" : "graph"},
                 {"in_channels", spec.in_channels},
                 {"num_classes", spec.num_classes},
                 {"blocks", spec.blocks},
                 {"jumping_knowledge", word(spec.jumping_knowledge)},
                 {"classifier", spec.classifier}};
  if (spec.task == Task::graph) {
    result["readout"] = json::array();
    for (const Aggregation kind : spec.readout) result["readout"].push_back(word(kind));
  }
  return result;
}

}  // namespace pgexplainer
