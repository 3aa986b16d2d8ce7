// One step of PGExplainer against PyG's and torch's autograd: embeddings, explanation network,
// sampled mask, every term of the paper's objective with its gradients, one step of Adam.
//
// In double the network runs on the whole graph, and the instance's mask is scattered into it. In
// float all goes the way of production: cut instance, ExplainedRow, EdgeScorer.
#include <map>
#include <set>

#include "pgexplainer/explain/edge_scorer.h"
#include "pgexplainer/explain/explained_model.h"
#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/explain/paper_objective.h"
#include "pgexplainer/nn/adam.h"
#include "pgexplainer/nn/softmax_cross_entropy.h"
#include "tests/golden/golden_check.h"
#include "tests/golden/golden_network.h"

namespace pgexplainer {
namespace {

/// Our numbers by the names of the file's arrays.
template <class T>
using Results = std::map<std::string, std::vector<T>>;

Task task_of(const NpzArrays& file) {
  return file.contains("target_node") ? Task::node : Task::graph;
}

/// The explained part of the graph: local nodes and edges, as the paths number them.
struct Cut {
  std::vector<NodeId> nodes;           ///< local to whole
  std::vector<EdgeId> edges;           ///< local to whole
  std::vector<NodeId> source, target;  ///< local ends of each local edge
};

/// The network on the whole graph, seen through the mask of some of its edges.
class WholeNetwork {
 public:
  WholeNetwork(const NativeGnn<double>& model, const GnnInput<double>& input,
               std::vector<EdgeId> edges, Index row)
      : model_(&model), input_(input), edges_(std::move(edges)), row_(row) {}

  std::span<const double> forward(std::span<const double> mask) {
    mask_.assign(at(input_.graph.num_edges()), 1.0);
    for (std::size_t k = 0; k < edges_.size(); ++k) mask_[at(edges_[k])] = mask[k];
    const Matrix<double>& rows = model_->forward(input_, mask_, {}, workspace_);
    dlogits_.setZero(rows.rows(), rows.cols());
    return {rows.data() + row_ * rows.cols(), at(rows.cols())};
  }
  void backward(std::span<const double> dlogits, std::span<double> dmask) {
    std::copy(dlogits.begin(), dlogits.end(), dlogits_.data() + row_ * dlogits_.cols());
    std::vector<double> all(at(input_.graph.num_edges()), 0.0);
    LayerGradients<double> gradient;
    gradient.edge_mask = all;
    model_->backward(input_, dlogits_, workspace_, gradient);
    for (std::size_t k = 0; k < edges_.size(); ++k) dmask[k] += all[at(edges_[k])];
  }

 private:
  const NativeGnn<double>* model_;
  GnnInput<double> input_;
  std::vector<EdgeId> edges_;
  Index row_;
  std::vector<double> mask_;  // stays alive until backward
  NativeGnn<double>::Workspace workspace_;
  Matrix<double> dlogits_;
};

template <class T>
class Step {
 public:
  Step(const NpzArrays& file, const Graph& graph, const Matrix<T>& z, Cut cut)
      : file_(file),
        graph_(graph),
        z_(z),
        cut_(std::move(cut)),
        scorer_(make_scorer(file, z.cols())),
        theta_(scorer_.layout().size()),
        tau_(static_cast<T>(file.scalar<double>("tau"))) {
    for (const Parameter& p : scorer_.layout().parameters()) {
      const auto values = file.vector<T>(p.name);
      if (values.size() != p.size)
        throw_bad_input("{} has {} entries, expected {}", p.name, values.size(), p.size);
      std::copy(values.begin(), values.end(),
                theta_.begin() + static_cast<std::ptrdiff_t>(p.offset));
    }
    if (task_of(file) == Task::node) targets_ = {file.scalar<std::int32_t>("target_node")};
    for (const NodeId local : cut_.source) source_row_.push_back(cut_.nodes[at(local)]);
    for (const NodeId local : cut_.target) target_row_.push_back(cut_.nodes[at(local)]);
  }

