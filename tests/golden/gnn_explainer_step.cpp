// gnnexplainer_step_*: the first steps of GNNExplainer from given masks. The kind of feature mask
// and the network follow from the shapes, the task from whether there is a target_node.
#include <map>
#include <set>

#include "pgexplainer/explain/gnn_explainer.h"
#include "tests/golden/golden_check.h"
#include "tests/golden/golden_network.h"

namespace pgexplainer {
namespace {

/// What MaskDescent asks of a network, on a whole graph.
template <class T>
struct WholeGraph {
  const NativeGnn<T>& model;
  GnnInput<T> input;
  Index row;
  typename NativeGnn<T>::Workspace workspace{};
  Index num_rows = 0;
  std::vector<T> last{};  // logits

  std::span<const T> forward(std::span<const T> mask, const Matrix<T>& x) {
    input.x = &x;
    const Matrix<T>& logits = model.forward(input, mask, {}, workspace);
    num_rows = logits.rows();
    last.assign(logits.data() + row * logits.cols(), logits.data() + (row + 1) * logits.cols());
    return last;
  }
  void backward(std::span<const T> dlogits, std::span<T> dmask, Matrix<T>* dx) {
    Matrix<T> d = Matrix<T>::Zero(num_rows, static_cast<Index>(dlogits.size()));
    std::copy(dlogits.begin(), dlogits.end(), d.data() + row * d.cols());
    LayerGradients<T> gradient;
    gradient.x = dx;
    gradient.edge_mask = dmask;
    model.backward(input, d, workspace, gradient);
  }
};

std::string feature_mask_kind(const NpzArrays& file) {
  if (!file.contains("node_mask_init")) return "none";
  const auto& x = file.shape("x");
  const auto& mask = file.shape("node_mask_init");
  if (mask == x) return "attributes";
  if (mask == std::vector<std::int64_t>{1, x.at(1)}) return "common";
  if (mask == std::vector<std::int64_t>{x.at(0), 1}) return "object";
  throw_bad_input("node_mask_init has the shape {}, which is no kind of mask", shape_text(mask));
}

/// The number at the end of "edge_mask_after_10"; 0 if `array` is no such name.
int steps_in(const std::string& array) {
  for (const char* start : {"edge_mask_after_", "node_mask_after_"})
    if (array.starts_with(start)) return std::stoi(array.substr(std::string(start).size()));
  return 0;
}

template <class T>
Worst run(const NpzArrays& file) {
  const bool node = file.contains("target_node");
  const Matrix<T> x = file.matrix<T>("x");
  const Graph graph = golden_graph(file, "edge_index", static_cast<NodeId>(x.rows()));
  const NativeGnn<T> model = golden_network<T>(file, "model.", node ? Task::node : Task::graph);
  WholeGraph<T> network{model, {}, node ? file.scalar<std::int64_t>("target_node") : 0};
  network.input.graph = graph.adjacency();

  GnnExplainerOptions options;
  options.lr = file.scalar<double>("adam_lr");
  options.feature_mask = feature_mask_kind(file);
  options.symmetric = false;
  const std::vector<EdgeId> no_reverse(at(graph.num_edges()), kNoEdge);
  MaskDescent<T> descent(options, x, no_reverse);
  const auto start = [&](const char* array, std::span<T> logits) {
    const std::vector<T> values = file.vector<T>(array);
    if (values.size() != logits.size())
      throw_bad_input("{} has {} entries, expected {}", array, values.size(), logits.size());
    std::copy(values.begin(), values.end(), logits.begin());
  };
  start("edge_mask_init", descent.edge_logits());
  if (options.feature_mask != "none") start("node_mask_init", descent.feature_logits());

  std::map<std::string, std::vector<T>> ours;
  const auto target_class = file.scalar<std::int64_t>("target_class");
  {
    const auto logits = network.forward({}, x);
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    ours["target_class"] = {static_cast<T>(best)};
  }
  const auto num_edges = at(graph.num_edges());
  const auto put = [&](const std::string& edge, const std::string& feature, auto values) {
    ours[edge].assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(num_edges));
    if (options.feature_mask != "none")
      ours[feature].assign(values.begin() + static_cast<std::ptrdiff_t>(num_edges), values.end());
  };
  const auto theta = [&] {
    std::vector<T> all(descent.edge_logits().begin(), descent.edge_logits().end());
    all.insert(all.end(), descent.feature_logits().begin(), descent.feature_logits().end());
    return all;
  };
  auto steps = static_cast<int>(file.shape("loss_trajectory").at(0));
  for (const std::string& array : file.names()) steps = std::max(steps, steps_in(array));
  const auto num_losses = at(file.shape("loss_trajectory").at(0));
  std::vector<T>& trajectory = ours["loss_trajectory"];
  for (int step = 0; step < steps; ++step) {
    const MaskLoss loss = descent.evaluate(network, at(target_class));
    if (trajectory.size() < num_losses) trajectory.push_back(static_cast<T>(loss.total()));
    const std::string prefix = fmt::format("step{}.", step);
    const auto term = [&](const char* name, double value) {
      ours[prefix + name] = {static_cast<T>(value)};
    };
    term("ce", loss.prediction);
    term("loss", loss.total());
    term("edge_size", loss.edge_size);
    term("edge_ent", loss.edge_entropy);
    term("node_feat_size", loss.feature_size);
    term("node_feat_ent", loss.feature_entropy);
    put(prefix + "grad_edge_mask", prefix + "grad_node_mask", descent.gradient());
    ours[prefix + "logits"] = network.last;
    descent.step();
    const std::string after = fmt::format("after_{}", step + 1);
    put("edge_mask_" + after, "node_mask_" + after, theta());
  }
  put("hard_edge_mask", "hard_node_mask", descent.hard());
  ours["final_edge_mask"] = descent.edge_mask();
  if (options.feature_mask != "none") ours["final_node_mask"] = descent.feature_mask();

  static const std::set<std::string> kInputs = {"x",       "edge_index",     "target_node",
                                                "adam_lr", "edge_mask_init", "node_mask_init"};
  double scale = 0;
  for (const auto& [array, values] : ours)
    if (file.contains(array))
      scale = std::max(scale, largest_magnitude(file.vector<double>(array)));
  Worst worst(scale);
  for (const std::string& array : file.names()) {
    if (kInputs.contains(array) || array.starts_with("model.")) continue;
    const auto found = ours.find(array);
    if (found == ours.end()) throw_bad_input("unknown result {}", array);
    const std::vector<double> expected = file.vector<double>(array);
    if (expected.size() != found->second.size())
      throw_bad_input("{} has {} entries, expected {}", array, expected.size(),
                      found->second.size());
    if (std::is_same_v<T, float> && steps_in(array) > 0) {
      // Logits cross zero on their way: their error counts against the largest one.
      const double largest = largest_magnitude(expected);
      for (std::size_t i = 0; i < expected.size(); ++i)
        worst.note(std::abs(static_cast<double>(found->second[i]) - expected[i]) / largest, array);
      continue;
    }
    worst.compare(found->second.data(), expected, array);
  }
  return worst;
}

}  // namespace

GoldenErrors check_gnn_explainer_step(const std::string&, const NpzArrays& file) {
  return {run<double>(file), run<float>(file)};
}

}  // namespace pgexplainer
