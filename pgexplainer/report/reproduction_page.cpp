#include "pgexplainer/report/reproduction_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "pgexplainer/io/file_bytes.h"
#include "pgexplainer/report/html_page.h"
#include "pgexplainer/report/plot.h"
#include "pgexplainer/report/published_numbers.h"

namespace pgexplainer {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& value) { return value.is_number() ? value.get<double>() : kNotPublished; }

std::string shown(double value, int decimals = 3) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "–";
}

std::string shown(double value, double spread) {
  return shown(value) + (spread > 0 ? fmt::format(" ± {:.3f}", spread) : "");
}

const std::vector<std::pair<std::string, std::string>>& method_titles() {
  static const std::vector<std::pair<std::string, std::string>> titles{
      {"grad", "GRAD"},
      {"att", "ATT"},
      {"gradient", "Gradient"},
      {"gnnexplainer", "GNNExplainer"},
      {"pgexplainer", "PGExplainer"},
      {kNetworkAlone, "PGExplainer, network alone"},
      {"integrated-gradients", "Integrated gradients"},
      {"occlusion", "Occlusion"},
      {"random", "Random"}};
  return titles;
}

/// The datasets that have results, in the paper's order.
std::vector<const PublishedDataset*> present(const Json& results) {
  std::vector<const PublishedDataset*> list;
  for (const PublishedDataset& published : published_datasets())
    if (results["datasets"].contains(published.name)) list.push_back(&published);
  return list;
}

Table with_dataset_columns(const std::string& title, const Json& results) {
  Table table;
  table.title = title;
  table.columns.push_back({""});
  for (const PublishedDataset* published : present(results))
    table.columns.push_back({published->title, Align::right});
  return table;
}

template <class Cell>
void add_row(Table& table, const Json& results, const std::string& title, bool bold, Cell&& cell) {
  std::vector<TableCell> row{{title, bold}};
  for (const PublishedDataset* published : present(results))
    row.push_back({cell(*published, results["datasets"][published->name]), bold});
  table.rows.push_back(std::move(row));
}

Table statistics_table(const Json& results) {
  Table table = with_dataset_columns("Datasets", results);
  const std::vector<std::pair<std::string, std::int64_t PublishedDataset::*>> rows{
      {"graphs", &PublishedDataset::graphs},
      {"nodes", &PublishedDataset::nodes},
      {"edges", &PublishedDataset::edges},
      {"labels", &PublishedDataset::labels}};
  for (const auto& row : rows) {  // clang 14 cannot capture structured bindings
    add_row(table, results, row.first, false, [&](const PublishedDataset&, const Json& ours) {
      return ours["statistics"][row.first].dump();
    });
    add_row(table, results, row.first + ", paper", false,
            [&](const PublishedDataset& paper, const Json&) {
              return std::to_string(paper.*row.second);
            });
  }
  add_row(table, results, "explained instances", false,
          [&](const PublishedDataset&, const Json& ours) {
            return ours["statistics"]["evaluated"].dump();
          });
  return table;
}

Table accuracy_table(const Json& results) {
  Table table = with_dataset_columns("Accuracy of the networks that are explained", results);
  const std::array<const char*, 3> keys{"train", "val", "test"};
  const std::array<const char*, 3> titles{"training", "validation", "test"};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    add_row(table, results, titles[k], false, [&](const PublishedDataset&, const Json& ours) {
      return shown(number(ours["accuracy"][keys[k]]), 2);
    });
    add_row(
        table, results, std::string(titles[k]) + ", paper", false,
        [&](const PublishedDataset& paper, const Json&) { return shown(paper.accuracy[k], 2); });
  }
  return table;
}

double published_auc(const PublishedDataset& paper, const std::string& method) {
  const auto found = paper.auc.find(method);
  return found == paper.auc.end() ? kNotPublished : found->second;
}

