// pgexplainer info FILE: what a file holds, in words or as JSON.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>

#include "apps/cli/cli.h"
#include "pgexplainer/core/error.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/datasets/dataset.h"
#include "pgexplainer/io/dataset_file.h"
#include "pgexplainer/io/dataset_npz.h"
#include "pgexplainer/io/explainer_file.h"
#include "pgexplainer/io/explanation_file.h"
#include "pgexplainer/io/gnn_file.h"
#include "pgexplainer/io/model_file.h"
#include "pgexplainer/io/npz.h"
#include "pgexplainer/io/safetensors.h"
#include "pgexplainer/io/text_table.h"

namespace pgexplainer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Range {
  std::int64_t low, high;
  double mean;
};

template <class Value>
Range range_of(std::int64_t count, Value&& value) {
  Range range{value(0), value(0), 0};
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    range.low = std::min<std::int64_t>(range.low, value(i));
    range.high = std::max<std::int64_t>(range.high, value(i));
    sum += value(i);
  }
  range.mean = static_cast<double>(sum) / static_cast<double>(count);
  return range;
}

Json to_json(const Range& range) {
  return {{"min", range.low}, {"max", range.high}, {"mean", range.mean}};
}

std::string in_words(const Range& range) {
  if (range.low == range.high) return fmt::format("{}", range.low);
  return fmt::format("{} to {} (on average {:.2f})", range.low, range.high, range.mean);
}

std::int64_t count_ones(const std::vector<std::uint8_t>& mask) {
  return std::count(mask.begin(), mask.end(), 1);
}

void show_dataset(const std::string& file, const Dataset& dataset, bool json,
                  bool graph_is_mapped = false) {
  const Graph& graph = dataset.graph;
  const Range in_degree =
      range_of(graph.num_nodes(), [&](auto v) { return graph.in_degree(static_cast<NodeId>(v)); });
  const Range out_degree =
      range_of(graph.num_nodes(), [&](auto v) { return graph.out_degree(static_cast<NodeId>(v)); });
  const Range graph_nodes = range_of(dataset.num_graphs(), [&](auto g) {
    const auto i = static_cast<std::size_t>(g);
    return dataset.graph_ptr[i + 1] - dataset.graph_ptr[i];
  });
  std::vector<std::int64_t> class_sizes(static_cast<std::size_t>(dataset.num_classes()), 0);
  for (const std::int64_t label : dataset.y) ++class_sizes[static_cast<std::size_t>(label)];
  const bool of_graphs = dataset.task == Task::graph;
  const char* instances = of_graphs ? "graphs" : "nodes";
  const auto caveats = warnings(dataset);

  if (json) {
    print_json({{"file", file},
                {"kind", "dataset"},
                {"name", dataset.name},
                {"task", of_graphs ? "graph" : "node"},
                {"graphs", dataset.num_graphs()},
                {"nodes", graph.num_nodes()},
                {"edges", graph.num_edges()},
                {"nodes_per_graph", to_json(graph_nodes)},
                {"undirected", graph.is_undirected()},
                {"in_degree", to_json(in_degree)},
                {"out_degree", to_json(out_degree)},
                {"classes", dataset.num_classes()},
                {"class_sizes", class_sizes},
                {"features", dataset.x.cols()},
                {"edge_features", dataset.edge_attr.cols()},
                {"edge_weights", !dataset.edge_weight.empty()},
                {"split",
                 {{"train", count_ones(dataset.train_mask)},
                  {"val", count_ones(dataset.val_mask)},
                  {"test", count_ones(dataset.test_mask)}}},
                {"ground_truth_edges",
                 dataset.edge_gt.empty() ? Json() : Json(count_ones(dataset.edge_gt))},
                {"evaluated_instances", dataset.eval_instances.size()},
                {"graph_is_mapped", graph_is_mapped},
                {"warnings", caveats}});
    return;
  }

  fmt::print(stderr, "{}: dataset {} for {} classification\n", file, dataset.name,
             of_graphs ? "graph" : "node");
  if (of_graphs)
    fmt::print(stderr, "  graphs       {}; nodes per graph: {}\n", dataset.num_graphs(),
               in_words(graph_nodes));
  fmt::print(stderr, "  nodes        {}\n", graph.num_nodes());
  if (graph.is_undirected()) {
    fmt::print(stderr, "  edges        {}, undirected (both directions are counted)\n",
               graph.num_edges());
    fmt::print(stderr, "  degree       {}\n", in_words(in_degree));
  } else {
    fmt::print(stderr, "  edges        {}, directed\n", graph.num_edges());
    fmt::print(stderr, "  in-degree    {}\n", in_words(in_degree));
    fmt::print(stderr, "  out-degree   {}\n", in_words(out_degree));
  }
  constexpr std::size_t kMostClasses = 20;  // that a person wants to read
  if (class_sizes.size() <= kMostClasses)
    fmt::print(stderr, "  classes      {}; {} per class: {}\n", class_sizes.size(), instances,
               fmt::join(class_sizes, ", "));
  else
    fmt::print(stderr, "  classes      {}\n", class_sizes.size());
  fmt::print(stderr, "  features     {} per node{}\n", dataset.x.cols(),
             dataset.node_type_names.empty()
                 ? ""
                 : fmt::format(": {}", fmt::join(dataset.node_type_names, " ")));
  if (dataset.edge_attr.cols() > 0)
    fmt::print(stderr, "               {} per edge\n", dataset.edge_attr.cols());
  if (!dataset.edge_weight.empty()) fmt::print(stderr, "               a weight per edge\n");
  fmt::print(stderr, "  split        {} for training, {} for validation, {} for testing\n",
             count_ones(dataset.train_mask), count_ones(dataset.val_mask),
             count_ones(dataset.test_mask));
  if (dataset.edge_gt.empty())
    fmt::print(stderr, "  ground truth unknown\n");
  else
    fmt::print(stderr, "  ground truth {} edges\n", count_ones(dataset.edge_gt));
  fmt::print(stderr, "  evaluated    {} {}\n", dataset.eval_instances.size(), instances);
  if (graph_is_mapped)
    fmt::print(stderr, "  file         {:.2f} GB; the graph is mapped, not copied\n",
               static_cast<double>(std::filesystem::file_size(file)) / 1e9);
  for (const std::string& caveat : caveats) fmt::print(stderr, "  warning      {}\n", caveat);
}

