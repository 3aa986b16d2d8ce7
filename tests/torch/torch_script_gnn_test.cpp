// TorchScript modules as networks to explain: against the same network of ours, against finite
// differences, through the tool, and what is refused. The modules are written here, as source text.
#include "pgexplainer/torch/torch_script_gnn.h"

#include <gtest/gtest.h>
#include <torch/script.h>

#include <cmath>

#include "pgexplainer/explain/methods.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/gnn_file.h"
#include "pgexplainer/model/link_gnn.h"
#include "tests/support/expect_error.h"
#include "tests/support/explaining_test.h"
#include "tests/support/small_explained_model.h"

namespace pgexplainer {
namespace {

/// A module of two features and three classes, to be given methods; parameters w0, w1, ... of
/// random numbers, 4 x 2 for w0 and 4 x 4 for the others.
torch::jit::Module new_module(int num_matrices) {
  torch::jit::Module module("Net");
  RandomStream random(8, RandomPurpose::test);
  for (int k = 0; k < num_matrices; ++k) {
    torch::Tensor weight = torch::empty({4, k == 0 ? 2 : 4});
    for (std::int64_t i = 0; i < weight.numel(); ++i)
      weight.data_ptr<float>()[i] = static_cast<float>(random.normal());
    module.register_parameter("w" + std::to_string(k), weight, /*is_buffer=*/false);
  }
  return module;
}

/// h_i = sum_j w_ij sigmoid(A x_i + B x_j) * (C x_j), which no layer of ours is.
constexpr const char* kGated = R"(
def gated(self, x, a, b, c, edge_index, edge_weight):
    gate = torch.sigmoid(torch.matmul(x, a.t())[edge_index[1]] + torch.matmul(x, b.t())[edge_index[0]])
    message = edge_weight.unsqueeze(1) * gate * torch.matmul(x, c.t())[edge_index[0]]
    return torch.zeros([x.size(0), 4]).index_add(0, edge_index[1], message)

def nodes(self, x, edge_index, edge_weight):
    h = torch.tanh(self.gated(x, self.w0, self.w0, self.w0, edge_index, edge_weight))
    return self.gated(h, self.w1, self.w2, self.w3, edge_index, edge_weight)
)";

std::string text_of(const Matrix<float>& matrix) {
  std::ostringstream text;
  text << matrix;
  return text.str();
}

class TorchScript : public testing::Test {
 protected:
  /// The module with more methods, through a file.
  std::shared_ptr<const Gnn> read(torch::jit::Module module, const std::string& methods,
                                  const Dataset& dataset) {
    module.define(methods + "\n");
    module.save(file());
    return read_gnn(file(), dataset);
  }
  [[nodiscard]] std::string file() const { return (folder_ / "module.pt").string(); }

  /// The gated network with its mean over nodes, or over each graph.
  std::shared_ptr<const Gnn> read_gated(const Dataset& dataset, int num_hops = 0,
                                        const std::string& more = "") {
    torch::jit::Module module = new_module(4);
    module.define(kGated);
    if (num_hops > 0) module.register_attribute("num_hops", c10::IntType::get(), num_hops);
    return read(module,
                dataset.task == Task::node ? R"(
def forward(self, x, edge_index, edge_weight):
    return self.nodes(x, edge_index, edge_weight)
)" + more
                                           : R"(
def forward(self, x, edge_index, edge_weight, batch):
    h = self.nodes(x, edge_index, edge_weight)
    sums = torch.zeros([int(batch.max()) + 1, 4]).index_add(0, batch, h)
    return sums / torch.bincount(batch).unsqueeze(1)
)" + more,
                dataset);
  }

  TemporaryFolder folder_;
};

/// Three graphs: a triangle with a tail, a pair of nodes, and one node alone; and edge weights.
Dataset three_graphs() {
  const EdgeList edges = undirected({{0, 1}, {1, 2}, {2, 0}, {2, 3}, {4, 5}});
  Dataset dataset = SmallExplainedModel(kSum, Task::node, 7, edges).dataset;
  dataset.name = "three graphs";
  dataset.task = Task::graph;
  dataset.graph_ptr = {0, 4, 6, 7};
  dataset.edge_ptr = {0, 8, 10, 10};
  dataset.y = {0, 1, 0};
  for (std::size_t e = 0; e < edges.size(); ++e)
    dataset.edge_weight.push_back(0.5F + 0.1F * static_cast<float>(e));
  return dataset;
}

// ---- the same as a network of ours --------------------------------------------------------------

