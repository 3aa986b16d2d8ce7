#include "apps/cli/kernel_bench.h"

#include <algorithm>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/explain/edge_scorer.h"
#include "pgexplainer/explain/pg_explainer.h"
#include "pgexplainer/model/architecture.h"
#include "pgexplainer/nn/aggregate.h"

namespace pgexplainer::cli {
namespace {

constexpr Index kDegree = 10;
constexpr Index kScorerWidth = 64;  // hidden width of the explanation network, as published

Matrix<float> random_rows(Index rows, Index cols) {
  RandomStream random(1, RandomPurpose::test);
  Matrix<float> m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.uniform() - 0.5);
  return m;
}

/// Every node hears `degree` random ones.
Graph random_graph(Index nodes, Index degree) {
  RandomStream random(2, RandomPurpose::test);
  std::vector<NodeId> source, target;
  for (Index i = 0; i < nodes; ++i)
    for (Index k = 0; k < degree; ++k) {
      source.push_back(static_cast<NodeId>(random.below(static_cast<std::uint64_t>(nodes))));
      target.push_back(static_cast<NodeId>(i));
    }
  return {static_cast<NodeId>(nodes), std::move(source), std::move(target)};
}

/// So many rows of so many bytes fill half of L2, the rest is left to the stack and the code.
Index rows_in_l2(Index bytes_per_row) { return l2_bytes() / 2 / bytes_per_row; }

constexpr double kFloat = sizeof(float), kId = sizeof(NodeId), kPointer = sizeof(EdgeId);

/// What L2 delivers on average for a row of rows without gaps: all the lines that it touches.
double delivered_per_row(Index width) {
  constexpr Index kLine = 64;
  const Index row = width * Index{sizeof(float)};
  Index lines = 0;  // of as many rows as a line has bytes, after which places repeat
  for (Index k = 0; k < kLine; ++k) lines += (k * row + row - 1) / kLine - k * row / kLine + 1;
  return static_cast<double>(lines);
}

/// One message-passing sum and its adjoint with respect to the mask.
struct SparseProblem {
  Graph graph;
  Matrix<float> x, out;
  std::vector<float> mask, coefficient, dcoefficient;
  LayerContext<float> context;

