// Metrics against PyG's: AUC, agreement of masks, fidelity, unfaithfulness, characterization.
//
// Arrays are named <case>.<array>; a case is what stands before the first dot, and its letters say
// which metric. Inputs are told from results by name; a name nobody knows is a failure.
#include <set>

#include "pgexplainer/metrics/auc.h"
#include "pgexplainer/metrics/fidelity.h"
#include "pgexplainer/metrics/top_k.h"
#include "tests/golden/golden_check.h"
#include "tests/golden/golden_network.h"

namespace pgexplainer {
namespace {

/// Reads the arrays of a file and remembers which; what was never read was never checked.
class Case {
 public:
  Case(const NpzArrays& file, std::string name, std::set<std::string>& used)
      : file_(&file), name_(std::move(name)), used_(&used) {}

  std::string path(const std::string& array) const {
    used_->insert(name_ + "." + array);
    return name_ + "." + array;
  }
  bool contains(const std::string& array) const { return file_->contains(name_ + "." + array); }
  const NpzArrays& file() const { return *file_; }
  template <class T>
  std::vector<T> vector(const std::string& array) const {
    return file_->vector<T>(path(array));
  }
  template <class T>
  Matrix<T> matrix(const std::string& array) const {
    return file_->matrix<T>(path(array));
  }
  double scalar(const std::string& array) const { return file_->scalar<double>(path(array)); }

  /// Names of this case's arrays that begin with `prefix`.
  std::vector<std::string> names(const std::string& prefix) const {
    std::vector<std::string> found;
    for (const std::string& name : file_->names())
      if (name.starts_with(name_ + "." + prefix)) found.push_back(name.substr(name_.size() + 1));
    return found;
  }

