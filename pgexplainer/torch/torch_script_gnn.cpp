#include "pgexplainer/torch/torch_script_gnn.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/model/gnn_input.h"

extern "C" void omp_set_num_threads(int);  // of the OpenMP that libtorch brings along

namespace pgexplainer {
namespace {

using torch::Tensor;
namespace jit = torch::jit;

constexpr const char* kForward = "forward(x, edge_index, edge_weight[, batch])";

/// Only front ends print.
struct Silence : c10::WarningHandler {
  void process(const c10::SourceLocation&, const std::string&, bool) override {}
};

/// Our threads share the work, so libtorch stays in the thread that calls it; the same steps run
/// the first time as later, where its optimiser would fuse them; and its warnings are not printed.
/// The settings are the calling thread's alone.
class InThisThread {
 public:
  InThisThread() { omp_set_num_threads(1); }
  ~InThisThread() { omp_set_num_threads(before_); }
  InThisThread(const InThisThread&) = delete;
  InThisThread& operator=(const InThisThread&) = delete;

 private:
  int before_ = at::get_num_threads();
  jit::GraphOptimizerEnabledGuard unoptimised_{false};
  Silence silence_;
  c10::Warning::WarningHandlerGuard silenced_{&silence_};
};

/// The line of a message of libtorch that says what is wrong: the first, or what the interpreter
/// adds to the end of its stack of calls.
std::string reason(std::string text) {
  constexpr std::string_view kMark = "\nRuntimeError: ";
  if (const auto mark = text.rfind(kMark); mark != std::string::npos)
    text.erase(0, mark + kMark.size());
  else if (text.starts_with("The following operation failed in the TorchScript interpreter"))
    text.erase(0, text.find_last_of('\n', text.find_last_not_of('\n')) + 1);
  text.erase(0, text.find_first_not_of('\n'));
  return text.substr(0, text.find('\n'));
}

/// Does the work; what libtorch throws becomes an Error that begins with `where`.
template <class Work>
auto translated(const std::string& where, const Work& work) {
  const InThisThread settings;
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw_bad_input("{}: {}", where, reason(error.what()));
  }
}

/// What a module is called with. Copies, since it may change its arguments in place.
struct Arguments {
  Tensor x, edge_index, edge_weight, batch;
};

/// Of each slot of the graph.
template <class Value>
Tensor per_slot(const Adjacency& graph, const Value& value) {
  Tensor result = torch::empty({graph.num_edges()}, torch::kFloat);
  auto* out = result.data_ptr<float>();
  for (EdgeId slot = 0; slot < graph.num_edges(); ++slot)
    out[slot] = value(at(graph.edge_of(slot)));
  return result;
}

Index num_graphs(const GnnInput<float>& input) {
  return input.graph_ptr.empty() ? 1 : static_cast<Index>(input.graph_ptr.size()) - 1;
}

Arguments arguments_of(const GnnInput<float>& input, const Tensor& x, const Tensor& mask) {
  const Adjacency& graph = input.graph;
  Arguments result;
  result.x = x.clone();
  result.edge_index = torch::empty({2, graph.num_edges()}, torch::kLong);
  auto* source = result.edge_index.data_ptr<std::int64_t>();
  std::int64_t* target = source + graph.num_edges();
  std::copy(graph.in_source.begin(), graph.in_source.end(), source);
  for (NodeId i = 0; i < graph.num_nodes(); ++i)
    std::fill(target + graph.in_ptr[at(i)], target + graph.in_ptr[at(i) + 1], i);
  result.edge_weight =
      input.edge_weight.empty()
          ? mask.clone()
          : mask * per_slot(graph, [&](std::size_t edge) { return input.edge_weight[edge]; });
  result.batch = torch::zeros({graph.num_nodes()}, torch::kLong);
  auto* batch = result.batch.data_ptr<std::int64_t>();
  for (std::size_t g = 0; g + 1 < input.graph_ptr.size(); ++g)
    std::fill(batch + input.graph_ptr[g], batch + input.graph_ptr[g + 1], g);
  return result;
}

Tensor view_of(const Matrix<float>& matrix) {
  return torch::from_blob(const_cast<float*>(matrix.data()), {matrix.rows(), matrix.cols()});
}

void copy_to(Matrix<float>& result, const Tensor& tensor) {
  const Tensor rows = tensor.detach().to(torch::kFloat).contiguous();
  result = ConstMatrixView<float>(rows.data_ptr<float>(), rows.size(0), rows.size(1));
}

/// A method of a module, or a part of one, that takes the arguments above.
class Callable {
 public:
  Callable() = default;
  Callable(const std::string& where, const jit::Module& module, const std::string& name)
      : self_(module._ivalue()), function_(&module.get_method(name).function()) {
    const std::vector<c10::Argument>& arguments = function_->getSchema().arguments();  // self first
    const auto is = [&](std::size_t i, std::string_view wanted) {
      return i < arguments.size() && (wanted.empty() || arguments[i].name() == wanted) &&
             c10::TensorType::get()->isSubtypeOf(*arguments[i].type());
    };
    takes_batch_ = is(4, "batch");
    bool fits = is(1, "") && is(2, "") && is(3, "edge_weight");
    for (std::size_t i = takes_batch_ ? 5 : 4; i < arguments.size(); ++i) {
      fits = fits && arguments[i].default_value().has_value();
      if (fits) others_.push_back(*arguments[i].default_value());
    }
    const auto& returns = function_->getSchema().returns();
    if (!fits || returns.size() != 1 || !returns[0].type()->isSubtypeOf(*c10::TensorType::get()))
      throw_bad_input(
          "{}: the module has {} -> {}, expected {}, all of them tensors, and one tensor as its "
          "result",
          where, signature(), returns.empty() ? "None" : returns[0].type()->annotation_str(),
          name == "forward" ? kForward : "embed(x, edge_index, edge_weight[, batch])");
  }
  /// A graph made from that of another one, which takes the same arguments.
  Callable(const Callable& other, const std::shared_ptr<jit::Graph>& graph)
      : self_(other.self_),
        own_(std::make_shared<jit::GraphFunction>("part", graph, nullptr)),
        function_(own_.get()),
        takes_batch_(other.takes_batch_),
        others_(other.others_) {}