void show_safetensors(const std::string& file, const Safetensors& content, bool json) {
  std::int64_t numbers = 0;
  Json tensors = Json::object();
  for (const auto& [name, tensor] : content.tensors) {
    numbers += std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1},
                               std::multiplies<>());
    tensors[name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}};
  }
  if (json) {
    print_json({{"file", file},
                {"kind", "safetensors"},
                {"numbers", numbers},
                {"tensors", tensors},
                {"metadata", content.metadata}});
    return;
  }
  fmt::print(stderr, "{}: safetensors, {} tensors with {} numbers\n", file, content.tensors.size(),
             numbers);
  for (const auto& [key, value] : content.metadata)
    fmt::print(stderr, "  {}: {}\n", key,
               value.size() > 300 ? value.substr(0, 300) + "..." : value);
  for (const auto& [name, tensor] : content.tensors)
    fmt::print(stderr, "  {:<32} {:<4} {}\n", name, tensor.dtype, shape_text(tensor.shape));
}

void show_model(const std::string& file, bool json) {
  const ModelFile content = read_model(file);
  const NativeGnn<float>& model = *content.model;
  const ModelSpec& spec = model.spec();
  const nlohmann::json& training = content.training;
  const bool of_graphs = spec.task == Task::graph;
  if (json) {
    Json summary = {{"file", file},
                    {"kind", "model"},
                    {"parameters", model.theta().size()},
                    {"model", to_json(spec)}};
    if (training.contains("accuracy")) summary["accuracy"] = training["accuracy"];
    print_json(summary);
    return;
  }
  fmt::print(stderr, "{}: model for {} classification, {} features to {} classes, {} numbers\n",
             file, of_graphs ? "graph" : "node", spec.in_channels, spec.num_classes,
             model.theta().size());
  for (const auto& block : spec.blocks) {
    std::vector<std::string> words;
    for (const auto& layer : block) {
      words.push_back(layer["type"]);
      if (layer.contains("out_channels"))
        words.back() += fmt::format("({})", layer["out_channels"].dump());
    }
    fmt::print(stderr, "  layer        {}\n", fmt::join(words, ", "));
  }
  if (training.contains("accuracy"))
    fmt::print(
        stderr,
        "  trained      on {}, seed {}: accuracy train {:.3f}, validation {:.3f}, test {:.3f}\n",
        training.value("dataset", "?"), training.value("seed", 0),
        training["accuracy"].value("train", 0.0), training["accuracy"].value("val", 0.0),
        training["accuracy"].value("test", 0.0));
}

void show_torch_script(const std::string& file, bool json) {
  const TorchScriptInfo info = read_torch_script_info(file);
  const bool whole = info.num_hops == Gnn::kWholeGraph;
  if (json) {
    print_json({{"file", file},
                {"kind", "torchscript"},
                {"forward", info.forward},
                {"embed", info.embed.empty() ? Json() : Json(info.embed)},
                {"parameters", info.parameters},
                {"num_hops", whole ? Json() : Json(info.num_hops)}});
    return;
  }
  fmt::print(stderr, "{}: TorchScript module, {} numbers\n", file, info.parameters);
  fmt::print(stderr, "  logits       {}\n", info.forward);
  fmt::print(stderr, "  embeddings   {}\n",
             info.embed.empty() ? "its last layer (it has no embed)" : info.embed);
  fmt::print(
      stderr, "  reach        {}\n",
      whole ? "the whole graph (it has no num_hops)" : fmt::format("{} hops", info.num_hops));
}

