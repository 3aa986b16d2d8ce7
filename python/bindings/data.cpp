// Datasets: from arrays, files and generators, and back.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/datasets/ba_2motifs.h"
#include "pgexplainer/datasets/ba_community.h"
#include "pgexplainer/datasets/ba_shapes.h"
#include "pgexplainer/datasets/tree_cycles.h"
#include "pgexplainer/datasets/tree_grid.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/dataset_npz.h"
#include "python/bindings/bindings.h"

namespace pgexplainer::python {
namespace {

using Shared = std::shared_ptr<Dataset>;

Shared share(Dataset&& dataset) { return std::make_shared<Dataset>(std::move(dataset)); }

/// The arrays of a file that is not there: same names, same checks, same sentences.
Shared from_arrays(const std::string& name, const std::map<std::string, py::array>& given,
                   const std::vector<std::string>& node_type_names) {
  std::map<std::string, NpyArray> arrays;
  for (const auto& [key, array] : given) {
    NpyArray& own = arrays[key];
    own.dtype = array.dtype().attr("str").cast<std::string>();
    own.shape.assign(array.shape(), array.shape() + array.ndim());
    own.data = {std::span(static_cast<const std::byte*>(array.data()),
                          static_cast<std::size_t>(array.nbytes())),
                nullptr};  // lives as long as the call
    own.mapped = true;
  }
  const bool has_labels = arrays.contains("y");
  const std::int64_t instances = given.contains("graph_ptr") ? given.at("graph_ptr").size() - 1
                                 : given.contains("x")       ? given.at("x").shape(0)
                                                             : 0;
  if (!has_labels)
    arrays["y"] = NpyArray::from(
        std::vector<std::int64_t>(static_cast<std::size_t>(std::max<std::int64_t>(instances, 0))));
  Dataset dataset = [&] {
    const py::gil_scoped_release unlocked;
    return dataset_from_arrays({name, std::move(arrays)});
  }();
  dataset.name = name;
  dataset.node_type_names = node_type_names;
  if (!has_labels) dataset.y.clear();
  return share(std::move(dataset));
}

/// The one graph of a node dataset as a graph to be classified.
Shared as_one_graph(const Dataset& nodes) {
  Dataset dataset = nodes;
  dataset.task = Task::graph;
  dataset.y.clear();
  dataset.eval_instances.clear();
  dataset.train_mask = {1};
  dataset.val_mask = dataset.test_mask = {0};
  return share(std::move(dataset));
}

using Generator = Dataset (*)(const nlohmann::json& options, const std::string& where,
                              std::uint64_t seed);
template <auto make>
struct GeneratorOf;
template <class Options, Dataset (*make)(const Options&, std::uint64_t)>
struct GeneratorOf<make> {
  static Dataset run(const nlohmann::json& json, const std::string& where, std::uint64_t seed) {
    return make(options_from_json<Options>(json, where), seed);
  }
  static nlohmann::ordered_json fields() { return option_fields_to_json<Options>(); }
};
struct NamedGenerator {
  const char* name;
  Generator run;
  nlohmann::ordered_json (*fields)();
};
template <auto make>
NamedGenerator generator(const char* name) {
  return {name, GeneratorOf<make>::run, GeneratorOf<make>::fields};
}
const std::vector<NamedGenerator>& generators() {
  static const std::vector<NamedGenerator> all = {
      generator<generate_ba_shapes>("ba-shapes"), generator<generate_ba_community>("ba-community"),
      generator<generate_tree_cycles>("tree-cycles"), generator<generate_tree_grid>("tree-grid"),
      generator<generate_ba_2motifs>("ba-2motifs")};
  return all;
}
std::vector<std::string> generator_names() {
  std::vector<std::string> names;
  for (const NamedGenerator& one : generators()) names.emplace_back(one.name);
  return names;
}
const NamedGenerator& find_generator(const std::string& name) {
  for (const NamedGenerator& one : generators())
    if (one.name == name) return one;
  throw_bad_input("there is no generator '{}'; known are {}", name,
                  fmt::join(generator_names(), ", "));
}

Shared generate(const std::string& name, std::uint64_t seed, const py::dict& options) {
  const NamedGenerator& found = find_generator(name);
  const nlohmann::json json = to_json(options);
  const py::gil_scoped_release unlocked;
  return share(found.run(json, "generate " + name, seed));
}

/// A property that shows a member of the dataset without a copy.
template <class T>
auto list(std::vector<T> Dataset::*member) {
  return [member](const py::object& self) { return view(self.cast<Dataset&>().*member, self); };
}
auto mask(std::vector<std::uint8_t> Dataset::*member) {
  return
      [member](const py::object& self) { return bool_view(self.cast<Dataset&>().*member, self); };
}
auto matrix(Matrix<float> Dataset::*member) {
  return [member](const py::object& self) {
    const Matrix<float>& values = self.cast<Dataset&>().*member;
    return view(std::span(values.data(), static_cast<std::size_t>(values.size())),
                {values.rows(), values.cols()}, self);
  };
}
auto ends(std::span<const NodeId> (Graph::*member)() const) {
  return [member](const py::object& self) {
    const std::span<const NodeId> nodes = (self.cast<Dataset&>().graph.*member)();
    return view(nodes, {static_cast<py::ssize_t>(nodes.size())}, self);
  };
}

}  // namespace

void bind_data(py::module_& module) {
  py::class_<Dataset, Shared>(module, "Dataset")
      .def_static("from_arrays", from_arrays)
      .def_static("load",
                  [](const std::filesystem::path& path) {
                    const py::gil_scoped_release unlocked;
                    return share(read_dataset(path));
                  })
      .def_static("generate", generate)
      .def("save",
           [](const Dataset& self, const std::filesystem::path& path) {
             const py::gil_scoped_release unlocked;
             write_dataset(path, self);
           })
      .def("as_one_graph", as_one_graph)
      .def("warnings", [](const Dataset& self) { return warnings(self); })
      .def("fingerprint", [](const Dataset& self) { return fingerprint(self); })
      .def_readonly("name", &Dataset::name)
      .def_readonly("node_type_names", &Dataset::node_type_names)
      .def_property_readonly("on_graphs",
                             [](const Dataset& self) { return self.task == Task::graph; })
      .def_property_readonly("num_nodes",
                             [](const Dataset& self) { return self.graph.num_nodes(); })
      .def_property_readonly("num_edges",
                             [](const Dataset& self) { return self.graph.num_edges(); })
      .def_property_readonly("num_graphs", &Dataset::num_graphs)
      .def_property_readonly("num_instances", &Dataset::num_instances)
      .def_property_readonly("num_classes", &Dataset::num_classes)
      .def_property_readonly("sources", ends(&Graph::sources))
      .def_property_readonly("targets", ends(&Graph::targets))
      .def_property_readonly("x", matrix(&Dataset::x))
      .def_property_readonly("edge_attr", matrix(&Dataset::edge_attr))
      .def_property_readonly("y", list(&Dataset::y))
      .def_property_readonly("edge_weight", list(&Dataset::edge_weight))
      .def_property_readonly("graph_ptr", list(&Dataset::graph_ptr))
      .def_property_readonly("edge_ptr", list(&Dataset::edge_ptr))
      .def_property_readonly("eval_instances", list(&Dataset::eval_instances))
      .def_property_readonly("edge_gt", mask(&Dataset::edge_gt))
      .def_property_readonly("train_mask", mask(&Dataset::train_mask))
      .def_property_readonly("val_mask", mask(&Dataset::val_mask))
      .def_property_readonly("test_mask", mask(&Dataset::test_mask));
  module.def("generator_names", generator_names);
  module.def("generator_fields",
             [](const std::string& name) { return to_python(find_generator(name).fields()); });
}

}  // namespace pgexplainer::python
