#include "pgexplainer/io/model_file.h"

#include <cmath>
#include <cstring>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/io/npz.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "pgexplainer model";
constexpr const char* kVersion = "1";

json parse_json(const std::string& text, const std::string& where) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw_bad_input("{}: not valid JSON: {}", where, error.what());
  }
}

}  // namespace

std::shared_ptr<NativeGnn<float>> model_from_tensors(const ModelSpec& spec,
                                                     const std::map<std::string, Tensor>& tensors,
                                                     const std::string& where) {
  auto model = std::make_shared<NativeGnn<float>>(spec, where, 0);
  for (const Parameter& p : model->layout().parameters()) {
    const auto found = tensors.find(p.name);
    if (found == tensors.end())
      throw_bad_input("{}: the tensor {} {} is missing", where, p.name, shape_text(p.shape));
    const Tensor& tensor = found->second;
    if (tensor.dtype != "F32")
      throw_bad_input("{}: the tensor {} has type {}, expected F32", where, p.name, tensor.dtype);
    if (tensor.shape != p.shape)
      throw_bad_input("{}: the tensor {} has shape {}, expected {}", where, p.name,
                      shape_text(tensor.shape), shape_text(p.shape));
    float* values = model->theta().data() + p.offset;
    std::memcpy(values, tensor.data.data(), tensor.data.size());
    for (std::size_t i = 0; i < p.size; ++i)
      if (!std::isfinite(values[i]))
        throw_bad_input("{}: the tensor {} holds the value {}; the model is broken", where, p.name,
                        values[i]);
  }
  for (const auto& [name, tensor] : tensors)
    if (!model->layout().find(name) && !name.ends_with("num_batches_tracked"))
      throw_bad_input("{}: the tensor {} belongs to no layer of the description", where, name);
  return model;
}

bool is_model(const Safetensors& content) {
  const auto format = content.metadata.find("format");
  return format != content.metadata.end() && format->second == kFormat;
}

ModelFile read_model(const std::filesystem::path& path) {
  const Safetensors content = read_safetensors(path);
  const std::string where = path.string();
  const auto get = [&](const char* key) {
    const auto found = content.metadata.find(key);
    return found == content.metadata.end() ? std::string() : found->second;
  };
  if (!is_model(content))
    throw_bad_input(
        "{}: this safetensors file is not a model of pgexplainer (no format '{}' in its metadata)",
        where, kFormat);
  if (get("version") != kVersion)
    throw_bad_input("{}: model format version '{}' is not known; this program reads version {}",
                    where, get("version"), kVersion);
  const ModelSpec spec =
      parse_model_spec(parse_json(get("model"), where + ": metadata 'model'"), where);
  ModelFile file;
  file.model = model_from_tensors(spec, content.tensors, where);
  if (!get("training").empty())
    file.training = parse_json(get("training"), where + ": metadata 'training'");
  return file;
}

std::shared_ptr<NativeGnn<float>> read_model_weights(const std::filesystem::path& path,
                                                     const ModelSpec& spec) {
  return model_from_tensors(spec, read_safetensors(path).tensors, path.string());
}

void write_model(const std::filesystem::path& path, const NativeGnn<float>& model,
                 const json& training) {
  Safetensors content;
  content.metadata = {{"format", kFormat},
                      {"version", kVersion},
                      {"model", to_json(model.spec()).dump()},
                      {"training", training.dump()}};
  for (const Parameter& p : model.layout().parameters())
    content.tensors[p.name] =
        make_tensor(std::span(model.theta()).subspan(p.offset, p.size), p.shape);
  write_safetensors(path, content);
}

ModelSpec read_model_spec(const std::filesystem::path& path, const Dataset& dataset) {
  json description = parse_json(read_file_text(path), path.string());
  if (!description.is_object())
    throw_bad_input("{}: a model is described by a JSON object", path.string());
  const json data = {{"task", dataset.task == Task::node ? "node" : "graph"},
                     {"in_channels", dataset.x.cols()},
                     {"num_classes", dataset.num_classes()}};
  for (const auto& item : data.items())
    if (!description.contains(item.key())) description[item.key()] = item.value();
  return parse_model_spec(description, path.string());
}

Tensor make_tensor(std::span<const float> values, std::vector<std::int64_t> shape) {
  const auto bytes = std::as_bytes(values);
  return {"F32", std::move(shape), {bytes.begin(), bytes.end()}};
}

}  // namespace pgexplainer