  SparseProblem(Index nodes, Index width)
      : graph(random_graph(nodes, kDegree)),
        x(random_rows(nodes, width)),
        out(random_rows(nodes, width)),
        mask(at(graph.num_edges()), 0.5F) {
    context.graph = graph.adjacency();
    context.graph.in_edge = {};  // edges are numbered by target here, as in a computation graph
    context.num_rows = graph.num_nodes();
    context.edge_mask = mask;
    edge_coefficients(context, coefficient);
  }
};

/// Per edge a row, its number, and its coefficient or the result; per node a row and a pointer.
template <class Call>
std::unique_ptr<KernelBench> sparse_kernel(const char* name, Index width, Call call) {
  const auto p =
      std::make_shared<SparseProblem>(rows_in_l2(2 * 4 * width + kDegree * (4 + 4) + 8), width);
  const auto n = static_cast<double>(p->x.rows()), w = static_cast<double>(width);
  const double edges = n * kDegree;
  const auto traffic = [&](double sender) {
    return edges * (sender + kId + kFloat) + n * (kFloat * w + kPointer);
  };
  auto bench = std::make_unique<KernelBench>();
  *bench = {
      name, width, {{2 * edges * w, traffic(kFloat * w), traffic(delivered_per_row(width))}}, {}};
  bench->work.body = [p, call] { call(*p); };
  return bench;
}

std::unique_ptr<KernelBench> spmm(Index width) {
  return sparse_kernel("SpMM", width, [](SparseProblem& p) {
    aggregate(Aggregation::sum, p.context, p.coefficient, p.x, p.out);
  });
}

std::unique_ptr<KernelBench> sddmm(Index width) {
  return sparse_kernel("SDDMM", width, [](SparseProblem& p) {
    aggregate_backward<float>(Aggregation::sum, p.context, p.coefficient, p.x, p.out, p.out,
                              nullptr, &p.dcoefficient);
  });
}

/// X W of a square layer.
std::unique_ptr<KernelBench> dense(Index width) {
  struct Problem {
    Matrix<float> x, weight, out;
  };
  const Index rows = rows_in_l2(2 * 4 * width);
  const auto p =
      std::make_shared<Problem>(Problem{random_rows(rows, width), random_rows(width, width), {}});
  const auto n = static_cast<double>(rows), w = static_cast<double>(width);
  auto bench = std::make_unique<KernelBench>();
  *bench = {"dense layer", width, {{2 * n * w * w, 2 * n * w * kFloat}}, {}};
  bench->work.body = [p, rows, width] {
    linear_forward<float>(p->x, rows, {p->weight.data(), width, width}, nullptr, p->out);
  };
  return bench;
}

/// omega of every edge from projections that are there.
std::unique_ptr<KernelBench> scorer(Index embedding) {
  struct Problem {
    EdgeScorer<float> scorer;
    std::vector<float> theta;
    Graph graph;
    Matrix<float> z;
    Matrix<float> weight, projections;
    std::vector<NodeId> targets{0};
    EdgeScorer<float>::Workspace workspace;

    Problem(Index embedding, Index nodes)
        : scorer(embedding, 1, {kScorerWidth}),
          theta(initial_values<float>(scorer.layout(), 1)),
          graph(random_graph(nodes, kDegree)),
          z(random_rows(nodes, embedding)) {
      scorer.transpose_first_weight(theta.data(), weight);
      scorer.project(weight, z, projections);
    }
  };
  const double h = kScorerWidth;
  const auto p = std::make_shared<Problem>(
      embedding, rows_in_l2(2 * 4 * kScorerWidth + kDegree * (4 + 4 + 4)));
  const auto n = static_cast<double>(p->z.rows());
  const double edges = n * kDegree;
  // Per edge two additions and a multiply-add in each hidden unit; it reads the sender's row, two
  // ids, and writes omega. Edges come by target, so the target's row is read once per node.
  auto bench = std::make_unique<KernelBench>();
  *bench = {"edge scorer",
            embedding,
            {{4 * edges * h, edges * (kFloat * h + 2 * kId + kFloat) + n * kFloat * h}},
            {}};
  bench->work.body = [p] {
    p->scorer.forward(p->theta.data(), p->weight, p->z, p->projections,
                      {p->graph.sources(), p->graph.targets(), p->targets, {}}, p->workspace);
  };
  return bench;
}

/// One epoch of fitting on one instance: masked network and explanation network, forward and
/// backward, one step of Adam. A call is a whole fit; so many epochs make its beginning and its end
/// small.
std::unique_ptr<KernelBench> training_step(Index width) {
  constexpr Index kNodes = 200, kEdgesPerNode = 5, kLayers = 3;
  constexpr std::int64_t kEpochs = 100;
  struct Problem {
    Dataset dataset;
    std::unique_ptr<ExplainedModel> model;
    ThreadPool pool{1};
  };
  const auto p = std::make_shared<Problem>();
  Dataset& d = p->dataset;
  d.name = "bench";
  d.task = Task::graph;
  d.graph = random_graph(kNodes, kEdgesPerNode);
  d.graph_ptr = {0, static_cast<NodeId>(kNodes)};
  d.edge_ptr = {0, d.graph.num_edges()};
  d.x = random_rows(kNodes, width);
  d.y = {1};
  ArchitectureOptions architecture;
  architecture.hidden.assign(kLayers, width);
  p->model = std::make_unique<ExplainedModel>(
      make_gnn(std::make_shared<NativeGnn<float>>(make_architecture(architecture, d), "bench", 1)),
      d);

  const double n = kNodes, w = static_cast<double>(width), h = kScorerWidth;
  const double edges = n * kEdgesPerNode, row = kFloat * w, hidden = kFloat * h;
  const double parameters = 2 * w * h + 2 * h + 1;
  std::vector<Stage> stages;
  const auto dense = [&](double in, double out) {
    stages.push_back({2 * n * in * out, n * kFloat * (in + out)});
  };
  const auto sparse = [&] {
    stages.push_back({2 * edges * w, edges * (row + kId + kFloat) + n * row});
  };
  for (Index layer = 0; layer < kLayers; ++layer) {
    dense(w, w);               // h W
    sparse();                  // A (h W)
    sparse();                  // d mask
    if (layer == 0) continue;  // features need no gradient
    sparse();                  // A^T dout
    dense(w, w);               // its W^T
  }
  dense(w, 2 * h);                                               // projections of both ends
  stages.push_back({4 * edges * h, edges * hidden});             // omega
  stages.push_back({5 * edges * h, 2 * edges * hidden});         // its adjoint, per edge
  dense(w, 2 * h);                                               // d weights of the projections
  stages.push_back({12 * parameters, 4 * kFloat * parameters});  // Adam

  auto bench = std::make_unique<KernelBench>();
  *bench = {"training step", width, std::move(stages), {}};
  PGExplainerOptions options = preset("paper");
  options.embedding = "last-convolution";
  options.epochs = kEpochs;
  options.restarts = 0;
  options.verdict = false;
  bench->work.body = [p, options] {
    PGExplainer explainer(options, 1);
    const std::vector<Instance> one{{0}};
    explainer.fit(*p->model, one, p->pool, {});
  };
  for (Stage& stage : bench->stages) {
    stage.flops *= kEpochs;
    stage.bytes *= kEpochs;
    stage.delivered *= kEpochs;
  }
  return bench;
}

}  // namespace

double KernelBench::flops() const {
  double sum = 0;
  for (const Stage& stage : stages) sum += stage.flops;
  return sum;
}

double KernelBench::bytes() const {
  double sum = 0;
  for (const Stage& stage : stages) sum += stage.bytes;
  return sum;
}

double KernelBench::roof_seconds(const MachineLimits& limits, double Stage::*traffic) const {
  double sum = 0;
  for (const Stage& stage : stages)
    sum += std::max(stage.flops / limits.flops_one(), stage.*traffic / limits.l2_one());
  return sum;
}

bool KernelBench::bound_by_bytes(const MachineLimits& limits) const {
  return bytes() / limits.l2_one() > flops() / limits.flops_one();
}

std::vector<std::unique_ptr<KernelBench>> kernel_benches() {
  std::vector<std::unique_ptr<KernelBench>> all;
  for (const auto& make : {dense, spmm, sddmm, scorer, training_step})
    for (const Index width : {20, 64}) all.push_back(make(width));
  return all;
}

}  // namespace pgexplainer::cli