/// The network of SmallExplainedModel with plain sums, in TorchScript.
torch::jit::Module same_as(const SmallExplainedModel& small) {
  torch::jit::Module module("Net");
  const ParameterLayout& layout = small.model->layout();
  for (const Parameter& p : layout.parameters()) {
    std::string name = p.name;
    std::replace(name.begin(), name.end(), '.', '_');
    torch::Tensor tensor = torch::empty(p.shape);
    std::copy_n(small.model->theta().data() + p.offset, p.size, tensor.data_ptr<float>());
    module.register_parameter(name, tensor, false);
  }
  module.register_attribute("num_hops", c10::IntType::get(), 2);
  module.define(R"(
def sum(self, x, weight, bias, edge_index, edge_weight):
    message = edge_weight.unsqueeze(1) * torch.linear(x, weight)[edge_index[0]]
    return torch.zeros([x.size(0), 4]).index_add(0, edge_index[1], message) + bias

def encode(self, x, edge_index, edge_weight):
    h = torch.tanh(self.sum(x, self.conv0_lin_weight, self.conv0_bias, edge_index, edge_weight))
    return torch.tanh(self.sum(h, self.conv1_lin_weight, self.conv1_bias, edge_index, edge_weight))
)");
  return module;
}

void expect_same_explanations(const ExplainedModel& ours, const ExplainedModel& theirs) {
  std::vector<Instance> instances;
  for (std::int64_t id = 0; id < ours.dataset().num_instances(); ++id) instances.push_back({id});
  ThreadPool pool(2);
  for (const std::string& name : method_names()) {
    if (name == "att") continue;
    nlohmann::json options;
    if (name == "pgexplainer")  // what both have, without what turns on the last bit
      options = {{"embedding", "classifier-input"},
                 {"epochs", 3},
                 {"necessity", {1.0}},
                 {"sharpen", 0},
                 {"order_epochs", 0},
                 {"refine", 0}};
    if (name == "gnnexplainer") options = {{"epochs", 20}};
    std::vector<std::vector<Explanation>> both;
    for (const ExplainedModel* model : {&ours, &theirs}) {
      const auto explainer = make_explainer(name, 5, options);
      explainer->fit(*model, instances, pool, {});
      both.push_back(explain(*model, *explainer, instances, {}, pool));
    }
    for (std::size_t i = 0; i < instances.size(); ++i) {
      const Explanation &a = both[0][i], &b = both[1][i];
      ASSERT_EQ(a.edges, b.edges) << name;
      // The ranking objective leaves the mean of all scores to chance: compared up to that.
      const float shift =
          name == "pgexplainer" && !a.score.empty() ? a.score.front() - b.score.front() : 0.0F;
      EXPECT_NEAR(shift, 0.0F, 1e-2) << name;
      for (std::size_t e = 0; e < a.score.size(); ++e)
        EXPECT_NEAR(a.score[e], b.score[e] + shift, 1e-4) << name << " of " << i;
      for (std::size_t c = 0; c < a.prediction.probability.size(); ++c)
        EXPECT_NEAR(a.prediction.probability[c], b.prediction.probability[c], 1e-6) << name;
    }
  }
}

TEST_F(TorchScript, ExplainsNodesAsOurOwnNetworkDoes) {
  SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  small.dataset.edge_weight.assign(10, 0.7F);
  const ExplainedModel theirs(read(same_as(small), R"(
def forward(self, x, edge_index, edge_weight):
    return torch.linear(self.encode(x, edge_index, edge_weight), self.lin_weight, self.lin_bias)
)",
                                   small.dataset),
                              small.dataset);
  EXPECT_EQ(theirs.gnn().num_classes(), 3);
  EXPECT_EQ(theirs.gnn().num_features(), 2);
  EXPECT_EQ(theirs.gnn().num_hops(), 2);
  const Matrix<float> ours = small.explained->gnn().predict(small.explained->whole());
  EXPECT_TRUE(theirs.gnn().predict(theirs.whole()).isApprox(ours, 1e-5F));
  // No method embed: what the last linear layer reads.
  const Matrix<float> z = small.explained->embed(Embedding::classifier_input);
  EXPECT_TRUE(theirs.embed(Embedding::classifier_input).isApprox(z, 1e-5F));
  expect_same_explanations(*small.explained, theirs);
}