 private:
  const NpzArrays* file_;
  std::string name_;
  std::set<std::string>* used_;
};

template <class T>
void compare_scalar(Worst& worst, double ours, const Case& c, const std::string& array) {
  const T value = static_cast<T>(ours);
  worst.compare(&value, {c.scalar(array)}, c.path(array));
}

/// PyG takes these means in float32: 1e-6 instead of the double tolerance.
template <class T>
void compare_float_mean(Worst& worst, double ours, const Case& c, const std::string& array) {
  constexpr double kPyGTolerance = 1e-6;
  const double tolerance = std::is_same_v<T, double> ? kDoubleTolerance : kFloatTolerance;
  worst.note(std::abs(ours - c.scalar(array)) * (tolerance / kPyGTolerance), c.path(array));
}

template <class T>
void check_auc(const Case& c, Worst& worst) {
  const std::vector<std::uint8_t> label = c.vector<std::uint8_t>("label");
  compare_scalar<T>(worst, roc_auc(label, c.vector<T>("score")), c, "value");
}

template <class T>
void check_ground_truth(const Case& c, Worst& worst) {
  const MaskAgreement ours =
      compare_masks(c.vector<float>("pred_mask"), c.vector<float>("target_mask"),
                    static_cast<float>(c.scalar("threshold")));
  compare_scalar<T>(worst, ours.accuracy, c, "accuracy");
  compare_scalar<T>(worst, ours.precision, c, "precision");
  compare_scalar<T>(worst, ours.recall, c, "recall");
  compare_scalar<T>(worst, ours.f1, c, "f1_score");
  compare_scalar<T>(worst, ours.auroc, c, "auroc");
}

template <class T>
Matrix<T> rows_of(const Matrix<T>& logits, const std::vector<std::int64_t>& index) {
  Matrix<T> rows(static_cast<Index>(index.size()), logits.cols());
  for (std::size_t i = 0; i < index.size(); ++i)
    rows.row(static_cast<Index>(i)) = logits.row(index[i]);
  return rows;
}

/// The network in double as it is, in float as explainers see it.
ForwardFunction<double> forward_function(NativeGnn<double> model) {
  return [model = std::make_shared<NativeGnn<double>>(std::move(model))](
             const GnnInput<double>& input, std::span<const double> mask) {
    NativeGnn<double>::Workspace workspace;
    return model->forward(input, mask, {}, workspace);
  };
}
ForwardFunction<float> forward_function(NativeGnn<float> model) {
  const std::shared_ptr<Gnn> gnn = make_gnn(std::make_shared<NativeGnn<float>>(std::move(model)));
  return [gnn](const GnnInput<float>& input, std::span<const float> mask) {
    return gnn->predict(input, mask);
  };
}

template <class T>
void check_fidelity(const Case& c, Worst& worst) {
  const Matrix<T> x = c.matrix<T>("x");
  const auto nodes = static_cast<NodeId>(x.rows());
  const Matrix<double> expected_full = c.matrix<double>("logits_full");
  const Task task = c.contains("index") || expected_full.rows() != 1 ? Task::node : Task::graph;
  const Graph graph = golden_graph(c.file(), c.path("edge_index"), nodes);
  NativeGnn<T> model = golden_network<T>(c.file(), c.path("model."), task);
  for (const Parameter& p : model.layout().parameters()) c.path("model." + p.name);
  const ForwardFunction<T> forward = forward_function(std::move(model));
  GnnInput<T> input;
  input.graph = graph.adjacency();
  input.x = &x;
  const std::vector<T> edge_mask = c.vector<T>("edge_mask");
  const Matrix<T> node_mask = c.matrix<T>("node_mask");

  std::vector<std::int64_t> index(at(expected_full.rows()));
  for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::int64_t>(i);
  if (c.contains("index")) index = c.vector<std::int64_t>("index");
  const std::vector<std::int64_t> all_labels = c.vector<std::int64_t>("label");
  std::vector<std::int64_t> label;
  for (const std::int64_t i : index) label.push_back(all_labels.at(at(i)));

  for (const std::string kind : {"edge", "edge_node"}) {
    const Matrix<T>* features = kind == "edge_node" ? &node_mask : nullptr;
    const Predictions<T> logits = evaluate_masks<T>(forward, input, edge_mask, features);
    const auto compare_logits = [&](const Matrix<T>& ours, const std::string& array) {
      const std::vector<double> expected = c.vector<double>(array);
      if (at(ours.size()) != expected.size())
        throw_bad_input("{} has another shape than our logits", array);
      worst.compare(ours.data(), expected, c.path(array));
    };
    compare_logits(logits.full, "logits_full");
    compare_logits(logits.masked, kind + ".logits_masked");
    compare_logits(logits.complement, kind + ".logits_complement");

    const Predictions<T> evaluated{rows_of(logits.full, index), rows_of(logits.masked, index),
                                   rows_of(logits.complement, index)};
    const Fidelity by_model = fidelity_by_label(evaluated);
    compare_float_mean<T>(worst, by_model.plus, c, "model." + kind + ".fidelity_plus");
    compare_float_mean<T>(worst, by_model.minus, c, "model." + kind + ".fidelity_minus");
    const Fidelity by_label = fidelity_by_label(evaluated, label);
    compare_float_mean<T>(worst, by_label.plus, c, "phenomenon." + kind + ".fidelity_plus");
    compare_float_mean<T>(worst, by_label.minus, c, "phenomenon." + kind + ".fidelity_minus");
    compare_scalar<T>(worst, unfaithfulness(evaluated.full, evaluated.masked), c,
                      kind + ".unfaithfulness");
    const std::string top = kind + ".unfaithfulness_top";
    for (const std::string& array : c.names(top)) {
      if (!features) throw_bad_input("{} needs a feature mask", array);
      const Matrix<T> kept = keep_top_columns(node_mask, std::stoll(array.substr(top.size())));
      const Matrix<T> masked = evaluate_masks<T>(forward, input, edge_mask, &kept).masked;
      compare_scalar<T>(worst, unfaithfulness(evaluated.full, rows_of(masked, index)), c, array);
    }
  }
}

/// "half" = (0.5, 0.5), "03_07" = (0.3, 0.7).
std::pair<double, double> weights_of(const std::string& text) {
  if (text == "half") return {0.5, 0.5};
  const std::size_t middle = text.find('_');
  if (middle == std::string::npos || middle == 0 || middle + 1 == text.size())
    throw_bad_input("the weights '{}' are neither 'half' nor two numbers", text);
  const auto number = [](const std::string& digits) {
    return std::stod(digits.substr(0, 1) + "." + digits.substr(1));
  };
  return {number(text.substr(0, middle)), number(text.substr(middle + 1))};
}

template <class T>
void check_characterization(const Case& c, Worst& worst) {
  const std::vector<double> plus = c.vector<double>("pos_fidelity");
  const std::vector<double> minus = c.vector<double>("neg_fidelity");
  for (const std::string& array : c.names("score_")) {
    const auto [weight_plus, weight_minus] = weights_of(array.substr(6));
    std::vector<T> ours;
    for (std::size_t i = 0; i < plus.size(); ++i)
      ours.push_back(
          static_cast<T>(characterization_score(plus[i], minus.at(i), weight_plus, weight_minus)));
    const std::vector<double> expected = c.vector<double>(array);
    if (expected.size() != ours.size()) throw_bad_input("{} has another length", array);
    worst.compare(ours.data(), expected, c.path(array));
  }
}

/// The curve belongs to the fidelities of the characterization case with the same ending.
template <class T>
void check_curve(const Case& c, const Case& fidelities, Worst& worst) {
  compare_scalar<T>(
      worst,
      fidelity_curve_auc(fidelities.vector<double>("pos_fidelity"),
                         fidelities.vector<double>("neg_fidelity"), c.vector<double>("x")),
      c, "auc");
}

template <class T>
Worst run(const NpzArrays& file) {
  Worst worst(1.0);
  std::set<std::string> used;
  std::set<std::string> cases;
  for (const std::string& array : file.names()) cases.insert(array.substr(0, array.find('.')));
  for (const std::string& name : cases) {
    const Case c(file, name, used);
    const std::size_t letters = name.find_first_of("0123456789");
    const std::string kind = name.substr(0, letters);
    if (kind == "auc") {
      check_auc<T>(c, worst);
    } else if (kind == "gt") {
      check_ground_truth<T>(c, worst);
    } else if (kind == "fid") {
      check_fidelity<T>(c, worst);
    } else if (kind == "char") {
      check_characterization<T>(c, worst);
    } else if (kind == "curve") {
      check_curve<T>(c, Case(file, "char" + name.substr(kind.size()), used), worst);
    } else {
      throw_bad_input("unknown metric '{}'", name);
    }
  }
  for (const std::string& array : file.names())
    if (!used.contains(array)) throw_bad_input("unknown array {}", array);
  return worst;
}

}  // namespace

GoldenErrors check_metrics(const std::string&, const NpzArrays& file) {
  return {run<double>(file), run<float>(file)};
}

}  // namespace pgexplainer