/// What differs from a preset, by option.
Json changes(const PGExplainerOptions& options, const std::string& preset_name) {
  const nlohmann::json given = options_to_json(options);
  const nlohmann::json start = options_to_json(preset(preset_name));
  Json changed = Json::object();
  for (const auto& item : given.items())
    if (item.value() != start[item.key()]) changed[item.key()] = item.value();
  return changed;
}

/// What the verb fit noted about its run, as lines.
std::string fit_in_words(const nlohmann::json& fit, const std::string& file) try {
  if (!fit.is_object()) return {};
  const std::vector<double> loss = fit.value("loss", std::vector<double>{});
  std::string lines = fmt::format(
      "  fitted       on {} instances of {}, {} epochs{}, begun anew {} times\n",
      fit.contains("instances") ? std::to_string(fit["instances"].get<std::int64_t>()) : "?",
      fit.value("dataset", "?"), loss.size(),
      loss.empty() ? "" : fmt::format(", loss {:.4f} to {:.4f}", loss.front(), loss.back()),
      fit.value("restarts", 0));
  if (fit.contains("verdict") && fit["verdict"].is_object())
    lines += fmt::format("  verdict      {}\n", fit["verdict"].value("words", "?"));
  for (const std::string& warning : fit.value("warnings", std::vector<std::string>{}))
    lines += fmt::format("  warning      {}\n", warning);
  return lines;
} catch (const nlohmann::json::exception& error) {
  throw_bad_input("{}: metadata 'fit' is not what `pgexplainer fit` writes: {}", file,
                  error.what());
}

/// How the edges of an instance come into their order.
std::string order_in_words(const PGExplainer& explainer) {
  std::vector<std::string> parts;
  if (!explainer.fitted().order.empty()) parts.emplace_back("by a network for each instance");
  if (explainer.refine_steps() > 0)
    parts.push_back(fmt::format("{} steps of refinement", explainer.refine_steps()));
  if (explainer.rival_lead())
    parts.push_back(fmt::format("that of occlusion or gradients if ahead by more than {}",
                                *explainer.rival_lead()));
  return parts.empty() ? "by the explanation network alone"
                       : fmt::format("{}", fmt::join(parts, ", "));
}

void show_explainer(const std::string& file, bool json) {
  const ExplainerFile content = read_explainer(file);
  const PGExplainer& explainer = *content.explainer;
  const PGExplainerOptions& options = explainer.options();
  const PGExplainer::Fitted& fitted = explainer.fitted();
  const char* of = fitted.num_targets == 0 ? "graph" : fitted.num_targets == 1 ? "node" : "link";
  const std::vector<std::string> names = preset_names();
  const std::string nearest =
      *std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
        return changes(options, a).size() < changes(options, b).size();
      });
  const Json changed = changes(options, nearest);
  const std::string fit = fit_in_words(content.fit, file);
  if (json) {
    print_json({{"file", file},
                {"kind", "explainer"},
                {"explains", of},
                {"objective", options.objective},
                {"embedding_width", fitted.embedding_width},
                {"parameters", fitted.theta.size()},
                {"features", fitted.feature_logits.size()},
                {"seed", explainer.seed()},
                {"preset", nearest},
                {"changed", changed},
                {"options", options_to_json(options)},
                {"fit", content.fit}});
    return;
  }
  fmt::print(stderr, "{}: explainer of {} predictions, objective {}, {} numbers\n", file, of,
             options.objective, fitted.theta.size());
  fmt::print(stderr, "  reads        {} embeddings of width {} ({})\n", 2 + fitted.num_targets,
             fitted.embedding_width, options.embedding);
  std::string settings = "preset " + nearest;
  for (const auto& item : changed.items())
    settings += fmt::format(
        "{} {} {}", settings.ends_with(nearest) ? ", but" : ",", item.key(),
        item.value().is_string() ? item.value().get<std::string>() : item.value().dump());
  fmt::print(stderr, "  settings     {}, seed {}\n", settings, explainer.seed());
  fmt::print(stderr, "  order        {}\n", order_in_words(explainer));
  if (!fitted.feature_logits.empty())
    fmt::print(stderr, "  features     {} have a score\n", fitted.feature_logits.size());
  fmt::print(stderr, "{}", fit);
}