TEST_F(TorchScript, ExplainsGraphsAsOurOwnNetworkDoes) {
  const SmallExplainedModel small(kSum, Task::graph, 5, undirected(triangle_with_tail()));
  const ExplainedModel theirs(read(same_as(small), R"(
def forward(self, x, edge_index, edge_weight, batch):
    h = self.encode(x, edge_index, edge_weight)
    graphs = int(batch.max()) + 1
    counts = torch.zeros([graphs, 1]).index_add(0, batch, torch.ones([h.size(0), 1]))
    pooled = torch.zeros([graphs, 4]).index_add(0, batch, h) / counts
    return torch.linear(pooled, self.lin_weight, self.lin_bias)
)",
                                   small.dataset),
                              small.dataset);
  // No method embed: the last rows of nodes that depend on edges.
  const Matrix<float> z = small.explained->embed(Embedding::last_layer);
  EXPECT_TRUE(theirs.embed(Embedding::last_layer).isApprox(z, 1e-5F));
  expect_same_explanations(*small.explained, theirs);
}

// ---- forward and backward -----------------------------------------------------------------------

/// d(sum of R * logits)/d(mask, x) against central differences.
void expect_right_gradients(const Gnn& gnn, const GnnInput<float>& input) {
  const auto run = gnn.new_run();
  const auto num_edges = at(input.graph.num_edges());
  RandomStream random(4, RandomPurpose::test);
  std::vector<float> mask(num_edges), dmask(num_edges, 1.0F);  // it adds
  for (float& m : mask) m = static_cast<float>(random.uniform());
  Matrix<float> x = *input.x, dx;
  GnnInput<float> moved = input;
  moved.x = &x;
  Matrix<float> weights = run->forward(moved, mask);
  for (Index i = 0; i < weights.size(); ++i)
    weights.data()[i] = static_cast<float>(random.normal());
  run->backward(weights, dmask, &dx);
  const auto slope = [&](float& value) {
    const float kept = value, step = 1e-2F;
    const auto loss = [&](float at) {
      value = at;
      return run->forward(moved, mask).cwiseProduct(weights).cast<double>().sum();
    };
    const double result = (loss(kept + step) - loss(kept - step)) / (2 * static_cast<double>(step));
    value = kept;
    return result;
  };
  double largest = 0;
  for (std::size_t e = 0; e < num_edges; ++e) {
    EXPECT_NEAR(dmask[e] - 1.0F, slope(mask[e]), 5e-3) << "edge " << e;
    largest = std::max(largest, std::abs(static_cast<double>(dmask[e]) - 1));
  }
  EXPECT_GT(largest, 0.05);
  for (Index i = 0; i < x.size(); ++i)
    EXPECT_NEAR(dx.data()[i], slope(x.data()[i]), 5e-3) << "feature " << i;
}

TEST_F(TorchScript, GradientsAgreeWithFiniteDifferences) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  for (const int num_hops : {0, 2}) {
    const ExplainedModel model(read_gated(small.dataset, num_hops), small.dataset);
    InstanceGraph instance;
    model.new_cutter().cut({4}, instance);
    EXPECT_EQ(instance.num_edges(), num_hops == 0 ? 10 : 4);
    expect_right_gradients(model.gnn(), instance.input());
  }
}

TEST_F(TorchScript, UnionOfGraphsGivesEachGraphsOwnRow) {
  const Dataset dataset = three_graphs();
  const auto gnn = read_gated(dataset);
  const DatasetNorms<float> norms(dataset, {false, false});
  std::vector<float> mask(10);
  for (std::size_t e = 0; e < mask.size(); ++e) mask[e] = 0.1F * static_cast<float>(e);
  GraphBatch batch(dataset, norms);
  const std::vector<std::int64_t> graphs{1, 2, 0};
  const GnnInput<float> together = batch.assemble(graphs);
  const Matrix<float> rows = gnn->predict(together, mask);
  ASSERT_EQ(rows.rows(), 3);
  InstanceCutter cutter(dataset, norms, Task::graph, Gnn::kWholeGraph);
  for (Index row = 0; row < 3; ++row) {
    InstanceGraph alone;
    cutter.cut({graphs[at(row)]}, alone);
    std::vector<float> own;
    for (const EdgeId edge : alone.edges) own.push_back(mask[at(edge)]);
    EXPECT_TRUE(gnn->predict(alone.input(), own).isApprox(rows.row(row), 1e-5F));
  }
  expect_right_gradients(*gnn, together);
}

