// pgexplainer bench: this machine's limits and how close the kernels come to them; the time of
// explaining on given data; its growth with the size of the graph.
#include <algorithm>

#include "apps/cli/cli.h"
#include "apps/cli/explain_bench.h"
#include "apps/cli/explaining.h"
#include "apps/cli/kernel_bench.h"
#include "apps/cli/machine_limits.h"
#include "apps/cli/stopwatch.h"
#include "pgexplainer/core/error.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/explain/gnn_explainer.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/explainer_file.h"
#include "pgexplainer/io/gnn_file.h"
#include "pgexplainer/report/plot.h"
#include "pgexplainer/report/table.h"

namespace pgexplainer::cli {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  ExplainingArguments explaining;
  PGExplainerArguments pg_explainer;
  std::string explainer, scaling;
  std::vector<std::string> work = {"fit", "warm", "cold", "gnnexplainer", "threads"};
  std::int64_t max_nodes = 1'000'000;
  int repetitions = 5;
  bool quick = false;
  CommonOptions common;

  [[nodiscard]] bool wants(const char* name) const {
    return std::find(work.begin(), work.end(), name) != work.end();
  }
};

Table numbers_table(std::string title, const std::vector<std::string>& columns) {
  Table table;
  table.title = std::move(title);
  for (const std::string& column : columns)
    table.columns.push_back({column, table.columns.empty() ? Align::left : Align::right});
  return table;
}

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.2f} us", 1e6 * seconds)
         : seconds < 1  ? fmt::format("{:.2f} ms", 1e3 * seconds)
                        : fmt::format("{:.2f} s", seconds);
}

// ---- without data: the machine and the kernels --------------------------------------------------

ordered_json bench_kernels(const Arguments& arguments) {
  MachineLimits limits(arguments.quick);
  const auto kernels = kernel_benches();
  std::vector<TimedWork*> works = limits.works();
  for (const auto& kernel : kernels) works.push_back(&kernel->work);
  for (int round = 0; round < arguments.repetitions; ++round)
    take_turns(works, arguments.quick ? 1e-3 : 0.02);

  const auto giga = [](double value) { return 1e-9 * value; };
  ordered_json result;
  result["machine"] = {{"cores", limits.cores()},
                       {"l2_bytes", l2_bytes()},
                       {"gflops_one", giga(limits.flops_one())},
                       {"gflops_all", giga(limits.flops_all())},
                       {"l2_gbs_one", giga(limits.l2_one())},
                       {"l2_gbs_all", giga(limits.l2_all())},
                       {"memory_gbs_one", giga(limits.memory_one())},
                       {"memory_gbs_all", giga(limits.memory_all())}};
  for (const auto& kernel : kernels) {
    const double seconds = kernel->work.seconds;
    result["kernels"].push_back(
        {{"kernel", kernel->name},
         {"width", kernel->width},
         {"flops", kernel->flops()},
         {"bytes", kernel->bytes()},
         {"seconds", seconds},
         {"gflops", giga(kernel->flops() / seconds)},
         {"gbs", giga(kernel->bytes() / seconds)},
         {"roof_seconds", kernel->roof_seconds(limits)},
         {"bound", kernel->bound_by_bytes(limits) ? "L2 bandwidth" : "multiply-adds"},
         {"fraction", kernel->roof_seconds(limits) / seconds},
         {"fraction_in_lines", kernel->roof_seconds(limits, &Stage::delivered) / seconds}});
  }
  return result;
}

void print_kernels(const ordered_json& result) {
  const auto& m = result["machine"];
  Table machine = numbers_table("Limits of this machine", {"", "one core", "all cores"});
  const auto row = [&](const char* name, const char* one, const char* all) {
    machine.rows.push_back({{name},
                            {fmt::format("{:.1f}", m[one].get<double>())},
                            {fmt::format("{:.1f}", m[all].get<double>())}});
  };
  row("float32 multiply-adds, GFLOP/s", "gflops_one", "gflops_all");
  row("read from L2, GB/s", "l2_gbs_one", "l2_gbs_all");
  row("read from memory, GB/s", "memory_gbs_one", "memory_gbs_all");
  fmt::print("{}\n", to_text(machine));

  Table kernels = numbers_table(fmt::format("Kernels on one core, data in half of L2 ({} KiB)",
                                            m["l2_bytes"].get<std::int64_t>() / 1024),
                                {"kernel", "width", "time", "GFLOP/s", "GB/s", "limit",
                                 "least time", "fraction", "in lines"});
  for (const auto& k : result["kernels"])
    kernels.rows.push_back({{k["kernel"].get<std::string>()},
                            {std::to_string(k["width"].get<Index>())},
                            {time_text(k["seconds"].get<double>())},
                            {fmt::format("{:.1f}", k["gflops"].get<double>())},
                            {fmt::format("{:.1f}", k["gbs"].get<double>())},
                            {k["bound"].get<std::string>()},
                            {time_text(k["roof_seconds"].get<double>())},
                            {fmt::format("{:.2f}", k["fraction"].get<double>())},
                            {fmt::format("{:.2f}", k["fraction_in_lines"].get<double>())}});
  fmt::print("{}", to_text(kernels));
}