void show_explanations(const std::string& file, bool json) {
  const std::vector<Explanation> explanations = read_explanations(file);
  std::int64_t edges = 0, selected = 0, predicted = 0, kept_class = 0, with_features = 0;
  Json low, high;  // null = no edges
  for (const Explanation& explanation : explanations) {
    edges += static_cast<std::int64_t>(explanation.edges.size());
    selected += count_ones(explanation.selected);
    with_features += explanation.feature_score.empty() ? 0 : 1;
    for (const float score : explanation.score) {
      if (low.is_null() || score < low.get<float>()) low = score;
      if (high.is_null() || score > high.get<float>()) high = score;
    }
    if (explanation.prediction_kept.probability.empty()) continue;
    ++predicted;
    kept_class +=
        explanation.prediction.predicted_class() == explanation.prediction_kept.predicted_class()
            ? 1
            : 0;
  }
  if (json) {
    print_json({{"file", file},
                {"kind", "explanations"},
                {"instances", explanations.size()},
                {"edges", edges},
                {"selected", selected},
                {"score", {{"min", low}, {"max", high}}},
                {"kept_class", predicted > 0 ? Json(kept_class) : Json()},
                {"with_feature_scores", with_features}});
    return;
  }
  fmt::print(stderr, "{}: explanations of {} instances\n", file, explanations.size());
  fmt::print(stderr, "  edges        {}, of which {} are selected\n", edges, selected);
  if (edges > 0)
    fmt::print(stderr, "  scores       {:.4g} to {:.4g}\n", low.get<float>(), high.get<float>());
  if (predicted > 0)
    fmt::print(stderr, "  predictions  the selected edges alone keep the class of {} of {}\n",
               kept_class, predicted);
  if (with_features > 0) fmt::print(stderr, "  features     have scores, too\n");
}

/// A table of explained edges, not the edge list of a dataset.
bool is_explanation_csv(const std::filesystem::path& path) {
  TextTable table(path);
  if (!table.next()) return false;
  const auto has = [&](std::string_view column) {
    for (std::size_t field = 0; field < table.num_fields(); ++field)
      if (table.text(field) == column) return true;
    return false;
  };
  return has("instance") && has("second") && has("edge") && has("score") && has("selected");
}

void show_arrays(const std::string& file, const NpzArrays& content, bool json) {
  Json arrays = Json::object();
  for (const std::string& name : content.names())
    arrays[name] = {{"dtype", content.array(name).dtype}, {"shape", content.shape(name)}};
  if (json) {
    print_json({{"file", file}, {"kind", "npz"}, {"arrays", arrays}});
    return;
  }
  fmt::print(stderr, "{}: {} NumPy arrays, not a dataset\n", file, arrays.size());
  for (const std::string& name : content.names())
    fmt::print(stderr, "  {:<32} {:<4} {}\n", name, content.array(name).dtype,
               shape_text(content.shape(name)));
}

void show(const std::string& file, bool json) {
  const std::filesystem::path path(file);
  if (!std::filesystem::is_directory(path)) {
    if (path.extension() == ".safetensors") {
      const Safetensors content = read_safetensors(path);
      return is_model(content)       ? show_model(file, json)
             : is_explainer(content) ? show_explainer(file, json)
                                     : show_safetensors(file, content, json);
    }
    if (path.extension() == ".pt" || path.extension() == ".pth") {
      if (is_torch_script(path)) return show_torch_script(file, json);
      throw_bad_input("{}: is not a TorchScript module, though its name says so", file);
    }
    if (path.extension() == ".npz") {
      const NpzArrays arrays = read_npz(path);
      if (arrays.contains("instance") && arrays.contains("score") && !arrays.contains("x"))
        return show_explanations(file, json);
      if (arrays.contains("edge_index") || arrays.contains("x"))
        return show_dataset(file, dataset_from_arrays(arrays), json, has_mapped_graph(arrays));
      return show_arrays(file, arrays, json);
    }
    if (path.extension() == ".jsonl" || path.extension() == ".json" ||
        (path.extension() == ".csv" && is_explanation_csv(path)))
      return show_explanations(file, json);
  }
  show_dataset(file, read_dataset(path), json);
}

}  // namespace

void add_info(CLI::App& app) {
  struct Arguments {
    std::string file;
    CommonOptions common;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("info", "say what a file holds");
  verb->add_option("FILE", arguments->file,
                   "a dataset (.npz, .csv, TU folder), a model or an explainer (.safetensors), a "
                   "TorchScript module (.pt), or explanations (.jsonl, .csv, .npz)")
      ->required();
  add_common_options(*verb, arguments->common);
  verb->callback([=] { show(arguments->file, arguments->common.json); });
}

}  // namespace pgexplainer::cli
