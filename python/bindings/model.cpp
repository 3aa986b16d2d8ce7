// Networks: loading, saving, evaluating and training them.
#include "python/bindings/model.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/io/model_file.h"
#include "pgexplainer/metrics/accuracy.h"
#include "pgexplainer/model/architecture.h"
#include "pgexplainer/model/regression_gnn.h"
#include "pgexplainer/model/trainer.h"
#include "python/bindings/bindings.h"
#include "python/bindings/callable_gnn.h"
#include "python/bindings/progress.h"

namespace pgexplainer::python {
namespace {

using Shared = std::shared_ptr<Model>;
using FloatArray = py::array_t<float, py::array::c_style | py::array::forcecast>;

Shared share(std::shared_ptr<NativeGnn<float>> native, nlohmann::json training) {
  return std::make_shared<Model>(Model{make_gnn(native), native, std::move(training), false});
}

Shared load(const std::filesystem::path& path) {
  const py::gil_scoped_release unlocked;
  ModelFile file = read_model(path);
  return share(std::move(file.model), std::move(file.training));
}

Shared from_tensors(const py::dict& spec, const std::map<std::string, FloatArray>& given,
                    const py::object& training) {
  const std::string where = "the model";
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, array] : given)
    tensors[name] = make_tensor({array.data(), static_cast<std::size_t>(array.size())},
                                {array.shape(), array.shape() + array.ndim()});
  return share(model_from_tensors(parse_model_spec(to_json(spec), where), tensors, where),
               to_json(training));
}

Shared from_callable(py::object new_run, bool on_graphs, Index num_features, Index num_classes,
                     int num_hops) {
  const CallableDescription description{on_graphs ? Task::graph : Task::node, num_features,
                                        num_classes, num_hops};
  return std::make_shared<Model>(
      Model{make_callable_gnn(std::move(new_run), description), nullptr, nullptr, true});
}

Shared as_regression(const Model& self, double scale) {
  return std::make_shared<Model>(
      Model{make_regression_gnn(self.gnn, scale), nullptr, nullptr, self.in_python});
}

const NativeGnn<float>& native(const Model& model) {
  if (!model.native)
    throw_bad_input(
        "only native models have a description and can be saved; this one is Python code, or made "
        "of another model");
  return *model.native;
}

py::dict state_dict(const py::object& self) {
  const NativeGnn<float>& network = native(self.cast<Model&>());
  py::dict tensors;
  for (const Parameter& p : network.layout().parameters())
    tensors[py::str(p.name)] = view(std::span(network.theta()).subspan(p.offset, p.size),
                                    {p.shape.begin(), p.shape.end()}, self);
  return tensors;
}

py::array from_matrix(Matrix<float>&& values) {
  auto* owned = new Matrix<float>(std::move(values));
  const py::capsule owner(owned, [](void* memory) { delete static_cast<Matrix<float>*>(memory); });
  return py::array_t<float>({owned->rows(), owned->cols()}, owned->data(), owner);
}

/// Work on the whole of a dataset, which is checked to fit the model.
template <class Work>
py::array on_whole(const Model& model, std::shared_ptr<Dataset> data, int threads,
                   const Work& work) {
  return from_matrix([&] {
    const py::gil_scoped_release unlocked;
    const ModelOnData both(model.gnn, std::move(data));
    ThreadPool pool(model.threads(threads));
    GnnInput<float> input = both.explained.whole();
    input.pool = &pool;
    return work(input);
  }());
}

py::array predict(const Model& model, const std::shared_ptr<Dataset>& data,
                  const std::optional<FloatArray>& mask, int threads) {
  std::span<const float> edge_mask;
  if (mask) {
    edge_mask = {mask->data(), static_cast<std::size_t>(mask->size())};
    if (mask->size() != data->graph.num_edges() || mask->ndim() != 1)
      throw_bad_input("edge_mask has {} entries, expected {} (one per edge)", mask->size(),
                      data->graph.num_edges());
  }
  return on_whole(model, data, threads, [&](const GnnInput<float>& input) {
    return model.gnn->predict(input, edge_mask);
  });
}