  /// `full` are the logits of everything without a mask, `row` the explained one.
  template <class Network>
  Results<T> run(const Matrix<T>& full, Index row, Network& network) {
    put("z", {z_.data(), z_.data() + z_.size()});
    put("logits_full", {full.data(), full.data() + full.size()});
    const Matrix<T> explained = full.row(row);
    const Matrix<T> p_full = softmax(explained);
    Index predicted = 0;
    p_full.row(0).maxCoeff(&predicted);
    const std::vector<T> soft(p_full.data(), p_full.data() + p_full.size());
    std::vector<T> hard(soft.size(), T(0));
    hard[at(predicted)] = T(1);
    put("p_full", soft);
    put("predicted_class", {static_cast<T>(predicted)});
    put("hard_edge_mask", scattered(std::vector<T>(cut_.edges.size(), T(1))));
    put("connectivity_num_pairs",
        {static_cast<T>(num_adjacent_pairs(cut_.source, static_cast<NodeId>(cut_.nodes.size())))});
    put_scores();
    put_sample(network);

    const double size = file_.scalar<double>("coeff_size");
    const double entropy = file_.scalar<double>("coeff_entropy");
    PaperWeights none;
    none.prediction = 0.0;
    none.symmetric = false;
    const auto term = [&](const std::string& name, const auto& set, const std::vector<T>& p) {
      PaperWeights weights = none;
      set(weights);
      put_term(name, weights, p, 1, network);
    };
    const auto predict = [](PaperWeights& w) { w.prediction = 1.0; };
    const auto regularised = [&](PaperWeights& w) {
      w.prediction = 1.0;
      w.size = size;
      w.entropy = entropy;
    };
    term("ce_hard", predict, hard);
    term("ce_soft", predict, soft);
    term(
        "size", [&](PaperWeights& w) { w.size = size; }, soft);
    term(
        "entropy", [&](PaperWeights& w) { w.entropy = entropy; }, soft);
    for (const auto kind : {PaperWeights::Connectivity::sum, PaperWeights::Connectivity::mean})
      term(
          kind == PaperWeights::Connectivity::sum ? "connectivity_sum" : "connectivity_mean",
          [&](PaperWeights& w) {
            w.connectivity = 1.0;
            w.connectivity_term = kind;
          },
          soft);
    const auto budget = [&](double bound) {
      return [bound](PaperWeights& w) {
        w.budget_weight = 1.0;
        w.budget = bound;
      };
    };
    term("budget", budget(file_.scalar<double>("budget_B")), soft);
    term("budget_inactive", budget(10.0 * static_cast<double>(graph_.num_edges())), soft);
    term("loss_paper", regularised, soft);
    term("loss_pyg", regularised, hard);
    put_adam_step();

    PaperWeights prediction = none;
    predict(prediction);
    put_term("ce_soft_mean_over_K", prediction, soft, num_samples(), network);
    return std::move(results_);
  }

 private:
  static EdgeScorer<T> make_scorer(const NpzArrays& file, Index width) {
    std::vector<std::int64_t> hidden;
    const auto weight = [](std::size_t k) { return fmt::format("mlp.{}.weight", 2 * k); };
    for (std::size_t k = 0; file.contains(weight(k + 1)); ++k)
      hidden.push_back(file.shape(weight(k)).at(0));
    return {width, task_of(file) == Task::node ? 1 : 0, hidden};
  }

  void put(const std::string& name, std::vector<T> values) { results_[name] = std::move(values); }

  std::vector<T> scattered(const std::vector<T>& local) const {
    std::vector<T> all(at(graph_.num_edges()), T(0));
    for (std::size_t k = 0; k < local.size(); ++k) all[at(cut_.edges[k])] = local[k];
    return all;
  }

  [[nodiscard]] std::int64_t num_samples() const { return file_.shape("u").at(0); }

  /// eps of every edge of the whole graph.
  [[nodiscard]] std::vector<T> epsilon(std::int64_t sample) const {
    const double bias = file_.scalar<double>("bias");
    const Matrix<double> u = file_.matrix<double>("u");
    std::vector<T> eps;
    for (Index e = 0; e < u.cols(); ++e)
      eps.push_back(static_cast<T>((1.0 - 2.0 * bias) * u(sample, e) + bias));
    return eps;
  }
  [[nodiscard]] std::vector<T> local_noise(std::int64_t sample) const {
    const std::vector<T> eps = epsilon(sample);
    std::vector<T> noise;
    for (const EdgeId e : cut_.edges) noise.push_back(logit(eps[at(e)]));
    return noise;
  }

  /// omega of every edge of the whole graph.
  std::vector<T> all_omega() {
    const auto omega = forward({graph_.sources(), graph_.targets(), targets_, {}});
    return {omega.begin(), omega.end()};
  }

  std::span<const T> forward(const typename EdgeScorer<T>::Edges& edges) {
    scorer_.transpose_first_weight(theta_.data(), weight_);
    scorer_.project(weight_, z_, projections_);
    return scorer_.forward(theta_.data(), weight_, z_, projections_, edges, workspace_);
  }

