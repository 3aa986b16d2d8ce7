#include "pgexplainer/report/reproduction.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/datasets/ba_2motifs.h"
#include "pgexplainer/datasets/ba_community.h"
#include "pgexplainer/datasets/ba_shapes.h"
#include "pgexplainer/datasets/tree_cycles.h"
#include "pgexplainer/datasets/tree_grid.h"
#include "pgexplainer/explain/methods.h"
#include "pgexplainer/explain/pg_explainer.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/io/model_file.h"
#include "pgexplainer/metrics/accuracy.h"
#include "pgexplainer/metrics/connectedness.h"
#include "pgexplainer/model/architecture.h"
#include "pgexplainer/model/trainer.h"
#include "pgexplainer/report/comparison.h"
#include "pgexplainer/report/explanation_picture.h"
#include "pgexplainer/report/published_numbers.h"
#include "pgexplainer/report/reproduction_page.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kStepVersion = "2";  // changes when a step computes something else

const std::vector<std::string>& methods() {
  static const std::vector<std::string> all{"grad",         "att",         "gradient",
                                            "gnnexplainer", "occlusion",   "integrated-gradients",
                                            "random",       "pgexplainer", kNetworkAlone};
  return all;
}

/// How much of everything: the full run.
struct Amounts {
  std::int64_t explainer_seeds = 10, gnn_explainer_seeds = 5;
  std::int64_t gnn_seeds = 5, seeds_per_gnn = 3;
  std::int64_t node_epochs = 1000, graph_epochs = 1000;
  std::int64_t max_instances = 1'000'000;
  std::vector<std::int64_t> alphas{1, 2, 3, 4, 5, 30};
  std::int64_t inductive_repeats = 10;
  std::vector<double> sizes{0, 0.005, 0.05, 0.5}, entropies{0, 0.1, 1, 10};
  std::int64_t map_seeds = 3;
  std::int64_t connectivity_instances = 30;
};

Amounts amounts(bool quick) {
  Amounts a;
  if (!quick) return a;
  a.explainer_seeds = 3;
  a.gnn_explainer_seeds = a.gnn_seeds = a.seeds_per_gnn = a.map_seeds = 1;
  a.graph_epochs = 40;
  a.max_instances = 200;
  a.inductive_repeats = 2;
  a.sizes = {0, 0.05, 0.5};
  a.entropies = {0, 1, 10};
  a.connectivity_instances = 5;
  return a;
}