  [[nodiscard]] std::string signature() const {
    std::vector<std::string> names;
    for (const auto& argument : function_->getSchema().arguments())
      names.push_back(argument.name());
    names.erase(names.begin());
    return fmt::format("{}({})", function_->name(), fmt::join(names, ", "));
  }
  [[nodiscard]] bool takes_batch() const { return takes_batch_; }
  /// Its graph, with all that it calls.
  [[nodiscard]] std::shared_ptr<jit::Graph> inlined_graph() const {
    std::shared_ptr<jit::Graph> graph = jit::toGraphFunction(*function_).graph()->copy();
    jit::Inline(*graph);
    return graph;
  }
  [[nodiscard]] c10::IValue operator()(const Arguments& arguments) const {
    jit::Stack stack{self_, arguments.x, arguments.edge_index, arguments.edge_weight};
    if (takes_batch_) stack.emplace_back(arguments.batch);
    stack.insert(stack.end(), others_.begin(), others_.end());
    function_->run(stack);
    return stack.back();
  }

 private:
  c10::IValue self_;
  std::shared_ptr<jit::GraphFunction> own_;
  jit::Function* function_ = nullptr;
  bool takes_batch_ = false;
  std::vector<c10::IValue> others_;
};

/// The tensors among which the last layer is: what linear maps read, for nodes; all, for graphs.
std::vector<jit::Value*> candidates(jit::Graph& graph, Task task) {
  std::vector<jit::Value*> result;
  for (jit::Node* node : graph.nodes()) {
    const c10::Symbol kind = node->kind();
    if (task == Task::graph) {
      for (jit::Value* value : node->outputs())
        if (value->type()->isSubtypeOf(*c10::TensorType::get())) result.push_back(value);
    } else if (kind == c10::aten::linear || kind == c10::aten::matmul || kind == c10::aten::mm) {
      result.push_back(node->input(0));
    } else if (kind == c10::aten::addmm) {
      result.push_back(node->input(1));
    }
  }
  return result;
}

/// forward() up to its last layer: the last candidate that has a row for each node and depends on
/// the edges. Of nodes, the logits if there is none.
Callable last_layer(const std::string& where, const Callable& forward, Task task,
                    const GnnInput<float>& probe) {
  const std::shared_ptr<jit::Graph> graph = forward.inlined_graph();
  const std::vector<jit::Value*> values = candidates(*graph, task);
  const auto return_only = [&](jit::Value* value) {
    graph->eraseOutput(0);
    graph->registerOutput(value);
  };
  return_only(graph->appendNode(graph->createTuple(values))->output());
  const Tensor mask = torch::ones({probe.graph.num_edges()}).requires_grad_();
  const auto found =
      Callable(forward, graph->copy())(arguments_of(probe, view_of(*probe.x), mask)).toTuple();
  for (std::size_t v = values.size(); v-- > 0;) {
    const Tensor& tensor = found->elements()[v].toTensor();
    if (!tensor.defined() || tensor.dim() != 2 || tensor.size(0) != probe.graph.num_nodes() ||
        !tensor.requires_grad())
      continue;
    return_only(values[v]);
    jit::EliminateDeadCode(graph);
    return {forward, graph};
  }
  if (task == Task::graph)
    throw_bad_input(
        "{}: no tensor with a row for each node was found in forward(); give the module a method "
        "embed(x, edge_index, edge_weight, batch) that returns the node representations",
        where);
  return forward;
}

/// A module as it is in a file.
struct Script {
  explicit Script(const std::filesystem::path& path) : where(path.string()) {
    translated(where, [&] {
      module = jit::load(where, torch::kCPU);
      module.eval();
      if (!module.find_method("forward"))
        throw_bad_input("{}: the module has no method {}", where, kForward);
      forward = Callable(where, module, "forward");
      if (module.find_method("embed")) embed = Callable(where, module, "embed");
      for (const auto& parameter : module.named_parameters()) {
        if (parameter.value.is_floating_point() && parameter.value.scalar_type() != torch::kFloat)
          throw_bad_input("{}: {} is of type {}, expected float; script module.float()", where,
                          parameter.name, c10::toString(parameter.value.scalar_type()));
        parameter.value.set_requires_grad(false);
        num_parameters += parameter.value.numel();
      }
      if (!module.hasattr("num_hops")) return;
      const c10::IValue hops = module.attr("num_hops");
      if (!hops.isInt() || hops.toInt() < 1 || hops.toInt() > 1000)
        throw_bad_input("{}: the attribute num_hops is not a whole number from 1 to 1000", where);
      num_hops = static_cast<int>(hops.toInt());
    });
  }