TEST_F(TorchScript, CutGraphsGiveTheRowsOfTheWholeOne) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  const ExplainedModel whole(read_gated(small.dataset), small.dataset);
  const ExplainedModel local(read_gated(small.dataset, 2), small.dataset);
  EXPECT_EQ(whole.gnn().num_hops(), Gnn::kWholeGraph);
  for (std::int64_t id = 0; id < 6; ++id) {
    InstanceGraph all, cut;
    whole.new_cutter().cut({id}, all);
    local.new_cutter().cut({id}, cut);
    EXPECT_EQ(all.num_nodes(), 6);
    EXPECT_EQ(all.logit_row, id);
    const Matrix<float> rows = whole.gnn().predict(all.input());
    const Matrix<float> row = local.gnn().predict(cut.input());
    ASSERT_EQ(row.rows(), 1);
    EXPECT_TRUE((rows.row(id) - row).cwiseAbs().maxCoeff() < 1e-5F) << id;
  }
}

TEST_F(TorchScript, OneColumnIsTheLogitOfTheSecondClass) {
  SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  small.dataset.y.assign(6, 1);
  torch::jit::Module module = new_module(4);
  module.define(kGated);
  const auto gnn = read(module, R"(
def forward(self, x, edge_index, edge_weight):
    return self.nodes(x, edge_index, edge_weight)[:, 0]
)",
                        small.dataset);
  const ExplainedModel model(gnn, small.dataset);
  EXPECT_EQ(gnn->num_classes(), 2);
  const Matrix<float> logits = gnn->predict(model.whole());
  const Matrix<float> all = read_gated(small.dataset)->predict(model.whole());
  EXPECT_TRUE(logits.col(0).isZero());
  EXPECT_EQ(text_of(logits.col(1)), text_of(all.col(0)));
  expect_right_gradients(*gnn, model.whole());
}

TEST_F(TorchScript, OwnEmbeddingsAreTaken) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  const ExplainedModel model(read_gated(small.dataset, 2, R"(
def embed(self, x, edge_index, edge_weight):
    return 3 * x
)"),
                             small.dataset);
  EXPECT_TRUE(model.embed(Embedding::last_layer).isApprox(3 * small.dataset.x));
  EXPECT_EQ(read_torch_script_info(file()).embed, "embed(x, edge_index, edge_weight)");
}

TEST_F(TorchScript, ArgumentsMayBeChangedInPlace) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  const Matrix<float> before = small.dataset.x;
  const auto gnn = read(new_module(1), R"(
def forward(self, x, edge_index, edge_weight):
    x.mul_(2)
    edge_weight.mul_(3)
    message = edge_weight.unsqueeze(1) * torch.linear(x, self.w0)[edge_index[0]]
    return torch.zeros([x.size(0), 4]).index_add(0, edge_index[1], message)
)",
                        small.dataset);
  expect_right_gradients(*gnn, small.explained->whole());
  EXPECT_EQ(text_of(small.dataset.x), text_of(before));
}

TEST_F(TorchScript, ArgumentsMayBeOptionalAndOthersHaveDefaults) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  torch::jit::Module module = new_module(4);
  module.define(kGated);
  const auto gnn = read(module, R"(
def forward(self, x, edge_index, edge_weight: Optional[Tensor], batch: Optional[Tensor] = None, factor: float = 2.0):
    assert edge_weight is not None
    assert batch is not None
    return factor * self.nodes(x, edge_index, edge_weight)
)",
                        small.dataset);
  const Matrix<float> logits = gnn->predict(small.explained->whole());
  const Matrix<float> once = read_gated(small.dataset)->predict(small.explained->whole());
  EXPECT_TRUE(logits.isApprox(2 * once, 1e-5F));
}

TEST_F(TorchScript, GivesTheSameBitsOnAnyNumberOfThreads) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  const ExplainedModel model(read_gated(small.dataset, 2), small.dataset);
  const std::vector<Instance> instances{{0}, {1}, {2}, {3}, {4}};
  for (const char* name : {"pgexplainer", "gnnexplainer"}) {
    std::vector<std::vector<Explanation>> runs;
    for (const int threads : {1, 3, 3}) {
      ThreadPool pool(threads);
      const auto explainer = make_explainer(name, 2, {{"epochs", 4}});
      explainer->fit(model, instances, pool, {});
      runs.push_back(explain(model, *explainer, instances, {}, pool));
    }
    for (std::size_t i = 0; i < instances.size(); ++i)
      for (const auto& run : runs) EXPECT_EQ(run[i].score, runs[0][i].score) << name;
  }
}

