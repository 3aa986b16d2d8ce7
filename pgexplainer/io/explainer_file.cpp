#include "pgexplainer/io/explainer_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/io/model_file.h"
#include "pgexplainer/io/npz.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "pgexplainer explainer";
constexpr const char* kVersion = "5";
// 4 without rivals, 3 without order networks; 1 and 2 had other options.
constexpr std::array<std::string_view, 3> kKnownVersions{"3", "4", kVersion};
constexpr const char* kFeatureLogits = "feature_logits";

/// Throws unless it is valid JSON.
json parse_metadata(const Safetensors& content, const char* key, const std::string& where) {
  const auto found = content.metadata.find(key);
  if (found == content.metadata.end()) throw_bad_input("{}: the metadata have no '{}'", where, key);
  try {
    return json::parse(found->second);
  } catch (const json::exception& error) {
    throw_bad_input("{}: metadata '{}' is not valid JSON: {}", where, key, error.what());
  }
}

/// The same, and an object.
json parse_object(const Safetensors& content, const char* key, const std::string& where) {
  json parsed = parse_metadata(content, key, where);
  if (!parsed.is_object()) throw_bad_input("{}: metadata '{}' is not a JSON object", where, key);
  return parsed;
}

/// Copies a finite float tensor; any length if expected_shape is empty.
std::vector<float> tensor_values(const Safetensors& content, const std::string& name,
                                 const std::vector<std::int64_t>& expected_shape,
                                 const std::string& where) {
  const auto found = content.tensors.find(name);
  if (found == content.tensors.end())
    throw_bad_input("{}: the tensor {} {} is missing", where, name, shape_text(expected_shape));
  const Tensor& tensor = found->second;
  if (tensor.dtype != "F32")
    throw_bad_input("{}: the tensor {} has type {}, expected F32", where, name, tensor.dtype);
  if (!expected_shape.empty() && tensor.shape != expected_shape)
    throw_bad_input("{}: the tensor {} has shape {}, expected {}", where, name,
                    shape_text(tensor.shape), shape_text(expected_shape));
  std::vector<float> values(tensor.data.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  for (const float value : values)
    if (!std::isfinite(value))
      throw_bad_input("{}: the tensor {} holds the value {}; the explainer is broken", where, name,
                      value);
  return values;
}

}  // namespace

bool is_explainer(const Safetensors& content) {
  const auto format = content.metadata.find("format");
  return format != content.metadata.end() && format->second == kFormat;
}

