// A network that Python runs: forward, adjoint and embeddings are calls of a Python object. Slow,
// but any differentiable model becomes a Gnn.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "pgexplainer/model/gnn.h"

namespace pgexplainer::python {

struct CallableDescription {
  Task task = Task::node;
  Index num_features = 0;
  Index num_classes = 0;
  int num_hops = Gnn::kWholeGraph;
};

/// `new_run()` gives an object with
///   forward(x, edge_index, edge_weight, batch, rows) -> logits of the first `rows` rows,
///   backward(dlogits) -> (dL/dedge_weight, dL/dx) of the last forward, and
///   embed(x, edge_index, edge_weight, rows) -> one row per node,
/// all in NumPy arrays. edge_weight is the mask times the data's weights; batch is None for nodes.
/// What these raise comes out as it is.
std::shared_ptr<const Gnn> make_callable_gnn(pybind11::object new_run,
                                             const CallableDescription& description);

}  // namespace pgexplainer::python
