#include "pgexplainer/nn/layer_factory.h"

#include <functional>
#include <map>

#include "pgexplainer/core/option_json.h"
#include "pgexplainer/nn/activation.h"
#include "pgexplainer/nn/batch_norm.h"
#include "pgexplainer/nn/dropout.h"
#include "pgexplainer/nn/gat_conv.h"
#include "pgexplainer/nn/gatv2_conv.h"
#include "pgexplainer/nn/gcn_conv.h"
#include "pgexplainer/nn/gin_conv.h"
#include "pgexplainer/nn/l2_norm.h"
#include "pgexplainer/nn/layer_norm.h"
#include "pgexplainer/nn/linear.h"
#include "pgexplainer/nn/neighborhood_conv.h"
#include "pgexplainer/nn/transformer_conv.h"

namespace pgexplainer {
namespace {

struct Request {
  const nlohmann::json& description;
  const std::string& where;
  std::string name;
  Index in;
  std::uint32_t position;
  ParameterLayout& layout;

  template <class Options>
  [[nodiscard]] Options options() const {
    return options_from_json<Options>(description, where, {"type", "name"});
  }
  /// Layers with parameters need a name.
  template <class Options>
  [[nodiscard]] Options named() const {
    if (name.empty())
      throw_bad_input("{}: this layer needs a \"name\", the prefix of its parameters", where);
    return options<Options>();
  }
};

struct NoOptions {
  template <class Visitor>
  static void fields(Visitor&&) {}
};

template <class T>
using Maker = std::function<std::unique_ptr<Layer<T>>(const Request&)>;

template <class T, class L, class Options>
Maker<T> named_layer() {
  return [](const Request& r) {
    return std::make_unique<L>(r.named<Options>(), r.name, r.in, r.layout);
  };
}

template <class T>
Maker<T> activation(ActivationKind kind) {
  return [kind](const Request& r) {
    return std::make_unique<Activation<T>>(kind, r.options<ActivationOptions>(), r.in);
  };
}

template <class T>
Maker<T> gin(bool edge_features) {
  return [edge_features](const Request& r) {
    return std::make_unique<GinConv<T>>(r.named<GinConvOptions>(), edge_features, r.name, r.in,
                                        r.layout);
  };
}

template <class T>
const std::map<std::string, Maker<T>>& makers() {
  static const std::map<std::string, Maker<T>> table = {
      {"Linear", named_layer<T, Linear<T>, LinearOptions>()},
      {"GCNConv", named_layer<T, GcnConv<T>, GcnConvOptions>()},
      {"GraphConv", named_layer<T, NeighborhoodConv<T>, GraphConvOptions>()},
      {"SAGEConv", named_layer<T, NeighborhoodConv<T>, SageConvOptions>()},
      {"GINConv", gin<T>(false)},
      {"GINEConv", gin<T>(true)},
      {"GATConv", named_layer<T, GatConv<T>, GatConvOptions>()},
      {"GATv2Conv", named_layer<T, Gatv2Conv<T>, GatConvOptions>()},
      {"TransformerConv", named_layer<T, TransformerConv<T>, TransformerConvOptions>()},
      {"BatchNorm", named_layer<T, BatchNorm<T>, BatchNormOptions>()},
      {"LayerNorm", named_layer<T, LayerNorm<T>, LayerNormOptions>()},
      {"ReLU", activation<T>(ActivationKind::relu)},
      {"ELU", activation<T>(ActivationKind::elu)},
      {"LeakyReLU", activation<T>(ActivationKind::leaky_relu)},
      {"Tanh", activation<T>(ActivationKind::tanh)},
      {"Sigmoid", activation<T>(ActivationKind::sigmoid)},
      {"Softplus", activation<T>(ActivationKind::softplus)},
      {"GELU", activation<T>(ActivationKind::gelu)},
      {"SiLU", activation<T>(ActivationKind::silu)},
      {"L2Norm",
       [](const Request& r) {
         (void)r.options<NoOptions>();
         return std::make_unique<L2Norm<T>>(r.in);
       }},
      {"Dropout",
       [](const Request& r) {
         return std::make_unique<Dropout<T>>(r.options<DropoutOptions>(), r.position, r.in);
       }},
  };
  return table;
}

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> make_layer(const nlohmann::json& description, const std::string& where,
                                     Index in_channels, std::uint32_t position,
                                     ParameterLayout& layout) {
  const auto string_at = [&](const char* key) -> std::string {
    if (!description.is_object())
      throw_bad_input("{}: a layer is an object such as {{\"type\": \"ReLU\"}}", where);
    const auto found = description.find(key);
    if (found == description.end()) return {};
    if (!found->is_string()) throw_bad_input("{}: '{}' must be a string", where, key);
    return found->template get<std::string>();
  };
  const std::string type = string_at("type");
  const auto maker = makers<T>().find(type);
  if (maker == makers<T>().end())
    throw_bad_input("{}: unknown layer type '{}'; known are {}", where, type,
                    fmt::join(layer_types(), ", "));
  return maker->second({description, where, string_at("name"), in_channels, position, layout});
}

std::vector<std::string> layer_types() {
  std::vector<std::string> types;
  for (const auto& [type, maker] : makers<float>()) types.push_back(type);
  return types;
}

template std::unique_ptr<Layer<float>> make_layer(const nlohmann::json&, const std::string&, Index,
                                                  std::uint32_t, ParameterLayout&);
template std::unique_ptr<Layer<double>> make_layer(const nlohmann::json&, const std::string&, Index,
                                                   std::uint32_t, ParameterLayout&);

}  // namespace pgexplainer
