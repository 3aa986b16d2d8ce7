#include "pgexplainer/explain/methods.h"

#include <map>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/explain/attention.h"
#include "pgexplainer/explain/gnn_explainer.h"
#include "pgexplainer/explain/gradient_saliency.h"
#include "pgexplainer/explain/integrated_gradients.h"
#include "pgexplainer/explain/node_gradient.h"
#include "pgexplainer/explain/occlusion.h"
#include "pgexplainer/explain/pg_explainer.h"
#include "pgexplainer/explain/random_scores.h"

namespace pgexplainer {
namespace {

/// A method without options.
struct NoOptions {
  template <class Visitor>
  static void fields(Visitor&&) {}
};

struct Maker {
  std::unique_ptr<Explainer> (*run)(const nlohmann::json& options, const std::string& where,
                                    std::uint64_t seed);
  nlohmann::ordered_json (*fields)();
};

template <class Method, class Options>
std::unique_ptr<Explainer> run(const nlohmann::json& json, const std::string& where,
                               std::uint64_t seed) {
  const auto options = options_from_json<Options>(json, where);
  if constexpr (std::is_constructible_v<Method, Options, std::uint64_t>)
    return std::make_unique<Method>(options, seed);
  else if constexpr (std::is_constructible_v<Method, Options>)
    return std::make_unique<Method>(options);
  else if constexpr (std::is_constructible_v<Method, std::uint64_t>)
    return std::make_unique<Method>(seed);
  else
    return std::make_unique<Method>();
}

template <class Method, class Options>
constexpr Maker kMaker{run<Method, Options>, option_fields_to_json<Options>};

const std::map<std::string, Maker, std::less<>>& makers() {
  static const std::map<std::string, Maker, std::less<>> kMakers = {
      {"att", kMaker<Attention, NoOptions>},
      {"gnnexplainer", kMaker<GnnExplainer, GnnExplainerOptions>},
      {"grad", kMaker<GradientSaliency, GradientSaliencyOptions>},
      {"gradient", kMaker<NodeGradient, NodeGradientOptions>},
      {"integrated-gradients", kMaker<IntegratedGradients, IntegratedGradientsOptions>},
      {"occlusion", kMaker<Occlusion, OcclusionOptions>},
      {"pgexplainer", kMaker<PGExplainer, PGExplainerOptions>},
      {"random", kMaker<RandomScores, NoOptions>},
  };
  return kMakers;
}

const Maker& find_maker(std::string_view method) {
  const auto found = makers().find(method);
  if (found == makers().end())
    throw_bad_input("there is no method '{}'; known are {}", method,
                    fmt::join(method_names(), ", "));
  return found->second;
}

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : makers()) names.push_back(name);
  return names;
}

std::unique_ptr<Explainer> make_explainer(std::string_view method, std::uint64_t seed,
                                          const nlohmann::json& options) {
  const Maker& maker = find_maker(method);
  const std::string where = fmt::format("options of method {}", method);
  if (!options.is_null() && !options.is_object())
    throw_bad_input("{}: expected an object, got {}", where, options.dump());
  return maker.run(options.is_null() ? nlohmann::json::object() : options, where, seed);
}

nlohmann::ordered_json method_option_fields(std::string_view method) {
  return find_maker(method).fields();
}

}  // namespace pgexplainer