// ---- with data: the time of explaining ----------------------------------------------------------

/// The steps and weights of PyG, so that times compare; its masks of directions are independent.
GnnExplainerOptions gnn_explainer_options() {
  GnnExplainerOptions options;
  options.symmetric = false;
  return options;
}

ordered_json bench_explaining(const Arguments& arguments) {
  const auto loaded = load_model_with_data(arguments.explaining, arguments.common.seed);
  const std::span<const Instance> instances = loaded->instances;
  if (instances.front().is_link()) throw_bad_input("bench times nodes and graphs, not links");
  const std::shared_ptr<const Gnn> gnn = read_gnn(arguments.explaining.model, loaded->dataset);
  const ExplainedModel& model = *loaded->model;
  const double at_least = arguments.quick ? 0 : 0.05;
  ThreadPool pool(arguments.common.threads);

  const Dataset& dataset = loaded->dataset;
  ordered_json result = {{"dataset", dataset.name},
                         {"nodes", dataset.graph.num_nodes()},
                         {"edges", dataset.graph.num_edges()},
                         {"features", dataset.x.cols()},
                         {"instances", instances.size()}};
  {
    InstanceCutter cutter = model.new_cutter();
    InstanceGraph graph;
    std::int64_t nodes = 0, edges = 0;
    for (const Instance& instance : instances) {
      cutter.cut(instance, graph);
      nodes += graph.num_nodes();
      edges += graph.num_edges();
    }
    const auto count = static_cast<double>(instances.size());
    result["nodes_per_instance"] = static_cast<double>(nodes) / count;
    result["edges_per_instance"] = static_cast<double>(edges) / count;
  }
  const auto put = [&](const char* name, const std::function<double()>& seconds) {
    const std::vector<double> all = repeat(arguments.repetitions, seconds);
    result["seconds"][name] = {{"median", median(all)}, {"all", all}};
  };

  const auto new_explainer = [&] {
    return std::make_unique<PGExplainer>(arguments.pg_explainer.options(), arguments.common.seed);
  };
  const auto fit_seconds = [&](PGExplainer& fitted, ThreadPool& threads, bool one_thread) {
    const Stopwatch watch(one_thread);
    fitted.fit(model, instances, threads, {});
    return watch.seconds();
  };
  std::unique_ptr<PGExplainer> explainer;
  if (arguments.wants("fit") || arguments.explainer.empty()) {
    put("fit", [&] {
      explainer = new_explainer();
      return fit_seconds(*explainer, pool, pool.size() == 1);
    });
    result["fit_options"] = options_to_json(explainer->options());
  }
  if (!arguments.explainer.empty())
    explainer = std::move(read_explainer(arguments.explainer).explainer);
  if (const Support support = explainer->supports(model); !support)
    throw_bad_input("{}", support.reason);
  explainer->prepare(model, all_instances(dataset), pool);
  if (arguments.wants("warm"))
    put("warm", [&] { return warm_seconds(model, *explainer, instances, at_least); });
  if (arguments.wants("gnnexplainer")) {
    const GnnExplainer method(gnn_explainer_options(), arguments.common.seed);
    const auto few = instances.first(std::min<std::size_t>(instances.size(), 10));
    put("gnnexplainer", [&] { return warm_seconds(model, method, few, 0); });
    result["gnnexplainer_options"] = options_to_json(gnn_explainer_options());
    result["gnnexplainer_instances"] = few.size();
  }
  if (arguments.wants("threads")) {
    // Numbers of threads take turns. The fastest turns would compare one core at its best with all
    // at their best at once, which is rare where others use the machine: medians.
    std::vector<Instance> many(instances.begin(), instances.end());
    if (!arguments.quick) {  // half a second of work: threads do not start at once
      const auto add_all = [&] { many.insert(many.end(), instances.begin(), instances.end()); };
      while (many.size() < 10'000) add_all();
      const double each =
          together_seconds(model, *explainer, many, 1) / static_cast<double>(many.size());
      while (each * static_cast<double>(many.size()) < 0.5) add_all();
    }
    struct Turns {
      std::vector<double> explain, apart, fit;
    };
    std::vector<Turns> turns(at(pool.size()));
    const auto time_explaining = [&](Turns& times, int threads) {
      times.explain.push_back(together_seconds(model, *explainer, many, threads));
      times.apart.push_back(apart_seconds(model, *explainer, many, threads));
    };
    for (int turn = 0; turn < arguments.repetitions; ++turn) {
      for (int again = 0; again < (arguments.quick ? 1 : 5); ++again)  // shorter than a fit
        for (int threads = 1; threads <= pool.size(); ++threads)
          time_explaining(turns[at(threads - 1)], threads);
      for (int threads = 1; threads <= pool.size(); ++threads) {
        ThreadPool some(threads);
        turns[at(threads - 1)].fit.push_back(fit_seconds(*new_explainer(), some, false));
      }
    }
    ordered_json rows;
    for (std::size_t i = 0; i < turns.size(); ++i)
      rows.push_back({{"threads", i + 1},
                      {"explain", median(turns[i].explain)},
                      {"apart", median(turns[i].apart)},
                      {"fit", median(turns[i].fit)}});
    result["threads_instances"] = many.size();
    result["threads"] = rows;
  }
  if (arguments.wants("cold")) {  // last: the explainer then knows other data
    const auto few = instances.first(std::min<std::size_t>(instances.size(), 200));
    put("cold", [&] { return cold_seconds(gnn, dataset, *explainer, few, false); });
    if (dataset.task == Task::graph)
      put("cold_together", [&] { return cold_seconds(gnn, dataset, *explainer, few, true); });
  }
  return result;
}

void print_explaining(const ordered_json& result) {
  Table table = numbers_table(
      fmt::format("{}: {} instances of {:.0f} nodes and {:.0f} edges; medians",
                  result["dataset"].get<std::string>(), result["instances"].get<std::int64_t>(),
                  result["nodes_per_instance"].get<double>(),
                  result["edges_per_instance"].get<double>()),
      {"work", "time"});
  const auto row = [&](const char* key, const char* name) {
    if (result.contains("seconds") && result["seconds"].contains(key))
      table.rows.push_back({{name}, {time_text(result["seconds"][key]["median"].get<double>())}});
  };
  row("fit", "fit, whole");
  row("warm", "explain an instance, warm (cut, scores)");
  row("cold", "explain an instance, cold (embeddings, cut, scores)");
  row("cold_together", "the same, all graphs at once");
  row("gnnexplainer", "GNNExplainer, an instance");
  if (!table.rows.empty()) fmt::print("{}", to_text(table));
  if (!result.contains("threads")) return;
  if (!table.rows.empty()) fmt::print("\n");
  Table threads = numbers_table(
      fmt::format("{}: threads; medians. Apart: explained by threads with nothing in common",
                  result["dataset"].get<std::string>()),
      {"threads", "explain", "speed-up", "apart", "speed-up", "fit", "speed-up"});
  const auto& first = result["threads"].front();
  for (const auto& r : result["threads"]) {
    const auto speedup = [&](const char* key) {
      return fmt::format("{:.2f}", first[key].get<double>() / r[key].get<double>());
    };
    threads.rows.push_back({{std::to_string(r["threads"].get<int>())},
                            {time_text(r["explain"].get<double>())},
                            {speedup("explain")},
                            {time_text(r["apart"].get<double>())},
                            {speedup("apart")},
                            {time_text(r["fit"].get<double>())},
                            {speedup("fit")}});
  }
  fmt::print("{}", to_text(threads));
}

// ---- growth with the graph ----------------------------------------------------------------------

ordered_json bench_scaling(const Arguments& arguments) {
  { const AtomicFile can_be_written(arguments.scaling); }  // and Ctrl-C leaves nothing behind
  LineChart chart;
  chart.title = "Time to explain a node, by the size of the graph";
  chart.x_title = "nodes of the graph (Tree-Cycles)";
  chart.y_title = "microseconds per instance, warm";
  chart.log_x = true;
  chart.y_low = 0;
  chart.series = {{"nodes at random", {}, {}, {}},
                  {"one node after the other", {}, {}, {}},
                  {"the same 32 nodes again and again", {}, {}, {}}};
  ordered_json points;
  for (const std::int64_t levels : {12, 14, 16, 18, 20, 22}) {
    const std::int64_t nodes = (std::int64_t{2} << levels) * 17 / 10;
    if (!points.empty() && nodes > 2 * arguments.max_nodes) break;
    const ScalingPoint p =
        scaling_point(levels, arguments.quick ? 200 : 20000, arguments.repetitions);
    points.push_back({{"nodes", p.nodes},
                      {"edges", p.edges},
                      {"edges_per_instance", p.edges_per_instance},
                      {"random_seconds", p.random_seconds},
                      {"successive_seconds", p.successive_seconds},
                      {"repeated_seconds", p.repeated_seconds}});
    for (LineSeries& series : chart.series) series.x.push_back(static_cast<double>(p.nodes));
    chart.series[0].y.push_back(1e6 * p.random_seconds);
    chart.series[1].y.push_back(1e6 * p.successive_seconds);
    chart.series[2].y.push_back(1e6 * p.repeated_seconds);
  }
  AtomicFile file(arguments.scaling);
  file.write(line_chart(chart));
  file.commit();
  const auto growth = [&](const char* key) {
    return points.back()[key].get<double>() / points.front()[key].get<double>();
  };
  return {{"points", points},
          {"random_growth", growth("random_seconds")},
          {"successive_growth", growth("successive_seconds")},
          {"repeated_growth", growth("repeated_seconds")},
          {"file", arguments.scaling}};
}

void print_scaling(const ordered_json& result) {
  Table table = numbers_table(
      "Tree-Cycles, warm time per instance",
      {"nodes", "edges", "edges per instance", "at random", "in a row", "the same 32"});
  for (const auto& p : result["points"])
    table.rows.push_back({{std::to_string(p["nodes"].get<std::int64_t>())},
                          {std::to_string(p["edges"].get<std::int64_t>())},
                          {fmt::format("{:.1f}", p["edges_per_instance"].get<double>())},
                          {time_text(p["random_seconds"].get<double>())},
                          {time_text(p["successive_seconds"].get<double>())},
                          {time_text(p["repeated_seconds"].get<double>())}});
  fmt::print("{}growth: {:.2f} at random, {:.2f} in a row, {:.2f} of the same nodes\n",
             to_text(table), result["random_growth"].get<double>(),
             result["successive_growth"].get<double>(), result["repeated_growth"].get<double>());
}

void bench(const Arguments& arguments) {
  if (arguments.explaining.data.empty() != arguments.explaining.model.empty())
    throw_bad_input("--data and --model go together; give both, or neither to time the kernels");
  if (!arguments.scaling.empty() && !arguments.explaining.data.empty())
    throw_bad_input("--scaling makes its own graphs; leave out --data and --model");
  const bool with_data = !arguments.explaining.data.empty();
  const ordered_json result = !arguments.scaling.empty() ? bench_scaling(arguments)
                              : with_data                ? bench_explaining(arguments)
                                                         : bench_kernels(arguments);
  if (arguments.common.json)
    print_json(result);
  else if (!arguments.scaling.empty())
    print_scaling(result);
  else if (with_data)
    print_explaining(result);
  else
    print_kernels(result);
}

}  // namespace