  void put_scores() {
    std::vector<T> input;
    for (EdgeId e = 0; e < graph_.num_edges(); ++e) {
      std::vector<NodeId> parts = {graph_.sources()[at(e)], graph_.targets()[at(e)]};
      parts.insert(parts.end(), targets_.begin(), targets_.end());
      for (const NodeId row : parts)
        for (Index c = 0; c < z_.cols(); ++c) input.push_back(z_(row, c));
    }
    put("mlp_input", input);
    const std::vector<T> omega = all_omega(), eps = epsilon(0);
    std::vector<T> gate, noise, mask(omega.size());
    for (std::size_t e = 0; e < omega.size(); ++e) {
      noise.push_back(logit(eps[e]));
      gate.push_back((noise[e] + omega[e]) / tau_);
    }
    concrete_samples<T>(omega, tau_, noise, mask);
    put("omega", omega);
    put("eps", eps);
    put("gate", gate);
    put("mask", mask);
  }

  template <class Network>
  void put_sample(Network& network) {
    std::vector<T> mask;
    for (const EdgeId e : cut_.edges) mask.push_back(results_.at("mask")[at(e)]);
    const std::span<const T> logits = network.forward(mask);
    put("logits_masked", {logits.begin(), logits.end()});
    const Matrix<T> row = ConstMatrixView<T>(logits.data(), 1, static_cast<Index>(logits.size()));
    const Matrix<T> p = softmax(row);
    put("p_masked", {p.data(), p.data() + p.size()});
  }

  /// The mean over samples of one term, back to every parameter of the explanation network.
  template <class Network>
  void put_term(const std::string& name, const PaperWeights& weights, const std::vector<T>& p,
                std::int64_t samples, Network& network) {
    const auto num_nodes = static_cast<NodeId>(cut_.nodes.size());
    const typename EdgeScorer<T>::Edges edges{source_row_, target_row_, targets_, {}};
    const std::span<const T> omega = forward(edges);
    std::vector<T> domega(omega.size(), T(0)), per_sample;
    const T scale = T(1) / static_cast<T>(samples);
    double loss = 0;
    for (std::int64_t k = 0; k < samples; ++k) {
      const double sample_loss = paper_loss<T>(weights, {cut_.source, num_nodes, nullptr, p}, omega,
                                               local_noise(k), tau_, scale, network, domega);
      per_sample.push_back(static_cast<T>(sample_loss / static_cast<double>(scale)));
      loss += sample_loss;
    }
    put("value." + name, {static_cast<T>(loss)});
    put("grad_omega." + name, scattered(domega));
    if (samples > 1) put("value.ce_soft_per_sample", per_sample);

    Matrix<T> dprojections = Matrix<T>::Zero(projections_.rows(), projections_.cols());
    std::vector<T> dtheta(theta_.size(), T(0));
    scorer_.backward(theta_.data(), z_, projections_, edges, domega, workspace_, dtheta.data(),
                     dprojections);
    scorer_.project_backward(z_, dprojections, dtheta.data());
    put_parameters("grad_mlp." + name, dtheta);
  }

  void put_parameters(const std::string& name, const std::vector<T>& theta) {
    for (const Parameter& p : scorer_.layout().parameters()) {
      const T* begin = theta.data() + p.offset;
      put(name + p.name.substr(std::string("mlp").size()), {begin, begin + p.size});
    }
  }

  /// On the gradient of loss_pyg; leaves theta as it was. Adam's first step is nearly lr * sign(g),
  /// so rounding decides it where a gradient should be zero: in float the file's gradient is used.
  void put_adam_step() {
    const std::vector<T> kept = theta_;
    std::vector<T> gradient(theta_.size());
    for (const Parameter& p : scorer_.layout().parameters()) {
      const std::string name = "grad_mlp.loss_pyg" + p.name.substr(std::string("mlp").size());
      const std::vector<T> values =
          std::is_same_v<T, float> ? file_.vector<T>(name) : results_.at(name);
      std::copy(values.begin(), values.end(),
                gradient.begin() + static_cast<std::ptrdiff_t>(p.offset));
    }
    const std::vector<std::uint8_t> trainable(theta_.size(), 1);
    AdamState<T> state;
    adam_step<T>({file_.scalar<double>("adam_lr")}, gradient, trainable, state, theta_);
    put_parameters("mlp_after_adam_pyg", theta_);
    const std::vector<T> omega = all_omega();
    std::vector<T> local;
    for (const EdgeId e : cut_.edges) local.push_back(sigmoid(omega[at(e)]));
    put("explanation_after_adam_pyg", scattered(local));
    theta_ = kept;
  }

