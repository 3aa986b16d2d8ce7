// The engine alone: dense and sparse kernels in GFLOP/s, and training epochs with one and two
// threads.
//   build/benchmarks/engine_benchmark --benchmark_filter=Epoch
#include <benchmark/benchmark.h>

#include "pgexplainer/core/random.h"
#include "pgexplainer/datasets/ba_2motifs.h"
#include "pgexplainer/datasets/ba_shapes.h"
#include "pgexplainer/datasets/tree_grid.h"
#include "pgexplainer/graph/computation_graph.h"
#include "pgexplainer/model/architecture.h"
#include "pgexplainer/model/trainer.h"
#include "pgexplainer/nn/aggregate.h"
#include "pgexplainer/nn/linear.h"

namespace pgexplainer {
namespace {

Matrix<float> random_rows(Index rows, Index cols) {
  RandomStream random(1, RandomPurpose::test);
  Matrix<float> m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.uniform());
  return m;
}

void set_flops(benchmark::State& state, double flops_per_iteration) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops_per_iteration * static_cast<double>(state.iterations()) * 1e-9,
                         benchmark::Counter::kIsRate);
}

void LinearForward(benchmark::State& state) {
  const Index width = state.range(0);
  const Matrix<float> x = random_rows(400, width);
  const Matrix<float> w = random_rows(width, width);
  Matrix<float> out;
  for (auto _ : state) {
    linear_forward<float>(x, x.rows(), {w.data(), width, width}, nullptr, out);
    benchmark::DoNotOptimize(out.data());
  }
  set_flops(state, 2.0 * 400 * static_cast<double>(width * width));
}

void LinearBackward(benchmark::State& state) {
  const Index width = state.range(0);
  const Matrix<float> x = random_rows(400, width);
  const Matrix<float> w = random_rows(width, width);
  const Matrix<float> dout = random_rows(400, width);
  Matrix<float> dx(400, width);
  Matrix<float> dw = Matrix<float>::Zero(width, width);
  for (auto _ : state) {
    linear_backward<float>(x, {w.data(), width, width}, dout, &dx, false, dw.data(), nullptr);
    benchmark::DoNotOptimize(dw.data());
  }
  set_flops(state, 4.0 * 400 * static_cast<double>(width * width));
}

void Aggregate(benchmark::State& state) {
  const Dataset dataset = generate_ba_shapes({}, 1);
  const Matrix<float> x = random_rows(dataset.graph.num_nodes(), state.range(0));
  const std::vector<float> mask(static_cast<std::size_t>(dataset.graph.num_edges()), 0.5F);
  LayerContext<float> context;
  context.graph = dataset.graph.adjacency();
  context.num_rows = dataset.graph.num_nodes();
  context.edge_mask = mask;
  std::vector<float> coefficient;
  edge_coefficients(context, coefficient);
  Matrix<float> out;
  for (auto _ : state) {
    aggregate(Aggregation::sum, context, coefficient, x, out);
    benchmark::DoNotOptimize(out.data());
  }
  set_flops(state, 2.0 * static_cast<double>(dataset.graph.num_edges() * state.range(0)));
}

/// The cost of cutting a computation graph must not grow with the graph around it.
void CutComputationGraph(benchmark::State& state) {
  TreeGridOptions sizes;
  sizes.tree_levels = state.range(0);
  sizes.num_motifs = std::int64_t{1} << (state.range(0) - 2);
  const Dataset dataset = generate_tree_grid(sizes, 1);
  ComputationGraphBuilder builder(dataset.graph);
  ComputationGraph cut;
  RandomStream random(1, RandomPurpose::test);
  const auto nodes = static_cast<std::uint64_t>(dataset.graph.num_nodes());
  for (auto _ : state) {
    const std::array target{static_cast<NodeId>(random.below(nodes))};
    builder.build(target, 3, cut);
    benchmark::DoNotOptimize(cut.num_edges());
  }
  state.counters["nodes"] = static_cast<double>(nodes);
}

void epochs(benchmark::State& state, const Dataset& dataset) {
  const auto model = std::make_shared<NativeGnn<float>>(make_architecture({}, dataset), "paper", 1);
  Trainer trainer(dataset, model, {}, 1, static_cast<int>(state.range(0)));
  for (auto _ : state) trainer.run_epoch();
}

void NodeEpoch(benchmark::State& state) { epochs(state, generate_ba_shapes({}, 1)); }
void GraphEpoch(benchmark::State& state) { epochs(state, generate_ba_2motifs({}, 1)); }

BENCHMARK(LinearForward)->Arg(20)->Arg(32)->Arg(64);
BENCHMARK(LinearBackward)->Arg(20)->Arg(32)->Arg(64);
BENCHMARK(Aggregate)->Arg(20)->Arg(32)->Arg(64);
BENCHMARK(CutComputationGraph)->ArgName("levels")->Arg(9)->Arg(13)->Arg(17)->Arg(20);
BENCHMARK(NodeEpoch)->Arg(1)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(GraphEpoch)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
}  // namespace pgexplainer

BENCHMARK_MAIN();
