// A service that says why: started with data, a model and a fitted explainer, it reads node ids
// from standard input and answers each with one line of JSON, the six edges that decided.
//   embed_in_service ba-shapes.npz model.safetensors explainer.safetensors
#include <pgexplainer/explain/explainer.h>
#include <pgexplainer/io/dataset_file.h>
#include <pgexplainer/io/explainer_file.h>
#include <pgexplainer/io/gnn_file.h>

#include <iostream>

int main(int argc, char** argv) try {
  using namespace pgexplainer;
  if (argc != 4) throw_bad_input("usage: embed_in_service DATA MODEL EXPLAINER");
  const Dataset dataset = read_dataset(argv[1]);
  const ExplainedModel model(read_gnn(argv[2], dataset), dataset);
  const auto explainer = read_explainer(argv[3]).explainer;

  // Once: what all nodes share. Then each request costs microseconds.
  std::vector<Instance> nodes;
  for (std::int64_t node = 0; node < dataset.num_instances(); ++node) nodes.push_back({node});
  ThreadPool pool(1);
  PreparedExplainer service(model, *explainer, nodes, pool);
  ExplainOptions options;
  options.selection.top_k = 6;

  for (std::int64_t node = 0; std::cin >> node;) {
    const Explanation why = service.explain(Instance{node}, options);
    nlohmann::json answer = {{"node", node}, {"class", why.prediction.predicted_class()}};
    for (std::size_t e = 0; e < why.edges.size(); ++e)
      if (why.selected[e]) answer["edges"].push_back({why.source[e], why.target[e], why.score[e]});
    std::cout << answer << std::endl;
  }
} catch (const pgexplainer::Error& error) {
  std::cerr << error.what() << '\n';
  return error.kind() == pgexplainer::Error::Kind::bad_input ? 2 : 1;
}