void add_bench(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("bench", "how fast this machine explains, and how fast it could");
  verb->add_option("--data", arguments->explaining.data,
                   "a dataset (.npz, .csv or TU folder); without it the kernels are timed");
  verb->add_option("--model", arguments->explaining.model,
                   "a trained model: .safetensors or TorchScript (.pt)");
  verb->add_option("--instances", arguments->explaining.instances,
                   "whose predictions: eval, all, 400:700:5 or 1,2,3")
      ->option_text("(default eval)");
  verb->add_option("--explainer", arguments->explainer,
                   "a fitted PGExplainer (.safetensors); without it one is fitted");
  verb->add_option("--work", arguments->work, "what to time")
      ->delimiter(',')
      ->check(CLI::IsMember({"fit", "warm", "cold", "gnnexplainer", "threads"}))
      ->option_text("(any of fit,warm,cold,gnnexplainer,threads; default all)");
  verb->add_option("--scaling", arguments->scaling,
                   "instead, time graphs of growing size and draw this picture (.svg)");
  verb->add_option("--max-nodes", arguments->max_nodes, "of --scaling, about")
      ->check(CLI::Range(1000, 100'000'000))
      ->option_text("(default 1000000)");
  verb->add_option("--repetitions", arguments->repetitions, "of every measurement")
      ->check(CLI::Range(1, 1000))
      ->option_text("(default 5)");
  verb->add_flag("--quick", arguments->quick, "short measurements, to see that it works");
  arguments->pg_explainer.add_to(*verb);
  add_common_options(*verb, arguments->common);
  verb->footer(
      "The options of PGExplainer are those of the fit. Examples:\n"
      "  pgexplainer bench\n"
      "  pgexplainer bench --data ba-shapes.npz --model model.safetensors --threads 1\n"
      "  pgexplainer bench --scaling scaling.svg --max-nodes 10000000");
  verb->callback([=] { bench(*arguments); });
}

}  // namespace pgexplainer::cli
