#include "python/bindings/callable_gnn.h"

#include <algorithm>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "python/bindings/bindings.h"

namespace pgexplainer::python {
namespace {

using FloatArray = py::array_t<float, py::array::c_style | py::array::forcecast>;

/// May be dropped by a thread that does not hold Python's lock.
using Object = std::shared_ptr<const py::object>;
Object keep(py::object object) {
  return {new py::object(std::move(object)), [](const py::object* owned) {
            const py::gil_scoped_acquire locked;
            delete owned;
          }};
}

/// Copies, since Python may keep what it is given.
FloatArray to_array(const Matrix<float>& values) {
  return FloatArray({values.rows(), values.cols()}, values.data());
}

void read_matrix(const py::object& given, const char* what, Index rows, Index cols,
                 Matrix<float>& result) {
  const auto array = given.cast<FloatArray>();
  if (array.ndim() != 2 || array.shape(0) != rows || (cols >= 0 && array.shape(1) != cols)) {
    const std::vector<std::int64_t> shape(array.shape(), array.shape() + array.ndim());
    throw_bad_input("the model gave {} of shape ({}), expected ({}, {})", what,
                    fmt::join(shape, ", "), rows, cols >= 0 ? std::to_string(cols) : "any number");
  }
  result.resize(rows, array.shape(1));
  std::copy_n(array.data(), array.size(), result.data());
}

class CallableRun final : public GnnRun {
 public:
  CallableRun(const Object& new_run, const CallableDescription& description)
      : description_(description) {
    const py::gil_scoped_acquire locked;
    run_ = keep((*new_run)());
  }

  const Matrix<float>& forward(const GnnInput<float>& input,
                               std::span<const float> edge_mask) override {
    const py::gil_scoped_acquire locked;
    const Index rows = rows_of(input);
    weight_.assign(input.edge_weight.begin(), input.edge_weight.end());
    const py::object logits = run_->attr("forward")(
        to_array(*input.x), edge_index(input), edge_weight(input, edge_mask), batch(input), rows);
    read_matrix(logits, "logits", rows, description_.num_classes, logits_);
    return logits_;
  }

  void backward(const Matrix<float>& dlogits, std::span<float> dmask, Matrix<float>* dx) override {
    const py::gil_scoped_acquire locked;
    const py::tuple gradients = run_->attr("backward")(to_array(dlogits));
    if (!dmask.empty()) {
      const auto dweight = gradients[0].cast<FloatArray>();
      for (std::size_t e = 0; e < dmask.size(); ++e)
        dmask[e] += dweight.data()[e] * (weight_.empty() ? 1.0F : weight_[e]);
    }
    if (dx) {
      const auto gradient = gradients[1].cast<FloatArray>();
      dx->resize(gradient.shape(0), gradient.shape(1));
      std::copy_n(gradient.data(), gradient.size(), dx->data());
    }
  }

  const Matrix<float>& embed(const GnnInput<float>& input, Embedding kind) override {
    const py::gil_scoped_acquire locked;
    const Index rows = input.nodes_within.empty() ? input.graph.num_nodes() : rows_of(input);
    const py::object z =
        run_->attr("embed")(to_array(*input.x), edge_index(input), edge_weight(input, {}), rows);
    read_matrix(z, "embeddings", rows, -1, z_);
    if (kind == Embedding::all_layers) copy_shortened(z_, z_, 0);
    return z_;
  }

 private:
  [[nodiscard]] Index rows_of(const GnnInput<float>& input) const {
    if (description_.task == Task::graph)
      return input.graph_ptr.empty() ? 1 : static_cast<Index>(input.graph_ptr.size()) - 1;
    return input.nodes_within.empty() ? input.graph.num_nodes() : input.nodes_within.front();
  }

  static py::array edge_index(const GnnInput<float>& input) {
    if (input.edge_attr)
      throw_bad_input(
          "the data have edge_attr, which a CallableModel does not get; leave them out of the "
          "Graph "
          "or convert the model");
    const Adjacency& graph = input.graph;
    py::array_t<std::int64_t> ends({py::ssize_t{2}, static_cast<py::ssize_t>(graph.num_edges())});
    std::int64_t* const source = ends.mutable_data();
    std::int64_t* const target = source + graph.num_edges();
    for (NodeId i = 0; i < graph.num_nodes(); ++i)
      for (EdgeId slot = graph.in_ptr[at(i)]; slot < graph.in_ptr[at(i) + 1]; ++slot) {
        source[graph.edge_of(slot)] = graph.in_source[at(slot)];
        target[graph.edge_of(slot)] = i;
      }
    return ends;
  }

  static py::array edge_weight(const GnnInput<float>& input, std::span<const float> mask) {
    FloatArray weight(input.graph.num_edges());
    float* const values = weight.mutable_data();
    for (std::size_t e = 0; e < at(input.graph.num_edges()); ++e)
      values[e] = (mask.empty() ? 1.0F : mask[e]) *
                  (input.edge_weight.empty() ? 1.0F : input.edge_weight[e]);
    return weight;
  }

  [[nodiscard]] py::object batch(const GnnInput<float>& input) const {
    if (description_.task == Task::node) return py::none();
    py::array_t<std::int64_t> graph_of(input.graph.num_nodes());
    std::fill_n(graph_of.mutable_data(), graph_of.size(), 0);
    for (std::size_t g = 0; g + 1 < input.graph_ptr.size(); ++g)
      std::fill(graph_of.mutable_data() + input.graph_ptr[g],
                graph_of.mutable_data() + input.graph_ptr[g + 1], static_cast<std::int64_t>(g));
    return graph_of;
  }

  CallableDescription description_;
  Object run_;
  std::vector<float> weight_;  // of the last forward
  Matrix<float> logits_, z_;
};

class CallableGnn final : public Gnn {
 public:
  CallableGnn(py::object new_run, const CallableDescription& description)
      : new_run_(keep(std::move(new_run))), description_(description) {}

  [[nodiscard]] Task task() const override { return description_.task; }
  [[nodiscard]] Index num_features() const override { return description_.num_features; }
  [[nodiscard]] Index num_classes() const override { return description_.num_classes; }
  [[nodiscard]] int num_hops() const override { return description_.num_hops; }
  [[nodiscard]] Matrix<float> embed(const GnnInput<float>& input, Embedding kind) const override {
    return CallableRun(new_run_, description_).embed(input, kind);
  }
  [[nodiscard]] std::unique_ptr<GnnRun> new_run() const override {
    return std::make_unique<CallableRun>(new_run_, description_);
  }

 private:
  Object new_run_;
  CallableDescription description_;
};

}  // namespace

std::shared_ptr<const Gnn> make_callable_gnn(py::object new_run,
                                             const CallableDescription& description) {
  return std::make_shared<CallableGnn>(std::move(new_run), description);
}

}  // namespace pgexplainer::python