  std::string where;
  jit::Module module;
  Callable forward;
  std::optional<Callable> embed;
  std::int64_t num_parameters = 0;
  int num_hops = Gnn::kWholeGraph;
};

class TorchScriptGnn;

class TorchScriptRun final : public GnnRun {
 public:
  explicit TorchScriptRun(std::shared_ptr<const TorchScriptGnn> gnn) : gnn_(std::move(gnn)) {}

  const Matrix<float>& forward(const GnnInput<float>& input,
                               std::span<const float> edge_mask) override;
  void backward(const Matrix<float>& dlogits, std::span<float> dmask, Matrix<float>* dx) override;
  const Matrix<float>& embed(const GnnInput<float>& input, Embedding kind) override;

 private:
  std::shared_ptr<const TorchScriptGnn> gnn_;
  Adjacency graph_;
  Tensor x_, mask_;  ///< the leaves; the mask per slot
  Tensor out_;
  Matrix<float> logits_, z_;
};

class TorchScriptGnn final : public Gnn, public std::enable_shared_from_this<TorchScriptGnn> {
 public:
  TorchScriptGnn(Script script, const Dataset& dataset)
      : script_(std::move(script)), task_(dataset.task), num_features_(dataset.x.cols()) {
    if (task_ == Task::graph && !script_.forward.takes_batch())
      throw_bad_input(
          "{}: {} is a dataset of graphs, but the module has {}; expected forward(x, edge_index, "
          "edge_weight, batch), where batch is the number of each node's graph, and a row of "
          "logits for each graph",
          where(), dataset.name, script_.forward.signature());
    const DatasetNorms<float> norms(dataset, {false, false});
    GraphBatch batch(dataset, norms);
    constexpr std::int64_t kFew = 16;
    std::vector<std::int64_t> graphs(at(std::min(dataset.num_graphs(), kFew)));
    std::iota(graphs.begin(), graphs.end(), 0);
    const GnnInput<float> probe =
        task_ == Task::graph ? batch.assemble(graphs) : whole_input(dataset, norms);
    translated(where(), [&] {
      check_on(probe, dataset);
      if (!script_.embed) script_.embed = last_layer(where(), script_.forward, task_, probe);
    });
  }

