// What an explainer says about one prediction, as arrays, text and pictures.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cmath>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/explainer.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/explanation_json.h"
#include "pgexplainer/report/dot.h"
#include "pgexplainer/report/explanation_picture.h"
#include "pgexplainer/report/graphml.h"
#include "python/bindings/bindings.h"
#include "python/bindings/explained.h"

namespace pgexplainer::python {
namespace {

/// The same explanation with another choice of edges, and what it does to the prediction.
std::shared_ptr<Explained> with_selection(const Explained& self,
                                          std::vector<std::uint8_t>&& selected) {
  const py::gil_scoped_release unlocked;
  auto other = std::make_shared<Explained>(self);
  Explanation& explanation = other->explanation;
  explanation.selected = std::move(selected);
  explanation.prediction_kept = explanation.prediction_removed = {};
  if (!self.both) return other;
  InstanceGraph graph;
  self.both->explained.new_cutter().cut(explanation.instance, graph);
  const auto run = self.both->explained.gnn().new_run();
  std::vector<float> mask(explanation.selected.begin(), explanation.selected.end());
  explanation.prediction_kept = predict(graph, *run, mask);
  for (float& m : mask) m = 1.0F - m;
  explanation.prediction_removed = predict(graph, *run, mask);
  return other;
}

std::string picture(const Explained& self, const Dataset& data, const std::string& format,
                    const std::string& title, std::int64_t max_nodes, bool ground_truth) {
  const py::gil_scoped_release unlocked;
  const GraphPicture drawn =
      explanation_picture(data, self.explanation, {ground_truth, max_nodes, title});
  return format == "dot" ? to_dot(drawn) : format == "graphml" ? to_graphml(drawn) : to_svg(drawn);
}

/// The same picture as numbers, for others to draw.
nlohmann::ordered_json drawing(const Explained& self, const Dataset& data, std::int64_t max_nodes,
                               bool ground_truth) {
  const GraphPicture drawn =
      explanation_picture(data, self.explanation, {ground_truth, max_nodes, ""});
  const GraphLayout layout = layout_picture(drawn);
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array(), edges = nodes;
  for (std::size_t i = 0; i < drawn.nodes.size(); ++i) {
    const PictureNode& node = drawn.nodes[i];
    nodes.push_back({node.id, node.label, node.class_index, node.is_target,
                     layout.position(static_cast<Index>(i), 0),
                     layout.position(static_cast<Index>(i), 1)});
  }
  for (const PictureEdge& edge : drawn.edges)
    edges.push_back({edge.source, edge.target, edge.score, edge.selected, edge.ground_truth});
  return {{"title", drawn.title}, {"nodes", nodes}, {"edges", edges}};
}

template <class T>
auto list(std::vector<T> Explanation::*member) {
  return [member](const py::object& self) {
    return view(self.cast<Explained&>().explanation.*member, self);
  };
}
auto prediction(Prediction Explanation::*member) {
  return [member](const py::object& self) -> py::object {
    const auto& probability = (self.cast<Explained&>().explanation.*member).probability;
    if (probability.empty()) return py::none();
    return view(probability, self);
  };
}
template <class T>
std::vector<T> vector_from(const py::dict& state, const char* key) {
  const auto array = state[key].cast<py::array_t<T, py::array::c_style | py::array::forcecast>>();
  return {array.data(), array.data() + array.size()};
}

/// An edge mask over all edges of the data.
py::array edge_mask(const Explained& self, EdgeId num_edges) {
  std::vector<float> mask(at(num_edges), 0.0F);
  const Explanation& explanation = self.explanation;
  for (std::size_t e = 0; e < explanation.edges.size(); ++e) {
    const float score = explanation.score[e];
    mask[at(explanation.edges[e])] = self.logits ? 1.0F / (1.0F + std::exp(-score)) : score;
  }
  return take(std::move(mask), {num_edges});
}

py::dict get_state(const py::object& object) {
  const auto& self = object.cast<Explained&>();
  const Explanation& explanation = self.explanation;
  py::dict state;
  state["instance"] = py::make_tuple(explanation.instance.id, explanation.instance.second);
  state["nodes"] = view(explanation.nodes, object);
  state["targets"] = view(explanation.targets, object);
  state["edges"] = view(explanation.edges, object);
  state["source"] = view(explanation.source, object);
  state["target"] = view(explanation.target, object);
  state["reverse"] = view(explanation.reverse, object);
  state["score"] = view(explanation.score, object);
  state["feature_score"] = view(explanation.feature_score, object);
  state["selected"] = view(explanation.selected, object);
  state["prediction"] = view(explanation.prediction.probability, object);
  state["prediction_kept"] = view(explanation.prediction_kept.probability, object);
  state["prediction_removed"] = view(explanation.prediction_removed.probability, object);
  state["sampled"] = explanation.sampled;
  state["logits"] = self.logits;
  return state;
}

std::shared_ptr<Explained> set_state(const py::dict& state) {
  auto self = std::make_shared<Explained>();
  Explanation& explanation = self->explanation;
  const auto instance = state["instance"].cast<std::pair<std::int64_t, std::int64_t>>();
  explanation.instance = {instance.first, instance.second};
  explanation.nodes = vector_from<NodeId>(state, "nodes");
  explanation.targets = vector_from<NodeId>(state, "targets");
  explanation.edges = vector_from<EdgeId>(state, "edges");
  explanation.source = vector_from<NodeId>(state, "source");
  explanation.target = vector_from<NodeId>(state, "target");
  explanation.reverse = vector_from<EdgeId>(state, "reverse");
  explanation.score = vector_from<float>(state, "score");
  explanation.feature_score = vector_from<float>(state, "feature_score");
  explanation.selected = vector_from<std::uint8_t>(state, "selected");
  explanation.prediction.probability = vector_from<float>(state, "prediction");
  explanation.prediction_kept.probability = vector_from<float>(state, "prediction_kept");
  explanation.prediction_removed.probability = vector_from<float>(state, "prediction_removed");
  explanation.sampled = state["sampled"].cast<bool>();
  self->logits = state["logits"].cast<bool>();
  return self;
}

}  // namespace

void bind_explanation(py::module_& module) {
  module.def("write_text", [](const std::filesystem::path& path, const std::string& text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
  });
  py::class_<Explained, std::shared_ptr<Explained>>(module, "Explanation")
      .def_property_readonly("id", [](const Explained& e) { return e.explanation.instance.id; })
      .def_property_readonly("second",
                             [](const Explained& e) { return e.explanation.instance.second; })
      .def_property_readonly("is_link",
                             [](const Explained& e) { return e.explanation.instance.is_link(); })
      .def_property_readonly("nodes", list(&Explanation::nodes))
      .def_property_readonly("targets", list(&Explanation::targets))
      .def_property_readonly("edges", list(&Explanation::edges))
      .def_property_readonly("source", list(&Explanation::source))
      .def_property_readonly("target", list(&Explanation::target))
      .def_property_readonly("reverse", list(&Explanation::reverse))
      .def_property_readonly("score", list(&Explanation::score))
      .def_property_readonly("feature_score", list(&Explanation::feature_score))
      .def_property_readonly("selected",
                             [](const py::object& self) {
                               return bool_view(self.cast<Explained&>().explanation.selected, self);
                             })
      .def_property_readonly("prediction", prediction(&Explanation::prediction))
      .def_property_readonly("prediction_kept", prediction(&Explanation::prediction_kept))
      .def_property_readonly("prediction_removed", prediction(&Explanation::prediction_removed))
      .def_property_readonly("sampled", [](const Explained& e) { return e.explanation.sampled; })
      .def_property_readonly("confidence",
                             [](const Explained& e) { return e.explanation.confidence(); })
      .def("edge_mask", edge_mask)
      .def("topk", [](const Explained& self,
                      std::int64_t k) { return with_selection(self, top_k(self.explanation, k)); })
      .def("threshold",
           [](const Explained& self, double least) {
             return with_selection(self, at_least(self.explanation, least));
           })
      .def("connected",
           [](const Explained& self) {
             return with_selection(self,
                                   connected_part(self.explanation, self.explanation.selected));
           })
      .def("json",
           [](const Explained& self) { return explanation_json(self.explanation, "explanation"); })
      .def("picture", picture)
      .def("drawing", [](const Explained& self, const Dataset& data, std::int64_t max_nodes,
                         bool motif) { return to_python(drawing(self, data, max_nodes, motif)); })
      .def(py::pickle(&get_state, &set_state));
}

}  // namespace pgexplainer::python