  const NpzArrays& file_;
  const Graph& graph_;
  const Matrix<T>& z_;
  Cut cut_;
  EdgeScorer<T> scorer_;
  std::vector<T> theta_;
  T tau_;
  std::vector<NodeId> targets_, source_row_, target_row_;
  Matrix<T> weight_, projections_;
  typename EdgeScorer<T>::Workspace workspace_;
  Results<T> results_;
};

Results<double> run_in_double(const NpzArrays& file, const Graph& graph) {
  const Matrix<double> x = file.matrix<double>("x");
  const NativeGnn<double> model = golden_network<double>(file, "model.", task_of(file));
  GnnInput<double> input;
  input.graph = graph.adjacency();
  input.x = &x;
  NativeGnn<double>::Workspace workspace;
  const Matrix<double> full = model.forward(input, {}, {}, workspace);
  const Matrix<double> z = model.encode(input, {}, {}, Embedding::last_convolution, workspace);

  // The file's own choice of edges, all nodes.
  Cut cut;
  for (NodeId node = 0; node < graph.num_nodes(); ++node) cut.nodes.push_back(node);
  const std::vector<std::uint8_t> inside = file.mask("hard_edge_mask");
  for (std::size_t e = 0; e < inside.size(); ++e) {
    if (!inside[e]) continue;
    cut.edges.push_back(static_cast<EdgeId>(e));
    cut.source.push_back(graph.sources()[e]);
    cut.target.push_back(graph.targets()[e]);
  }
  const Index row = task_of(file) == Task::node ? file.scalar<std::int64_t>("target_node") : 0;
  WholeNetwork network(model, input, cut.edges, row);
  return Step<double>(file, graph, z, std::move(cut)).run(full, row, network);
}

Results<float> run_in_float(const NpzArrays& file, const Graph& graph) {
  Dataset dataset;
  dataset.task = task_of(file);
  dataset.graph = graph;
  dataset.graph_ptr = {0, graph.num_nodes()};
  dataset.edge_ptr = {0, graph.num_edges()};
  dataset.x = file.matrix<float>("x");
  const ExplainedModel model(make_gnn(std::make_shared<NativeGnn<float>>(
                                 golden_network<float>(file, "model.", dataset.task))),
                             dataset);
  const Index row = dataset.task == Task::node ? file.scalar<std::int64_t>("target_node") : 0;
  InstanceGraph instance;
  model.new_cutter().cut({row}, instance);
  const std::unique_ptr<GnnRun> run = model.gnn().new_run();
  ExplainedRow network(instance, *run);
  const Matrix<float> z = model.embed(Embedding::last_convolution);
  return Step<float>(file, graph, z,
                     {instance.nodes, instance.edges, instance.source, instance.target})
      .run(model.gnn().predict(model.whole()), row, network);
}

bool is_input(const std::string& array) {
  static const std::set<std::string> kInputs = {
      "x",   "edge_index", "target_node",   "u",        "bias",
      "tau", "coeff_size", "coeff_entropy", "budget_B", "adam_lr"};
  return kInputs.contains(array) || array.starts_with("model.") || array.starts_with("mlp.") ||
         array.ends_with("_f32");
}

/// Whatever is not an input must be a result of ours.
template <class T>
Worst compare(const NpzArrays& file, const Results<T>& ours) {
  // Some terms nearly cancel over the edges; in float they count beside the whole loss.
  double scale = 0.0;
  for (const std::string& array : file.names())
    if (array.starts_with("grad_mlp.loss_paper"))
      scale = std::max(scale, largest_magnitude(file.vector<double>(array)));
  Worst worst(scale);
  for (const std::string& array : file.names()) {
    if (is_input(array)) continue;
    const auto found = ours.find(array);
    if (found == ours.end()) throw_bad_input("unknown result {}", array);
    const std::vector<double> expected = file.vector<double>(array);
    if (expected.size() != found->second.size())
      throw_bad_input("{} has {} entries, ours has {}", array, expected.size(),
                      found->second.size());
    worst.compare(found->second.data(), expected, array);
  }
  return worst;
}

}  // namespace

GoldenErrors check_pg_explainer_step(const std::string&, const NpzArrays& file) {
  const Graph graph = golden_graph(file, "edge_index", static_cast<NodeId>(file.shape("x").at(0)));
  return {compare(file, run_in_double(file, graph)), compare(file, run_in_float(file, graph))};
}

}  // namespace pgexplainer