void write_text(const fs::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::optional<Dataset> generated(const std::string& name, std::uint64_t seed) {
  if (name == "ba-shapes") return generate_ba_shapes({}, seed);
  if (name == "ba-community") return generate_ba_community({}, seed);
  if (name == "tree-cycles") return generate_tree_cycles({}, seed);
  if (name == "tree-grid") return generate_tree_grid({}, seed);
  if (name == "ba-2motifs") return generate_ba_2motifs({}, seed);
  return std::nullopt;
}

/// K of the drawn edges: those inside a motif, 10 for molecules (the paper, section 5.3).
std::int64_t motif_edges(const std::string& name, const Dataset& dataset,
                         const Instance& instance) {
  if (name == "mutagenicity") return 10;
  if (name == "tree-grid") return 12;
  if (name == "ba-2motifs") return dataset.y[at(instance.id)] == 1 ? 5 : 6;
  return 6;
}

class Reproduction {
 public:
  Reproduction(const ReproductionOptions& options, const Progress& progress)
      : options_(options),
        progress_(progress),
        amounts_(amounts(options.quick)),
        pool_(options.threads) {}

  ReproductionResult run() {
    std::vector<const PublishedDataset*> chosen;
    for (const PublishedDataset& published : published_datasets())
      if (options_.datasets.empty() || std::find(options_.datasets.begin(), options_.datasets.end(),
                                                 published.name) != options_.datasets.end())
        chosen.push_back(&published);
    for (const std::string& name : options_.datasets)
      if (std::none_of(chosen.begin(), chosen.end(),
                       [&](const PublishedDataset* d) { return d->name == name; }))
        throw_bad_input(
            "there is no dataset '{}' in the paper; known are ba-shapes, ba-community, "
            "tree-cycles, tree-grid, ba-2motifs, mutagenicity",
            name);
    make_folders();
    total_ = static_cast<std::int64_t>(chosen.size()) * 5 + 1;

    ReproductionResult result;
    Json datasets = Json::object();
    for (const PublishedDataset* published : chosen) {
      const auto dataset = load(*published, result.skipped);
      if (!dataset) {
        done_ += 5;
        continue;
      }
      datasets[published->name] = run_dataset(*published, *dataset);
    }
    const Json connectivity = step("connectivity", "", [&] { return connectivity_study(); });
    result.results = {{"settings", settings()},
                      {"datasets", datasets},
                      {"connectivity", connectivity},
                      {"skipped", result.skipped}};
    write_text(options_.output / "results.json", result.results.dump(1) + "\n");
    write_text(options_.output / "main_table.csv", to_csv(main_table(result.results)));
    write_text(options_.output / "index.html",
               reproduction_page(result.results, options_.output / "pictures"));
    result.summary = to_text(main_table(result.results));
    return result;
  }

 private:
  void make_folders() const {
    for (const char* name : {"steps", "models", "pictures"}) {
      const fs::path folder = options_.output / name;
      std::error_code error;
      fs::create_directories(folder, error);
      if (error)
        throw_bad_input("{}: cannot make this folder: {}", folder.string(), error.message());
    }
  }

  Json settings() const {
    return {{"version", options_.version},
            {"quick", options_.quick},
            {"seed", options_.seed},
            {"explainer_seeds", amounts_.explainer_seeds},
            {"gnn_seeds", amounts_.gnn_seeds},
            {"explainer_seeds_per_gnn", amounts_.seeds_per_gnn},
            {"gnn_explainer_seeds", amounts_.gnn_explainer_seeds},
            {"gnn_epochs", {{"node", amounts_.node_epochs}, {"graph", amounts_.graph_epochs}}},
            {"gnn", "paper"},
            {"threads", pool_.size()},
            {"pgexplainer", options_to_json(PGExplainerOptions{})},
            {"paper_objective", options_to_json(preset("paper"))}};
  }

  /// The result of `work`, or the one of an earlier run with the same settings on the same data.
  Json step(const std::string& name, const std::string& data, const std::function<Json()>& work) {
    if (!report_progress(progress_, done_++, total_, name))
      throw_failed("interrupted; repeat the command to go on from here");
    const fs::path path = options_.output / "steps" / (name + ".json");
    Json key = settings();
    key.erase("threads");  // results do not depend on it
    key["step"] = kStepVersion;
    key["data"] = data;
    if (fs::exists(path)) {
      const Json old = Json::parse(read_file_text(path), nullptr, false);
      if (!old.is_discarded() && old.contains("key") && old["key"] == key) return old["result"];
    }
    Json result = work();
    write_text(path, Json{{"key", key}, {"result", result}}.dump(1) + "\n");
    return result;
  }

  std::optional<Dataset> load(const PublishedDataset& published,
                              std::vector<std::string>& skipped) const {
    if (!options_.data_dir.empty()) {
      std::string underscored = published.name;
      std::replace(underscored.begin(), underscored.end(), '-', '_');
      for (const std::string& stem : {published.name, underscored})
        for (const char* ending : {".npz", ""})
          if (const fs::path path = options_.data_dir / (stem + ending); fs::exists(path))
            return read_dataset(path);
    }
    if (auto dataset = generated(published.name, options_.seed)) return dataset;
    skipped.push_back(fmt::format(
        "{} is skipped: no {}/ in the data folder; get it with `pgexplainer download {} -o "
        "data/{}` and repeat with --data-dir data",
        published.title, published.name, published.name, published.name));
    return std::nullopt;
  }

  std::vector<Instance> instances(const Dataset& dataset) const {
    std::vector<Instance> all;
    for (const std::int64_t id : dataset.eval_instances) all.push_back({id});
    if (all.empty())
      for (std::int64_t id = 0; id < dataset.num_instances(); ++id) all.push_back({id});
    if (static_cast<std::int64_t>(all.size()) > amounts_.max_instances) {
      RandomStream(options_.seed, RandomPurpose::split, 2).shuffle(all);
      all.resize(at(amounts_.max_instances));
      std::sort(all.begin(), all.end(),
                [](const Instance& a, const Instance& b) { return a.id < b.id; });
    }
    return all;
  }

  /// A trained network, from the models folder if it is there.
  std::shared_ptr<NativeGnn<float>> network(const std::string& name, const Dataset& dataset,
                                            const std::string& arch, std::uint64_t seed,
                                            SplitAccuracy& accuracy) {
    ArchitectureOptions architecture;
    architecture.arch = arch;
    TrainOptions train;
    train.epochs = dataset.task == Task::node ? amounts_.node_epochs : amounts_.graph_epochs;
    if (arch == "gat") {
      architecture.jk = "cat";
      train.lr = 0.01;
      train.epochs = std::min<std::int64_t>(train.epochs, 300);
    }
    const fs::path path =
        options_.output / "models" / fmt::format("{}-{}-{}.safetensors", name, arch, seed);
    const std::string identity = fmt::format("{:016x} {} {} {}", fingerprint(dataset), arch,
                                             options_to_json(train).dump(), seed);
    if (fs::exists(path)) {
      const ModelFile file = read_model(path);
      if (file.training.value("identity", "") == identity) {
        const auto& a = file.training["accuracy"];
        accuracy = {a.value("train", 0.0), a.value("val", 0.0), a.value("test", 0.0)};
        return file.model;
      }
    }
    auto model =
        std::make_shared<NativeGnn<float>>(make_architecture(architecture, dataset), arch, seed);
    Trainer trainer(dataset, model, train, seed, options_.threads);
    while (!trainer.finished()) {
      trainer.run_epoch();
      if (!report_progress(
              progress_, done_, total_,
              fmt::format("{}: training {}, epoch {}", name, arch, trainer.state().epoch)))
        throw_failed("interrupted; repeat the command to go on from here");
    }
    trainer.finish();
    accuracy = split_accuracy(trainer.logits(), dataset);
    write_model(path, *model,
                {{"identity", identity},
                 {"accuracy",
                  {{"train", accuracy.train}, {"val", accuracy.val}, {"test", accuracy.test}}}});
    return model;
  }

  Json run_dataset(const PublishedDataset& published, const Dataset& dataset) {
    const std::string& name = published.name;
    const std::string data = fmt::format("{:016x}", fingerprint(dataset));
    SplitAccuracy accuracy{};
    const auto native = network(name, dataset, "paper", options_.seed, accuracy);
    const ExplainedModel model(make_gnn(native), dataset);
    const std::vector<Instance> chosen = instances(dataset);

    Json result = {{"statistics",
                    {{"graphs", dataset.num_graphs()},
                     {"nodes", dataset.graph.num_nodes()},
                     {"edges", dataset.graph.num_edges()},
                     {"labels", dataset.num_classes()},
                     {"evaluated", chosen.size()}}},
                   {"accuracy",
                    {{"train", number_or_null(accuracy.train)},
                     {"val", number_or_null(accuracy.val)},
                     {"test", number_or_null(accuracy.test)}}}};
    result["methods"] = step(name + "-methods", data,
                             [&] { return compare_methods(name, dataset, model, chosen); });
    result["gnns"] = step(name + "-gnns", data, [&] { return every_gnn(name, dataset, chosen); });
    result["pictures"] =
        step(name + "-pictures", data, [&] { return draw(published, dataset, model, chosen); });
    result["inductive"] = step(name + "-inductive", data, [&] { return inductive(model, chosen); });
    result["regularisers"] = step(name + "-regularisers", data, [&] {
      return name == "mutagenicity" ? Json() : regulariser_map(model, chosen);
    });
    return result;
  }

  Json compare_methods(const std::string& name, const Dataset& dataset, const ExplainedModel& model,
                       const std::vector<Instance>& chosen) {
    Json all = Json::object();
    for (const std::string& method : methods()) {
      if (!report_progress(progress_, done_, total_, fmt::format("{}: {}", name, method)))
        throw_failed("interrupted; repeat the command to go on from here");
      ComparedMethod compared{method, nullptr, &model, nullptr};
      if (method == kNetworkAlone) {
        PGExplainerOptions alone;
        alone.order_epochs = alone.refine = 0;
        compared.method = "pgexplainer";
        compared.options = options_to_json(alone);
      }
      std::optional<ExplainedModel> attention;
      SplitAccuracy accuracy{};
      if (method == "att") {  // a network with self-attention, trained for the purpose
        attention.emplace(make_gnn(network(name, dataset, "gat", options_.seed, accuracy)),
                          dataset);
        compared.model = &*attention;
      }
      ComparisonOptions comparison;
      comparison.first_seed = options_.seed;
      comparison.seeds =
          method == "gnnexplainer" ? amounts_.gnn_explainer_seeds : amounts_.explainer_seeds;
      Json result = to_json(run_method(compared, chosen, comparison, pool_));
      if (method == "att")
        result["accuracy"] = {{"train", number_or_null(accuracy.train)},
                              {"val", number_or_null(accuracy.val)},
                              {"test", number_or_null(accuracy.test)}};
      all[method] = std::move(result);
    }
    return all;
  }

  /// PGExplainer on networks of several seeds: one good network proves little.
  Json every_gnn(const std::string& name, const Dataset& dataset,
                 const std::vector<Instance>& chosen) {
    Json all = Json::array();
    for (std::int64_t g = 0; g < amounts_.gnn_seeds; ++g) {
      SplitAccuracy accuracy{};
      const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(g);
      const ExplainedModel model(make_gnn(network(name, dataset, "paper", seed, accuracy)),
                                 dataset);
      ComparisonOptions comparison;
      comparison.seeds = amounts_.seeds_per_gnn;
      comparison.first_seed = options_.seed;
      comparison.faithfulness = comparison.timing = false;
      const MethodResult result =
          run_method({"pgexplainer", nullptr, &model, nullptr}, chosen, comparison, pool_);
      all.push_back({{"seed", seed},
                     {"test_accuracy", number_or_null(accuracy.test)},
                     {"auc", number_or_null(mean(result.pooled_auc))},
                     {"std", number_or_null(standard_deviation(result.pooled_auc))},
                     {"held_out", number_or_null(mean(result.held_out_auc))}});
    }
    return all;
  }

  /// One instance as GNNExplainer and PGExplainer see it, the K best edges bold.
  Json draw(const PublishedDataset& published, const Dataset& dataset, const ExplainedModel& model,
            const std::vector<Instance>& chosen) {
    const std::string& name = published.name;
    PGExplainer pg({}, options_.seed);
    static_cast<void>(pg.fit(model, chosen, pool_, {}));
    const auto gnn = make_explainer("gnnexplainer", options_.seed);
    // Molecules: one with two groups, as in the paper.
    Instance instance = chosen.front();
    if (name == "mutagenicity") {
      for (const Instance& candidate : chosen) {
        std::int64_t positives = 0;
        for (EdgeId e = dataset.edge_ptr[at(candidate.id)];
             e < dataset.edge_ptr[at(candidate.id) + 1]; ++e)
          positives += dataset.edge_gt.empty() ? 0 : dataset.edge_gt[at(e)];
        if (positives == 8) {
          instance = candidate;
          break;
        }
      }
    }
    ExplainOptions options;
    options.selection.top_k = motif_edges(name, dataset, instance);
    Json files = Json::object();
    std::optional<GraphLayout> layout;
    for (Explainer* explainer : {gnn.get(), static_cast<Explainer*>(&pg)}) {
      const auto explanations = explain(model, *explainer, std::span(&instance, 1), options, pool_);
      ExplanationPictureOptions look;
      look.max_nodes = 60;
      look.title = explainer == &pg ? "PGExplainer" : "GNNExplainer";
      GraphPicture picture = explanation_picture(dataset, explanations.front(), look);
      if (picture.nodes.size() == explanations.front().nodes.size()) {
        if (!layout) layout = layout_picture(picture);
        picture.layout = layout;
      }
      const std::string file = fmt::format("{}-{}.svg", name, explainer->method());
      write_text(options_.output / "pictures" / file, to_svg(picture));
      files[std::string(explainer->method())] = file;
    }
    files["instance"] = instance.id;
    return files;
  }

  /// Appendix C.1: fitted on alpha instances, judged on half of the others.
  Json inductive(const ExplainedModel& model, const std::vector<Instance>& chosen) {
    Json points = Json::array();
    for (const std::int64_t alpha : amounts_.alphas) {
      if (alpha + 2 > static_cast<std::int64_t>(chosen.size())) continue;
      std::vector<double> aucs;
      for (std::int64_t r = 0; r < amounts_.inductive_repeats; ++r) {
        std::vector<Instance> shuffled = chosen;
        RandomStream(options_.seed, RandomPurpose::split, 3, static_cast<std::uint32_t>(r))
            .shuffle(shuffled);
        const auto train = std::span(shuffled).first(at(alpha));
        const auto rest = std::span(shuffled).subspan(at(alpha));
        const auto test = rest.subspan(rest.size() / 2);
        PGExplainer explainer({}, options_.seed + static_cast<std::uint64_t>(r));
        static_cast<void>(explainer.fit(model, train, pool_, {}));
        aucs.push_back(
            compare_with_ground_truth(model.dataset(), explain(model, explainer, test, {}, pool_))
                .pooled_auc);
      }
      points.push_back({{"alpha", alpha},
                        {"mean", number_or_null(mean(aucs))},
                        {"std", number_or_null(standard_deviation(aucs))}});
    }
    return points;
  }

  /// Appendix C.2: AUC of the paper's objective over its two weights.
  Json regulariser_map(const ExplainedModel& model, const std::vector<Instance>& chosen) {
    Json rows = Json::array();
    for (const double size : amounts_.sizes) {
      Json row = Json::array();
      for (const double entropy : amounts_.entropies) {
        PGExplainerOptions options = preset("paper");
        options.size = size;
        options.entropy = entropy;
        std::vector<double> aucs;
        for (std::int64_t s = 0; s < amounts_.map_seeds; ++s) {
          PGExplainer explainer(options, options_.seed + static_cast<std::uint64_t>(s));
          static_cast<void>(explainer.fit(model, chosen, pool_, {}));
          aucs.push_back(compare_with_ground_truth(model.dataset(),
                                                   explain(model, explainer, chosen, {}, pool_))
                             .pooled_auc);
        }
        row.push_back(number_or_null(mean(aucs)));
      }
      rows.push_back(std::move(row));
    }
    return {{"sizes", amounts_.sizes}, {"entropies", amounts_.entropies}, {"auc", rows}};
  }

  /// Appendix C.2: single instances of BA-Shapes with 0.2 N more random edges, explained with
  /// lambda_c = 0, 5, 10.
  Json connectivity_study() {
    BaShapesOptions sizes;
    const Dataset plain = generate_ba_shapes(sizes, options_.seed);
    const double others =
        static_cast<double>(plain.graph.num_edges()) / 2.0 / (1.0 + sizes.random_edge_fraction);
    sizes.random_edge_fraction += 0.2 * static_cast<double>(plain.graph.num_nodes()) / others;
    const Dataset dataset = generate_ba_shapes(sizes, options_.seed);
    SplitAccuracy accuracy{};
    const ExplainedModel model(
        make_gnn(network("noisy-ba-shapes", dataset, "paper", options_.seed, accuracy)), dataset);
    std::vector<Instance> chosen = instances(dataset);
    chosen.resize(std::min(chosen.size(), at(amounts_.connectivity_instances)));
    Json points = Json::array();
    for (const double weight : {0.0, 5.0, 10.0}) {
      PGExplainerOptions options = preset("paper");
      options.connectivity = weight;
      options.size = options.entropy = 0;  // they make masks compact, too, and hide the effect
      options.restarts = 0;
      ExplainOptions explain_options;
      explain_options.selection.top_k = 6;
      std::vector<double> shares, components;
      std::string file;
      for (const Instance& instance : chosen) {
        PGExplainer explainer(options, options_.seed);
        const auto one = std::span(&instance, 1);
        static_cast<void>(explainer.fit(model, one, pool_, {}));
        const Explanation explanation =
            explain(model, explainer, one, explain_options, pool_).front();
        const Connectedness measured = selected_connectedness(explanation);
        shares.push_back(measured.largest_share);
        components.push_back(static_cast<double>(measured.num_components));
        if (file.empty()) {
          file = fmt::format("connectivity-{:.0f}.svg", weight);
          ExplanationPictureOptions look;
          look.max_nodes = 60;
          look.title = fmt::format("λc = {:.0f}", weight);
          write_text(options_.output / "pictures" / file,
                     to_svg(explanation_picture(dataset, explanation, look)));
        }
      }
      points.push_back({{"lambda", weight},
                        {"largest_share", mean(shares)},
                        {"components", mean(components)},
                        {"instances", chosen.size()},
                        {"picture", file}});
    }
    return points;
  }

  static Connectedness selected_connectedness(const Explanation& explanation) {
    std::vector<NodeId> nodes = explanation.nodes, source, target;
    std::sort(nodes.begin(), nodes.end());
    const auto local = [&](NodeId node) {
      return static_cast<NodeId>(std::lower_bound(nodes.begin(), nodes.end(), node) -
                                 nodes.begin());
    };
    for (const NodeId node : explanation.source) source.push_back(local(node));
    for (const NodeId node : explanation.target) target.push_back(local(node));
    const Graph graph(static_cast<NodeId>(nodes.size()), source, target);
    return connectedness(graph.adjacency(), explanation.selected);
  }

  const ReproductionOptions& options_;
  const Progress& progress_;
  Amounts amounts_;
  ThreadPool pool_;
  std::int64_t done_ = 0, total_ = 0;
};

}  // namespace

ReproductionResult reproduce(const ReproductionOptions& options, const Progress& progress) {
  return Reproduction(options, progress).run();
}

}  // namespace pgexplainer
