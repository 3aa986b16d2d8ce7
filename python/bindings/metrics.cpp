// What judges explanations; docs/metrics.md has the conventions.
#include <pybind11/stl.h>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/verdict.h"
#include "pgexplainer/metrics/auc.h"
#include "pgexplainer/metrics/evaluation.h"
#include "pgexplainer/metrics/stability.h"
#include "pgexplainer/metrics/top_k.h"
#include "pgexplainer/metrics/truth_first.h"
#include "python/bindings/bindings.h"
#include "python/bindings/explained.h"

namespace pgexplainer::python {
namespace {

using Json = nlohmann::ordered_json;
using FloatArray = py::array_t<float, py::array::c_style | py::array::forcecast>;
using ByteArray = py::array_t<std::uint8_t, py::array::c_style | py::array::forcecast>;
using Explanations = std::vector<std::shared_ptr<Explained>>;

template <class T>
std::span<const T> span_of(const py::array_t<T, py::array::c_style | py::array::forcecast>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

std::vector<Explanation> copies(const Explanations& explanations) {
  std::vector<Explanation> all;
  all.reserve(explanations.size());
  for (const auto& each : explanations) all.push_back(each->explanation);
  return all;
}

/// The model and the data that all of them are about; `model` if given, with its own data.
std::shared_ptr<const ModelOnData> both_of(const Explanations& explanations, const Model* model,
                                           const std::shared_ptr<Dataset>& data) {
  if (explanations.empty()) throw_bad_input("there are no explanations to judge");
  if (model) return std::make_shared<const ModelOnData>(model->gnn, data);
  for (const auto& each : explanations)
    if (!each->both || each->both != explanations.front()->both)
      throw_bad_input(
          "the explanations do not know their one model (they were unpickled, or made by several "
          "calls); give model=");
  return explanations.front()->both;
}

Json to_json(const Fidelity& fidelity) {
  return {{"plus", fidelity.plus}, {"minus", fidelity.minus}};
}

Json ground_truth(const Dataset& data, const Explanations& explanations) {
  const auto result = compare_with_ground_truth(data, copies(explanations));
  return {{"auc", result.pooled_auc},
          {"auc_per_instance", result.per_instance_auc},
          {"auc_own_motif", result.own_motif_auc},
          {"num_undefined", result.num_undefined},
          {"accuracy", result.accuracy},
          {"precision", result.precision},
          {"recall", result.recall},
          {"num_edges", result.edges},
          {"num_positives", result.positives}};
}

Json faithfulness(const Explanations& explanations, const Model* model,
                  const std::shared_ptr<Dataset>& data, std::uint64_t seed, int threads) {
  const auto both = both_of(explanations, model, data);
  ThreadPool pool(threads);
  const Faithfulness result =
      measure_faithfulness(both->explained, copies(explanations), seed, pool);
  Json curve = Json::array();
  for (const SparsityPoint& point : result.curve)
    curve.push_back({{"sparsity", point.sparsity},
                     {"label", to_json(point.label)},
                     {"probability", to_json(point.probability)}});
  return {{"label", to_json(result.label)},
          {"probability", to_json(result.probability)},
          {"robust_label", to_json(result.robust.label)},
          {"robust_probability", to_json(result.robust.probability)},
          {"unfaithfulness", result.unfaithfulness},
          {"characterization", result.characterization},
          {"connectedness", result.connectedness},
          {"curve", curve}};
}

Json verdict(const Explanations& explanations, const Model* model,
             const std::shared_ptr<Dataset>& data, int threads) {
  const auto both = both_of(explanations, model, data);
  ThreadPool pool(threads);
  return to_json(judge(both->explained, copies(explanations), pool));
}

double truth_first(const Explanations& explanations, const Model* model,
                   const std::shared_ptr<Dataset>& data, int threads) {
  const auto both = both_of(explanations, model, data);
  ThreadPool pool(threads);
  return truth_first_gap(both->explained, copies(explanations), pool);
}

/// Work that does not touch Python.
template <class Work>
auto unlocked(const Work& work) {
  const py::gil_scoped_release released;
  return work();
}

}  // namespace

void bind_metrics(py::module_& module) {
  module.def("ground_truth", [](const std::shared_ptr<Dataset>& data, const Explanations& e) {
    return to_python(unlocked([&] { return ground_truth(*data, e); }));
  });
  module.def(
      "faithfulness", [](const Explanations& e, const Model* model,
                         const std::shared_ptr<Dataset>& data, std::uint64_t seed, int threads) {
        return to_python(unlocked([&] { return faithfulness(e, model, data, seed, threads); }));
      });
  module.def("verdict", [](const Explanations& e, const Model* model,
                           const std::shared_ptr<Dataset>& data, int threads) {
    return to_python(unlocked([&] { return verdict(e, model, data, threads); }));
  });
  module.def("truth_first_gap", [](const Explanations& e, const Model* model,
                                   const std::shared_ptr<Dataset>& data, int threads) {
    return unlocked([&] { return truth_first(e, model, data, threads); });
  });
  module.def("roc_auc", [](const ByteArray& label, const FloatArray& score) {
    return roc_auc(span_of(label), span_of(score));
  });
  module.def(
      "compare_masks", [](const FloatArray& prediction, const FloatArray& target, float threshold) {
        const MaskAgreement result = compare_masks(span_of(prediction), span_of(target), threshold);
        return to_python({{"accuracy", result.accuracy},
                          {"precision", result.precision},
                          {"recall", result.recall},
                          {"f1", result.f1},
                          {"auroc", result.auroc}});
      });
  module.def("stability", [](const std::vector<std::vector<float>>& runs, std::int64_t k) {
    const Stability result = stability(runs, k);
    return to_python({{"spearman", result.spearman},
                      {"jaccard", result.jaccard},
                      {"num_pairs", result.num_pairs},
                      {"num_undefined", result.num_undefined}});
  });
  module.def("characterization_score", characterization_score);
}

}  // namespace pgexplainer::python