TEST_F(TorchScript, LinksNeedToKnowTheReach) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  expect_bad_input([&] { make_link_gnn(read_gated(small.dataset)); }, {"every node"});
  const ExplainedModel model(make_link_gnn(read_gated(small.dataset, 2)), small.dataset);
  InstanceGraph instance;
  model.new_cutter().cut({0, 4}, instance);
  const Matrix<float> rows = read_gated(small.dataset)->predict(model.whole());
  EXPECT_NEAR(model.gnn().predict(instance.input())(0, 1), rows.row(0).dot(rows.row(4)), 1e-4);
}

// ---- refusals -----------------------------------------------------------------------------------

struct Refusal {
  std::string methods;
  std::vector<std::string> words;
};

TEST_F(TorchScript, RefusesModulesThatCannotBeExplained) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  const std::string expected = "forward(x, edge_index, edge_weight[, batch])";
  const std::string sum =
      "    m = edge_weight.unsqueeze(1) * torch.linear(x, self.w0)[edge_index[0]]\n"
      "    h = torch.zeros([x.size(0), 4]).index_add(0, edge_index[1], m)\n";
  const std::string start = "def forward(self, x, edge_index, edge_weight):\n";
  const std::vector<Refusal> refusals{
      {start +
           "    return torch.linear(x, self.w0)[edge_index[0]].sum(0) + torch.linear(x, self.w0)",
       {"ignores edge_weight", "multiply each message"}},
      {start + sum + "    return h.detach()", {"without a gradient"}},
      {start + sum + "    return h * torch.rand([1])", {"other logits", "eval()"}},
      {start + sum + "    return h[:, :2]", {"gives 2 logits", "3 classes"}},
      {start + sum + "    return h[:3]", {"3 x 4", "6 nodes"}},
      {start + sum + "    return h.argmax(1)", {"Long", "6 rows of floating-point"}},
      {start + sum + "    return h / 0", {"not finite"}},
      {start + sum + "    return (h, h)", {"Tuple[Tensor, Tensor]", expected}},
      {start + sum + "    return torch.linear(h, self.w0)", {"cannot be multiplied (6x4 and 2x4)"}},
      {start + "    assert x.size(0) == 3, 'only for whales'\n    return x", {"only for whales"}},
      {"def forward(self, x, edge_index, batch):\n    return x",
       {"forward(x, edge_index, batch)", expected}},
      {"def forward(self, x):\n    return x", {"forward(x) -> Tensor", expected}},
      {"def forward(self, x, edge_index, edge_weight, edge_attr):\n    return x",
       {"edge_attr", expected}},
      {"def predict(self, x):\n    return x", {"no method", expected}},
      {start + sum + "    return h\ndef embed(self, x):\n    return x",
       {"embed(x) -> Tensor", "embed(x, edge_index, edge_weight[, batch])"}}};
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.methods);
    std::vector<std::string> words = refusal.words;
    words.push_back(file());
    expect_bad_input([&] { read(new_module(1), refusal.methods, small.dataset); }, words);
  }
}

TEST_F(TorchScript, RefusesOddParametersAndReaches) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  torch::jit::Module in_double = new_module(4);
  in_double.define(kGated);
  in_double.to(torch::kDouble);
  const std::string forward =
      "def forward(self, x, edge_index, edge_weight):\n"
      "    return self.nodes(x, edge_index, edge_weight)";
  expect_bad_input([&] { read(in_double, forward, small.dataset); }, {"w0 is of type Double"});
  torch::jit::Module far = new_module(4);
  far.define(kGated);
  far.register_attribute("num_hops", c10::IntType::get(), 0);
  expect_bad_input([&] { read(far, forward, small.dataset); }, {"num_hops", "1 to 1000"});
}

TEST_F(TorchScript, GraphsNeedABatch) {
  torch::jit::Module module = new_module(4);
  module.define(kGated);
  expect_bad_input(
      [&] {
        read(module, R"(
def forward(self, x, edge_index, edge_weight):
    return self.nodes(x, edge_index, edge_weight).sum(0, keepdim=True)
)",
             three_graphs());
      },
      {"three graphs", "forward(x, edge_index, edge_weight, batch)"});
}