  [[nodiscard]] Task task() const override { return task_; }
  [[nodiscard]] Index num_features() const override { return num_features_; }
  [[nodiscard]] Index num_classes() const override { return std::max<Index>(num_columns_, 2); }
  [[nodiscard]] int num_hops() const override {
    return task_ == Task::node ? script_.num_hops : kWholeGraph;
  }
  [[nodiscard]] bool keeps_bits_in_parts() const override { return false; }
  [[nodiscard]] Matrix<float> embed(const GnnInput<float>& input, Embedding kind) const override {
    return new_run()->embed(input, kind);
  }
  [[nodiscard]] std::unique_ptr<GnnRun> new_run() const override {
    return std::make_unique<TorchScriptRun>(shared_from_this());
  }

  [[nodiscard]] const std::string& where() const { return script_.where; }
  [[nodiscard]] Index num_columns() const { return num_columns_; }

  /// The module's own columns, of every row.
  [[nodiscard]] Tensor logits(const GnnInput<float>& input, const Tensor& x,
                              const Tensor& mask) const {
    Tensor out = script_.forward(arguments_of(input, x, mask)).toTensor();
    if (out.dim() == 1) out = out.unsqueeze(1);
    const Index rows = task_ == Task::graph ? num_graphs(input) : input.graph.num_nodes();
    if (out.dim() != 2 || out.size(0) != rows || out.size(1) == 0 ||
        (num_columns_ != 0 && out.size(1) != num_columns_) || !out.is_floating_point())
      throw_bad_input(
          "{}: forward() gives {} numbers of type {} for {} {}; expected {} rows of {} logits",
          where(), fmt::join(out.sizes(), " x "), c10::toString(out.scalar_type()), rows,
          task_ == Task::graph ? "graphs" : "nodes", rows,
          num_columns_ == 0 ? "floating-point" : std::to_string(num_columns_));
    return out;
  }
  [[nodiscard]] Tensor representations(const GnnInput<float>& input) const {
    const Tensor z = (*script_.embed)(arguments_of(input, view_of(*input.x),
                                                   torch::ones({input.graph.num_edges()})))
                         .toTensor();
    if (z.dim() != 2 || z.size(0) != input.graph.num_nodes() || z.size(1) == 0)
      throw_bad_input("{}: embed() gives {} numbers, expected a row for each of {} nodes", where(),
                      fmt::join(z.sizes(), " x "), input.graph.num_nodes());
    return z;
  }

 private:
  void check_on(const GnnInput<float>& probe, const Dataset& dataset) {
    const EdgeId num_edges = probe.graph.num_edges();
    const Tensor mask = torch::ones({num_edges}).requires_grad_();
    const Tensor x = view_of(*probe.x);
    const Tensor whole = logits(probe, x, mask);
    num_columns_ = whole.size(1);
    if (num_classes() < dataset.num_classes())
      throw_bad_input("{}: the module gives {} logits, but {} has {} classes", where(),
                      num_columns_, dataset.name, dataset.num_classes());
    if (!torch::isfinite(whole).all().item<bool>())
      throw_bad_input("{}: the module gives logits that are not finite numbers on {}", where(),
                      dataset.name);
    if (!torch::equal(whole, logits(probe, x, mask)))
      throw_bad_input(
          "{}: the module gives other logits when it is asked again; script module.eval(), whose "
          "forward() neither draws random numbers nor changes the module",
          where());
    if (num_edges == 0) return;
    // Any weights that do not cancel what softmax normalises.
    const Tensor direction = torch::cos(torch::arange(whole.numel())).view_as(whole);
    Tensor gradient;
    if (whole.requires_grad())
      gradient = torch::autograd::grad({(whole * direction).sum()}, {mask}, {}, {}, false, true)[0];
    if (gradient.defined() && gradient.abs().max().item<float>() > 0) return;
    if (torch::equal(whole, logits(probe, x, torch::zeros({num_edges}))))
      throw_bad_input(
          "{}: the module ignores edge_weight: its logits are the same when every edge has weight "
          "0, so nothing can be said about edges; multiply each message by the weight of its edge",
          where());
    if (!gradient.defined())
      throw_bad_input(
          "{}: the logits depend on edge_weight, but without a gradient; use the weight itself as "
          "a factor, not a comparison with it or a detached copy",
          where());
  }

