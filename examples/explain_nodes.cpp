// Generates BA-Shapes, trains the paper's network on it, fits PGExplainer to the nodes the paper
// explains, saves and reloads it, and prints the edges behind one prediction.
#include <pgexplainer/datasets/ba_shapes.h>
#include <pgexplainer/explain/explainer.h>
#include <pgexplainer/io/explainer_file.h>
#include <pgexplainer/metrics/evaluation.h>
#include <pgexplainer/model/architecture.h>
#include <pgexplainer/model/trainer.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

int main(int argc, char** argv) {
  using namespace pgexplainer;
  const char* file = argc > 1 ? argv[1] : "explainer.safetensors";

  const Dataset dataset = generate_ba_shapes({}, /*seed=*/1);
  auto network =
      std::make_shared<NativeGnn<float>>(make_architecture({}, dataset), "paper", /*seed=*/1);
  TrainOptions training;
  training.epochs = 1000;
  training.lr = 0.01;
  Trainer trainer(dataset, network, training, /*seed=*/1, /*threads=*/0);
  while (!trainer.finished()) trainer.run_epoch();
  trainer.finish();

  // A network beside its data, and whose predictions are explained.
  const ExplainedModel model(make_gnn(network), dataset);
  std::vector<Instance> instances;
  for (const std::int64_t node : dataset.eval_instances) instances.push_back({node});

  ThreadPool pool(0);
  PGExplainer fitted(preset("default"), /*seed=*/0);
  const FitReport report = fitted.fit(model, instances, pool, {});
  for (const std::string& warning : report.warnings) std::printf("warning: %s\n", warning.c_str());
  write_explainer(
      file, fitted,
      {{"dataset", dataset.name}, {"instances", instances.size()}, {"loss", report.loss}});

  const auto explainer = read_explainer(file).explainer;
  ExplainOptions options;
  options.selection.top_k = 10;
  options.selection.connected = true;  // of these, the ones that hang together with the node
  const std::vector<Explanation> all = explain(model, *explainer, instances, options, pool);
  const GroundTruthAgreement truth = compare_with_ground_truth(dataset, all);
  std::printf("%zu nodes explained: AUC %.3f, %.0f %% of the chosen edges are in a house\n",
              all.size(), truth.pooled_auc, 100.0 * truth.precision);

  const Explanation& one = all[1];  // not the first: its house touches another one
  std::printf("node %d is of class %d with probability %.3f, with the chosen edges alone %.3f\n",
              static_cast<int>(one.instance.id), static_cast<int>(one.prediction.predicted_class()),
              static_cast<double>(*std::max_element(one.prediction.probability.begin(),
                                                    one.prediction.probability.end())),
              static_cast<double>(one.prediction_kept.probability[static_cast<std::size_t>(
                  one.prediction.predicted_class())]));
  std::vector<std::size_t> order(one.edges.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return one.score[a] > one.score[b]; });
  for (const std::size_t e : order)
    if (one.selected[e] && one.source[e] < one.target[e])
      std::printf("  %d - %d  score %.2f\n", one.source[e], one.target[e],
                  static_cast<double>(one.score[e]));
  return 0;
}