TEST_F(TorchScript, InfiniteGradientsAreNotMistakenForImportance) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  const auto gnn = read(new_module(1), R"(
def forward(self, x, edge_index, edge_weight):
    m = edge_weight.sqrt().unsqueeze(1) * torch.linear(x, self.w0)[edge_index[0]]
    return torch.zeros([x.size(0), 4]).index_add(0, edge_index[1], m)
)",
                        small.dataset);
  std::vector<float> mask(10, 0.0F), dmask(10, 0.0F);
  const auto run = gnn->new_run();
  const Matrix<float> logits = run->forward(small.explained->whole(), mask);
  expect_bad_input([&] { run->backward(Matrix<float>::Ones(6, 4), dmask, nullptr); },
                   {file(), "edge weights of 0"});
}

// ---- the tool -----------------------------------------------------------------------------------

/// The gated network on data of the tool's own, whose ten features are all one.
class TorchScriptVerbs : public ExplainingTest {
 protected:
  void SetUp() override {
    run("generate ba-shapes --base-nodes 20 --edges-per-node 1 --num-motifs 4 -o " + data());
    torch::jit::Module module("Net");
    torch::manual_seed(1);
    for (const char* name : {"w0", "w1", "w2", "w3"})
      module.register_parameter(name, torch::randn({4, *name == 'w' && name[1] == '0' ? 10 : 4}),
                                false);
    module.register_attribute("num_hops", c10::IntType::get(), 2);
    module.define(kGated);
    module.define(
        "def forward(self, x, edge_index, edge_weight):\n"
        "    return self.nodes(x, edge_index, edge_weight)\n");
    module.save(torch_model());
  }
  [[nodiscard]] std::string torch_model() const { return file("gated.pt"); }
  [[nodiscard]] std::string torch_verb(const std::string& name) const {
    return name + " --data " + data() + " --model " + torch_model() + " --instances 20,21,25 ";
  }
};

TEST_F(TorchScriptVerbs, AllTakeTheModule) {
  const nlohmann::json info = run_json("info " + torch_model());
  EXPECT_EQ(info["kind"], "torchscript");
  EXPECT_EQ(info["forward"], "forward(x, edge_index, edge_weight)");
  EXPECT_TRUE(info["embed"].is_null());
  EXPECT_EQ(info["parameters"], 88);
  EXPECT_EQ(info["num_hops"], 2);
  EXPECT_NE(run("info " + torch_model()).err.find("last layer"), std::string::npos);

  run(torch_verb("fit") + "--epochs 2 -o " + explainer());
  run(torch_verb("explain") + "--explainer " + explainer() + " -o " + file("scores.jsonl"));
  EXPECT_EQ(run_json("info " + file("scores.jsonl"))["instances"], 3);
  const nlohmann::json judged = run_json(torch_verb("evaluate") + "--method all --epochs 2");
  EXPECT_EQ(judged["methods"].size(), method_names().size() - 1) << judged;  // no attention
  const nlohmann::json times =
      run_json(torch_verb("bench") + "--quick --repetitions 1 --epochs 1 --work fit,warm,cold");
  for (const char* work : {"fit", "warm", "cold"})
    EXPECT_GT(times["seconds"][work]["median"], 0.0) << work;
}

TEST_F(TorchScriptVerbs, SayWhatIsWrongInOneLine) {
  std::ofstream(file("cut.pt"), std::ios::binary) << bytes(torch_model()).substr(0, 3000);
  expect_refused("info " + file("cut.pt"), "truncated");
  run("generate ba-2motifs --num-graphs 4 -o " + file("graphs.npz"));
  expect_refused(
      "fit --data " + file("graphs.npz") + " --model " + torch_model() + " -o " + explainer(),
      "edge_weight, batch)");
}

TEST_F(TorchScriptVerbs, FindThePluginWhereItIsInstalled) {
  const std::filesystem::path prefix = file("prefix"), tool = prefix / "bin" / "pgexplainer";
  std::filesystem::create_directories(tool.parent_path());
  std::filesystem::copy(PGEXPLAINER_TOOL, tool);
  expect_bad_input(
      [&] {
        const ToolResult result = run_command(tool.string() + " info " + torch_model());
        throw Error(result.exit_code == 2 ? Error::Kind::bad_input : Error::Kind::failed,
                    result.err);
      },
      {"libtorch-dev", "-DPGEXPLAINER_WITH_TORCH=ON", tool.parent_path().string()});
  std::filesystem::create_directories(prefix / PGEXPLAINER_LIBDIR);
  std::filesystem::copy(PGEXPLAINER_TORCH_PLUGIN, prefix / PGEXPLAINER_LIBDIR);
  std::filesystem::create_symlink(tool, file("link"));
  EXPECT_EQ(run_command(file("link") + " info " + torch_model()).exit_code, 0);
}

}  // namespace
}  // namespace pgexplainer