template <class Options>
std::vector<std::string> field_names() {
  std::vector<std::string> names;
  Options::fields(
      [&](std::string_view name, auto, Bounds, std::string_view) { names.emplace_back(name); });
  return names;
}

/// `spec` is None, or the description of a network instead of the options of one.
Shared train(const std::shared_ptr<Dataset>& data, const py::object& spec, std::uint64_t seed,
             int threads, const py::dict& given, const py::object& callback) {
  const nlohmann::json json = to_json(given);
  const std::string where = "train";
  const auto options =
      options_from_json<TrainOptions>(json, where, field_names<ArchitectureOptions>());
  const auto architecture =
      options_from_json<ArchitectureOptions>(json, where, field_names<TrainOptions>());
  const ModelSpec chosen = !spec.is_none() ? parse_model_spec(to_json(spec), where)
                           : architecture.arch.ends_with(".json")
                               ? read_model_spec(architecture.arch, *data)
                               : make_architecture(architecture, *data);
  return Listener(callback).run([&](const Progress& progress) {
    auto network = std::make_shared<NativeGnn<float>>(chosen, where, seed);
    Trainer trainer(*data, network, options, seed, threads);
    while (!trainer.finished()) {
      trainer.run_epoch();
      const EpochRecord& last = trainer.state().history.back();
      if (!progress(trainer.state().epoch, options.epochs,
                    fmt::format("loss {:.4f}, val {:.3f}", last.loss, last.val_accuracy)))
        throw_failed("interrupted after epoch {}", trainer.state().epoch);
    }
    trainer.finish();
    const SplitAccuracy accuracy = split_accuracy(trainer.logits(), *data);
    nlohmann::json losses = nlohmann::json::array();
    for (const EpochRecord& record : trainer.state().history) losses.push_back(record.loss);
    return share(
        network,
        {{"options", options_to_json(options)},
         {"seed", seed},
         {"dataset", data->name},
         {"accuracy", {{"train", accuracy.train}, {"val", accuracy.val}, {"test", accuracy.test}}},
         {"history", {{"loss", losses}}}});
  });
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<Model, Shared>(module, "Model")
      .def_static("load", load)
      .def_static("from_tensors", from_tensors)
      .def_static("from_callable", from_callable)
      .def_static("train", train)
      .def("as_regression", as_regression)
      .def("save",
           [](const Model& self, const std::filesystem::path& path) {
             const py::gil_scoped_release unlocked;
             write_model(path, native(self), self.training);
           })
      .def("state_dict", state_dict)
      .def("predict", predict)
      .def("embed",
           [](const Model& self, const std::shared_ptr<Dataset>& data, const std::string& word,
              int threads) {
             const Embedding kind = parse_embedding("kind", word);
             return on_whole(self, data, threads, [&](const GnnInput<float>& input) {
               return self.gnn->embed(input, kind);
             });
           })
      .def_property_readonly(
          "spec", [](const Model& self) { return to_python(to_json(native(self).spec())); })
      .def_property_readonly("training", [](const Model& self) { return to_python(self.training); })
      .def_property_readonly("on_graphs",
                             [](const Model& self) { return self.gnn->task() == Task::graph; })
      .def_property_readonly("num_features",
                             [](const Model& self) { return self.gnn->num_features(); })
      .def_property_readonly("num_classes",
                             [](const Model& self) { return self.gnn->num_classes(); })
      .def_property_readonly("num_hops", [](const Model& self) { return self.gnn->num_hops(); });
  module.def("train_fields", [] {
    nlohmann::ordered_json fields = option_fields_to_json<ArchitectureOptions>();
    for (const auto& field : option_fields_to_json<TrainOptions>()) fields.push_back(field);
    return to_python(fields);
  });
}

}  // namespace pgexplainer::python