Table gnn_table(const Json& results) {
  Table table = with_dataset_columns("PGExplainer on every network: AUC (held-out AUC)", results);
  std::size_t rows = 0;
  for (const PublishedDataset* published : present(results))
    rows = std::max(rows, results["datasets"][published->name]["gnns"].size());
  for (std::size_t g = 0; g < rows; ++g)
    add_row(table, results, fmt::format("network {}", g), false,
            [&](const PublishedDataset&, const Json& ours) -> std::string {
              if (g >= ours["gnns"].size()) return "–";
              const Json& one = ours["gnns"][g];
              return fmt::format("{} ({})", shown(number(one["auc"]), number(one["std"])),
                                 shown(number(one["held_out"])));
            });
  add_row(table, results, "mean", true, [&](const PublishedDataset&, const Json& ours) {
    double sum = 0;
    for (const Json& one : ours["gnns"]) sum += number(one["auc"]);
    return shown(sum / static_cast<double>(ours["gnns"].size()));
  });
  add_row(table, results, "paper", false, [&](const PublishedDataset& paper, const Json&) {
    return shown(published_auc(paper, "pgexplainer"), paper.auc_std);
  });
  return table;
}

Table faithfulness_table(const Json& results) {
  Table table;
  table.title =
      "Without ground truth: fidelity of the ten best edges, by probability (+ up, − down is good)";
  table.columns = {{"method"}};
  for (const PublishedDataset* published : present(results))
    table.columns.push_back({published->title + " fid+ / fid−", Align::right});
  for (const auto& [key, title] : method_titles())
    add_row(table, results, title, key == "pgexplainer",
            [&, method = key](const PublishedDataset&, const Json& ours) {
              const Json& f = ours["methods"][method]["fidelity"]["probability"];
              return fmt::format("{} / {}", shown(number(f["plus"]), 2),
                                 shown(number(f["minus"]), 2));
            });
  return table;
}

Figure auc_bars(const Json& results) {
  BarChart chart;
  chart.title = "Explanation AUC";
  chart.y_title = "ROC AUC";
  chart.reference_name = "the paper";
  chart.y_low = 0;
  chart.y_high = 1;
  for (const PublishedDataset* published : present(results))
    chart.groups.push_back(published->title);
  for (const char* method : {"grad", "att", "gradient", "gnnexplainer", "pgexplainer"}) {
    BarSeries series;
    for (const auto& [key, title] : method_titles())
      if (key == method) series.name = title;
    for (const PublishedDataset* published : present(results)) {
      const Json& auc = results["datasets"][published->name]["methods"][method]["auc"];
      series.value.push_back(number(auc["pooled"]));
      series.error.push_back(number(auc["std"]));
      series.reference.push_back(published_auc(*published, method));
    }
    chart.series.push_back(std::move(series));
  }
  return {bar_chart(chart), "Bars: this run. Dashes: the paper's table."};
}

FigureGrid inductive_figures(const Json& results) {
  FigureGrid grid;
  for (const PublishedDataset* published : present(results)) {
    LineChart chart;
    chart.title = published->title;
    chart.x_title = "instances that were fitted";
    chart.y_title = "AUC on other instances";
    chart.y_low = 0;
    chart.y_high = 1;
    LineSeries series;
    series.name = "PGExplainer";
    for (const Json& point : results["datasets"][published->name]["inductive"]) {
      chart.categories.push_back(point["alpha"].dump());
      series.y.push_back(number(point["mean"]));
      series.error.push_back(number(point["std"]));
    }
    if (series.y.empty()) continue;
    chart.series.push_back(std::move(series));
    grid.figures.push_back({line_chart(chart), ""});
  }
  return grid;
}

