// A network as Python holds it, and a network beside its data.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "pgexplainer/explain/explained_model.h"
#include "pgexplainer/model/native_gnn.h"

namespace pgexplainer::python {

struct Model {
  std::shared_ptr<const Gnn> gnn;
  std::shared_ptr<NativeGnn<float>> native;  ///< null if `gnn` is not such a network alone
  nlohmann::json training;                   ///< as in ModelFile
  bool in_python = false;

  /// A model that Python runs is called on one thread, which holds Python's lock.
  [[nodiscard]] int threads(int wanted) const { return in_python ? 1 : wanted; }
};

/// Keeps the dataset and the network alive for what is computed of both.
struct ModelOnData {
  ModelOnData(std::shared_ptr<const Gnn> network, std::shared_ptr<const Dataset> dataset,
              CutOptions cut = {})
      : data(std::move(dataset)), explained(std::move(network), *data, std::move(cut)) {}

  std::shared_ptr<const Dataset> data;
  ExplainedModel explained;
};

}  // namespace pgexplainer::python
