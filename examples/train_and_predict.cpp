// Generates BA-Shapes, trains the paper's network on it, saves and reloads it, and asks which edges
// of one node's computation graph the predicted logit depends on.
#include <pgexplainer/datasets/ba_shapes.h>
#include <pgexplainer/io/model_file.h>
#include <pgexplainer/metrics/accuracy.h>
#include <pgexplainer/model/architecture.h>
#include <pgexplainer/model/instance_graph.h>
#include <pgexplainer/model/trainer.h>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace pgexplainer;
  const char* file = argc > 1 ? argv[1] : "ba-shapes.safetensors";

  const Dataset dataset = generate_ba_shapes({}, /*seed=*/1);
  auto model =
      std::make_shared<NativeGnn<float>>(make_architecture({}, dataset), "paper", /*seed=*/1);
  TrainOptions options;
  options.epochs = 300;
  options.lr = 0.01;
  Trainer trainer(dataset, model, options, /*seed=*/1, /*threads=*/1);
  while (!trainer.finished()) trainer.run_epoch();
  trainer.finish();
  std::printf("test accuracy %.2f\n", split_accuracy(trainer.logits(), dataset).test);
  write_model(file, *model, {});

  const auto loaded = read_model(file).model;
  const auto gnn = make_gnn(loaded);
  const DatasetNorms<float> norms(dataset, gnn->reads_gcn_norm());
  InstanceCutter cutter(dataset, norms, gnn->task(), gnn->num_hops());
  InstanceGraph instance;
  cutter.cut({400}, instance);
  const auto run = gnn->new_run();
  const Matrix<float> logits = run->forward(instance.input(), {});
  Index predicted = 0;
  logits.row(0).maxCoeff(&predicted);

  Matrix<float> dlogits = Matrix<float>::Zero(1, gnn->num_classes());
  dlogits(0, predicted) = 1;
  std::vector<float> dmask(static_cast<std::size_t>(instance.num_edges()), 0.0F);
  run->backward(dlogits, dmask, nullptr);
  std::size_t strongest = 0;
  for (std::size_t e = 0; e < dmask.size(); ++e)
    if (dmask[e] > dmask[strongest]) strongest = e;
  const EdgeId edge = instance.edges[strongest];
  std::printf(
      "node 400 is of class %d; the logit depends most on edge %d -> %d, of %zu edges in reach\n",
      static_cast<int>(predicted), dataset.graph.source(edge), dataset.graph.target(edge),
      dmask.size());
  return 0;
}