  Script script_;
  Task task_;
  Index num_features_;
  Index num_columns_ = 0;  ///< of forward(); 0 = not known yet
};

const Matrix<float>& TorchScriptRun::forward(const GnnInput<float>& input,
                                             std::span<const float> edge_mask) {
  translated(gnn_->where(), [&] {
    graph_ = input.graph;
    x_ = view_of(*input.x).requires_grad_();
    mask_ = per_slot(graph_, [&](std::size_t edge) {
              return edge_mask.empty() ? 1.0F : edge_mask[edge];
            }).requires_grad_();
    out_ = gnn_->logits(input, x_, mask_);
    if (!input.nodes_within.empty()) out_ = out_.narrow(0, 0, input.nodes_within.front());
    copy_to(logits_, out_);
    if (logits_.cols() == 1) {
      logits_.conservativeResize(Eigen::NoChange, 2);
      logits_.col(1) = logits_.col(0).eval();
      logits_.col(0).setZero();
    }
  });
  return logits_;
}

void TorchScriptRun::backward(const Matrix<float>& dlogits, std::span<float> dmask,
                              Matrix<float>* dx) {
  translated(gnn_->where(), [&] {
    if (dx) dx->setZero(x_.size(0), x_.size(1));
    torch::autograd::variable_list leaves;
    if (!dmask.empty()) leaves.push_back(mask_);
    if (dx) leaves.push_back(x_);
    if (leaves.empty() || !out_.requires_grad()) return;
    Tensor dout = view_of(dlogits);
    if (gnn_->num_columns() == 1) dout = dout.narrow(1, 1, 1);
    const auto gradients = torch::autograd::grad({out_}, leaves, {dout.to(out_.scalar_type())},
                                                 /*retain_graph=*/true, /*create_graph=*/false,
                                                 /*allow_unused=*/true);
    for (const Tensor& gradient : gradients)
      if (gradient.defined() && !torch::isfinite(gradient).all().item<bool>())
        throw_bad_input(
            "{}: a gradient of the logits is not a finite number; forward() must also stand edge "
            "weights of 0: divide by no sum of weights that may be 0, take no root of it",
            gnn_->where());
    if (!dmask.empty() && gradients.front().defined()) {
      const Tensor of_slot = gradients.front().contiguous();
      for (EdgeId slot = 0; slot < graph_.num_edges(); ++slot)
        dmask[at(graph_.edge_of(slot))] += of_slot.data_ptr<float>()[slot];
    }
    if (dx && gradients.back().defined()) copy_to(*dx, gradients.back());
  });
}

const Matrix<float>& TorchScriptRun::embed(const GnnInput<float>& input, Embedding kind) {
  translated(gnn_->where(), [&] {
    const torch::NoGradGuard no_gradient;
    Tensor z = gnn_->representations(input);
    if (!input.nodes_within.empty()) z = z.narrow(0, 0, input.nodes_within.front());
    copy_to(z_, z);
  });
  if (kind == Embedding::all_layers) copy_shortened(z_, z_, 0);
  return z_;
}

}  // namespace

std::shared_ptr<const Gnn> read_torch_script(const std::filesystem::path& path,
                                             const Dataset& dataset) {
  return std::make_shared<TorchScriptGnn>(Script(path), dataset);
}

TorchScriptInfo describe_torch_script(const std::filesystem::path& path) {
  const Script script(path);
  return {script.forward.signature(), script.embed ? script.embed->signature() : "",
          script.num_parameters, script.num_hops};
}

extern "C" const TorchPlugin pgexplainer_torch_plugin{&read_torch_script, &describe_torch_script};

}  // namespace pgexplainer
