// An explanation as Python holds it.
#pragma once

#include <memory>

#include "pgexplainer/explain/explanation.h"
#include "python/bindings/model.h"

namespace pgexplainer::python {

struct Explained {
  Explanation explanation;
  std::shared_ptr<const ModelOnData> both;  ///< null for an explanation that was unpickled
  bool logits = false;                      ///< scores are omega, whose sigmoid is the edge mask
};

}  // namespace pgexplainer::python