ExplainerFile read_explainer(const std::filesystem::path& path) {
  const Safetensors content = read_safetensors(path);
  const std::string where = path.string();
  if (!is_explainer(content))
    throw_bad_input(
        "{}: this safetensors file is not an explainer of pgexplainer (no format '{}' in its "
        "metadata); make one with `pgexplainer fit`",
        where, kFormat);
  const auto version = content.metadata.find("version");
  if (version == content.metadata.end() ||
      std::ranges::find(kKnownVersions, version->second) == kKnownVersions.end())
    throw_bad_input(
        "{}: explainer format version '{}' is not known; this program reads versions {} to {}: fit "
        "the explainer again",
        where, version == content.metadata.end() ? "" : version->second, kKnownVersions.front(),
        kVersion);
  const json options_json = parse_object(content, "options", where);
  const auto options =
      options_from_json<PGExplainerOptions>(options_json, where + ": metadata 'options'");
  const json shape = parse_object(content, "shape", where);
  const auto integer = [&](const char* key, std::int64_t low, std::int64_t high) {
    const auto found = shape.find(key);
    if (found == shape.end() || !found->is_number_integer() || found->get<std::int64_t>() < low ||
        found->get<std::int64_t>() > high)
      throw_bad_input("{}: metadata 'shape' needs {} from {} to {}", where, key, low, high);
    return found->get<std::int64_t>();
  };
  PGExplainer::Fitted fitted;
  fitted.embedding_width = static_cast<Index>(integer("embedding_width", 1, 1 << 20));
  fitted.num_targets = static_cast<int>(integer("num_targets", 0, 2));
  std::uint64_t seed = 0;
  if (const auto found = shape.find("seed"); found != shape.end()) {
    if (!found->is_number_unsigned())
      throw_bad_input("{}: metadata 'shape' has seed {}, expected a whole number", where,
                      found->dump());
    seed = found->get<std::uint64_t>();
  }
  try {
    check_options(options);
  } catch (const Error& error) {
    throw_bad_input("{}: metadata 'options': {}", where, error.what());
  }
  std::vector<std::string> known{kFeatureLogits};
  const auto read_parameters = [&](const EdgeScorer<float>& scorer, std::vector<float>& theta) {
    theta.resize(scorer.layout().size());
    for (const Parameter& p : scorer.layout().parameters()) {
      const std::vector<float> values = tensor_values(content, p.name, p.shape, where);
      std::copy(values.begin(), values.end(),
                theta.begin() + static_cast<std::ptrdiff_t>(p.offset));
      known.push_back(p.name);
    }
  };
  read_parameters(EdgeScorer<float>(fitted.embedding_width, fitted.num_targets, options.hidden),
                  fitted.theta);
  if (shape.contains("order_levels")) {
    fitted.num_levels = static_cast<Index>(integer("order_levels", 0, 1 << 20));
    const OrderNetwork order(fitted.embedding_width, fitted.num_targets, fitted.num_levels, seed);
    read_parameters(order.scorer(), fitted.order);
  }
  if (shape.contains("refine")) fitted.refine = integer("refine", 0, 1'000'000);
  if (const auto found = shape.find("rival_lead"); found != shape.end()) {
    if (!found->is_number() || found->get<double>() < 0 || found->get<double>() > 2)
      throw_bad_input("{}: metadata 'shape' needs rival_lead from 0 to 2", where);
    fitted.rival_lead = found->get<double>();
  }
  if (content.tensors.contains(kFeatureLogits))
    fitted.feature_logits = tensor_values(content, kFeatureLogits, {}, where);
  for (const auto& [name, tensor] : content.tensors)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw_bad_input("{}: the tensor {} is unknown", where, name);

  ExplainerFile file;
  file.explainer = std::make_unique<PGExplainer>(options, seed, std::move(fitted));
  if (content.metadata.contains("fit")) file.fit = parse_metadata(content, "fit", where);
  return file;
}

void write_explainer(const std::filesystem::path& path, const PGExplainer& explainer,
                     const json& fit) {
  const PGExplainer::Fitted& fitted = explainer.fitted();
  json shape = {{"embedding_width", fitted.embedding_width},
                {"num_targets", fitted.num_targets},
                {"seed", explainer.seed()},
                {"refine", fitted.refine}};
  if (fitted.rival_lead) shape["rival_lead"] = *fitted.rival_lead;
  Safetensors content;
  const auto write_parameters = [&](const EdgeScorer<float>& scorer,
                                    const std::vector<float>& theta) {
    for (const Parameter& p : scorer.layout().parameters())
      content.tensors[p.name] = make_tensor(std::span(theta).subspan(p.offset, p.size), p.shape);
  };
  write_parameters(
      EdgeScorer<float>(fitted.embedding_width, fitted.num_targets, explainer.options().hidden),
      fitted.theta);
  if (!fitted.order.empty()) {
    shape["order_levels"] = fitted.num_levels;
    write_parameters(
        OrderNetwork(fitted.embedding_width, fitted.num_targets, fitted.num_levels, fitted.order)
            .scorer(),
        fitted.order);
  }
  content.metadata = {{"format", kFormat},
                      {"version", kVersion},
                      {"options", options_to_json(explainer.options()).dump()},
                      {"shape", shape.dump()},
                      {"fit", fit.dump()}};
  if (!fitted.feature_logits.empty())
    content.tensors[kFeatureLogits] = make_tensor(
        fitted.feature_logits, {static_cast<std::int64_t>(fitted.feature_logits.size())});
  write_safetensors(path, content);
}

}  // namespace pgexplainer