FigureGrid regulariser_figures(const Json& results) {
  FigureGrid grid;
  for (const PublishedDataset* published : present(results)) {
    const Json& map = results["datasets"][published->name]["regularisers"];
    if (map.is_null()) continue;
    HeatMap heat;
    heat.title = published->title;
    heat.x_title = "λ entropy";
    heat.y_title = "λ size";
    for (const Json& size : map["sizes"])
      heat.rows.push_back(fmt::format("{:g}", size.get<double>()));
    for (const Json& entropy : map["entropies"])
      heat.columns.push_back(fmt::format("{:g}", entropy.get<double>()));
    heat.value.resize(static_cast<Index>(heat.rows.size()),
                      static_cast<Index>(heat.columns.size()));
    for (Index r = 0; r < heat.value.rows(); ++r)
      for (Index c = 0; c < heat.value.cols(); ++c)
        heat.value(r, c) =
            number(map["auc"][static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
    heat.low = 0;
    heat.high = 1;
    grid.figures.push_back({heat_map(heat), ""});
  }
  return grid;
}

}  // namespace

Table main_table(const Json& results) {
  Table table = with_dataset_columns("Explanation AUC and inference time", results);
  for (const auto& [key, title] : method_titles()) {
    const bool ours_bold = key == "pgexplainer";
    add_row(table, results, title, ours_bold,
            [&, method = key](const PublishedDataset&, const Json& ours) {
              const Json& auc = ours["methods"][method]["auc"];
              return shown(number(auc["pooled"]), number(auc["std"]));
            });
    bool any = false;
    for (const PublishedDataset* published : present(results))
      any = any || std::isfinite(published_auc(*published, key));
    if (any)
      add_row(table, results, "  paper", false,
              [&, method = key](const PublishedDataset& paper, const Json&) {
                return shown(published_auc(paper, method),
                             method == "pgexplainer" ? paper.auc_std : 0.0);
              });
    if (key == "pgexplainer") {
      add_row(table, results, "  authors' notebook", false,
              [](const PublishedDataset& paper, const Json&) { return shown(paper.notebook_auc); });
      add_row(table, results, "  held out (half fitted)", false,
              [](const PublishedDataset&, const Json& ours) {
                const Json& auc = ours["methods"]["pgexplainer"]["auc"];
                return auc.contains("held_out")
                           ? shown(number(auc["held_out"]), number(auc["held_out_std"]))
                           : std::string("–");
              });
      add_row(table, results, "  better than GNNExplainer by", false,
              [](const PublishedDataset&, const Json& ours) {
                const double pg = number(ours["methods"]["pgexplainer"]["auc"]["pooled"]);
                const double gnn = number(ours["methods"]["gnnexplainer"]["auc"]["pooled"]);
                return std::isfinite(pg / gnn) ? fmt::format("{:.1f} %", 100 * (pg / gnn - 1))
                                               : std::string("–");
              });
    }
  }
  const auto milliseconds = [](const Json& ours, const char* method) {
    return number(ours["methods"][method]["milliseconds_per_instance"]);
  };
  const auto add_times = [&](const char* title, const char* method,
                             double PublishedDataset::*published) {
    add_row(table, results, title, false, [&](const PublishedDataset&, const Json& ours) {
      return fmt::format("{:.3g}", milliseconds(ours, method));
    });
    if (!published) return;
    add_row(table, results, "  paper", false, [&](const PublishedDataset& paper, const Json&) {
      return fmt::format("{:.3g}", paper.*published);
    });
  };
  add_times("GNNExplainer, ms", "gnnexplainer", &PublishedDataset::gnn_explainer_ms);
  add_times("PGExplainer, ms", "pgexplainer", nullptr);
  add_times("PGExplainer, network alone, ms", kNetworkAlone, &PublishedDataset::pg_explainer_ms);
  add_row(table, results, "speed-up of the network alone", false,
          [&](const PublishedDataset&, const Json& ours) {
            return fmt::format(
                "{:.0f}x", milliseconds(ours, "gnnexplainer") / milliseconds(ours, kNetworkAlone));
          });
  add_row(table, results, "  paper", false, [&](const PublishedDataset& paper, const Json&) {
    return fmt::format("{:.0f}x", paper.gnn_explainer_ms / paper.pg_explainer_ms);
  });
  return table;
}

std::string reproduction_page(const Json& results, const std::filesystem::path& pictures) {
  HtmlPage page;
  page.title = "PGExplainer, reproduced";
  page.subtitle = fmt::format(
      "Every table and figure of “Parameterized Explainer for Graph Neural Network” (NeurIPS "
      "2020), "
      "computed anew{}.",
      results["settings"]["quick"].get<bool>() ? " in a small version (--quick)" : "");

  PageSection answer{"Which edges made the network decide", {}};
  answer.blocks.emplace_back(Paragraph{
      "AUC: are the edges of the planted motif ranked above all others? Edges of all instances are "
      "pooled, both directions of an edge share the mean score. Rows without a ± have no random "
      "start. All rows are in-sample, as in the paper, except “held out”: there the explainer was "
      "fitted on one half of the instances and judged on the other. Time is that of one thread of "
      "this machine, from the dataset to the scores; the paper's is that of a GPU. “Network alone” "
      "is the paper's PGExplainer, one pass of the explanation network; the default also gives the "
      "edges of each instance an order of their own, which is more faithful and takes longer."});
  answer.blocks.emplace_back(main_table(results));
  answer.blocks.emplace_back(FigureGrid{{auc_bars(results)}, 640});
  page.sections.push_back(std::move(answer));

  PageSection drawn{"One instance of each dataset", {}};
  drawn.blocks.emplace_back(
      Paragraph{"Bold: the K best edges, K being the number of edges of a motif, 10 for molecules. "
                "Shaded: the motif."});
  FigureGrid figures;
  for (const PublishedDataset* published : present(results))
    for (const char* method : {"gnnexplainer", "pgexplainer"}) {
      const Json& files = results["datasets"][published->name]["pictures"];
      figures.figures.push_back(
          {read_file_text(pictures / files[method].get<std::string>()),
           fmt::format("{}, {}, instance {}", published->title,
                       std::string(method) == "pgexplainer" ? "PGExplainer" : "GNNExplainer",
                       files["instance"].dump())});
    }
  drawn.blocks.emplace_back(std::move(figures));
  page.sections.push_back(std::move(drawn));

  PageSection networks{"Datasets and networks", {}};
  networks.blocks.emplace_back(statistics_table(results));
  networks.blocks.emplace_back(accuracy_table(results));
  networks.blocks.emplace_back(
      Paragraph{"The network matters more than any setting of the explainer, so here is every one: "
                "same data and recipe, another seed."});
  networks.blocks.emplace_back(gnn_table(results));
  page.sections.push_back(std::move(networks));

  PageSection faith{"Judged without ground truth", {}};
  faith.blocks.emplace_back(
      Paragraph{"fid+: probability lost when the edges are removed; fid−: probability lost when "
                "only they are "
                "kept. A motif is what was planted, not necessarily what the network uses."});
  faith.blocks.emplace_back(faithfulness_table(results));
  page.sections.push_back(std::move(faith));

  PageSection induction{"New instances (Appendix C.1)", {}};
  induction.blocks.emplace_back(inductive_figures(results));
  page.sections.push_back(std::move(induction));

  PageSection weights{"Size and entropy of the paper's objective (Appendix C.2)", {}};
  weights.blocks.emplace_back(
      Paragraph{"AUC of --objective paper. The default objective has no such weights."});
  weights.blocks.emplace_back(regulariser_figures(results));
  page.sections.push_back(std::move(weights));

  PageSection connected{"The connectivity constraint (Appendix C.2)", {}};
  Table table;
  table.columns = {{"λc", Align::right},
                   {"share of the selected edges in their largest part", Align::right},
                   {"parts", Align::right}};
  FigureGrid three;
  for (const Json& point : results["connectivity"]) {
    table.rows.push_back({{fmt::format("{:g}", point["lambda"].get<double>())},
                          {shown(number(point["largest_share"]))},
                          {shown(number(point["components"]), 2)}});
    three.figures.push_back({read_file_text(pictures / point["picture"].get<std::string>()),
                             fmt::format("λc = {:g}", point["lambda"].get<double>())});
  }
  connected.blocks.emplace_back(
      Paragraph{fmt::format("BA-Shapes with 0.2 N more random edges; {} instances, each explained "
                            "alone, six edges selected, no size or entropy term.",
                            results["connectivity"][0]["instances"].dump())});
  connected.blocks.emplace_back(std::move(table));
  connected.blocks.emplace_back(std::move(three));
  page.sections.push_back(std::move(connected));

  PageSection settings{"Settings", {}};
  for (const Json& skipped : results["skipped"])
    settings.blocks.emplace_back(Paragraph{skipped.get<std::string>()});
  settings.blocks.emplace_back(Paragraph{
      fmt::format("{}, seeds from {} on.", results["settings"]["version"].get<std::string>(),
                  results["settings"]["seed"].dump())});
  settings.blocks.emplace_back(Details{"Everything that was set", results["settings"].dump(1)});
  page.sections.push_back(std::move(settings));
  return to_html(page);
}

}  // namespace pgexplainer
