#include "pgexplainer/io/edge_list_csv.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/text_table.h"

namespace pgexplainer {
namespace {

constexpr std::int64_t kMaxNodes = std::numeric_limits<NodeId>::max();

// Where the named columns stand; all others are features, in the order of the file.
class Header {
 public:
  Header(TextTable& table, const std::filesystem::path& path) {
    if (!table.next()) throw_bad_input("{}: the file is empty, expected a header", path.string());
    for (std::size_t i = 0; i < table.num_fields(); ++i) {
      names_.emplace_back(table.text(i));
      if (names_[i].empty()) table.fail("column {} has no name", i + 1);
      if (std::count(names_.begin(), names_.end(), names_[i]) > 1)
        table.fail("there are two columns {}", names_[i]);
      is_feature_.push_back(1);
    }
  }
  std::optional<std::size_t> find(std::string_view name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    const auto column = static_cast<std::size_t>(found - names_.begin());
    is_feature_[column] = 0;
    return column;
  }
  std::size_t require(std::string_view name, const TextTable& table) {
    const auto column = find(name);
    if (!column) table.fail("the header has no column {}", name);
    return *column;
  }
  [[nodiscard]] std::vector<std::size_t> features() const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (is_feature_[i] != 0) result.push_back(i);
    return result;
  }

 private:
  std::vector<std::string> names_;
  std::vector<char> is_feature_;
};

std::uint8_t zero_or_one(const TextTable& table, std::size_t field) {
  const std::int64_t value = table.integer(field);
  if (value != 0 && value != 1) table.fail("the value is {}, expected 0 or 1", value);
  return static_cast<std::uint8_t>(value);
}

Matrix<float> as_matrix(const std::vector<float>& values, std::size_t columns) {
  const auto cols = static_cast<Index>(columns);
  const Index rows = cols == 0 ? 0 : static_cast<Index>(values.size()) / cols;
  return ConstMatrixView<float>(values.data(), rows, cols);
}

// Fills everything of the nodes; returns their number.
NodeId read_nodes(const std::filesystem::path& path, Dataset& dataset) {
  TextTable table(path);
  Header header(table, path);
  const std::size_t node_column = header.require("node", table);
  const std::size_t label_column = header.require("label", table);
  const auto split_column = header.find("split");
  const auto evaluate_column = header.find("evaluate");
  const auto feature_columns = header.features();

  std::vector<std::int64_t> node_of_line;
  std::vector<std::int64_t> labels;
  std::vector<std::string> splits;
  std::vector<std::uint8_t> evaluate;
  std::vector<float> features;
  while (table.next()) {
    node_of_line.push_back(table.integer(node_column));
    labels.push_back(table.integer(label_column));
    if (labels.back() < 0) table.fail("the label is {}; labels are 0, 1, 2, ...", labels.back());
    if (split_column) {
      const std::string_view split = table.text(*split_column);
      if (!split.empty() && split != "train" && split != "val" && split != "test")
        table.fail("the split is '{}', expected train, val, test or nothing", split);
      splits.emplace_back(split);
    }
    if (evaluate_column) evaluate.push_back(zero_or_one(table, *evaluate_column));
    for (const std::size_t column : feature_columns) features.push_back(table.number(column));
  }

  const auto count = static_cast<std::int64_t>(node_of_line.size());
  if (count == 0 || count > kMaxNodes)
    throw_bad_input("{}: there are {} nodes, expected 1 to {}", path.string(), count, kMaxNodes);
  dataset.y.assign(labels.size(), -1);
  const Matrix<float> values = as_matrix(features, feature_columns.size());
  dataset.x = Matrix<float>::Ones(count, std::max<Index>(values.cols(), 1));
  for (auto* mask : {&dataset.train_mask, &dataset.val_mask, &dataset.test_mask})
    mask->assign(labels.size(), 0);
  for (std::size_t i = 0; i < node_of_line.size(); ++i) {
    const std::int64_t node = node_of_line[i];
    if (node < 0 || node >= count)
      throw_bad_input("{}: line {}: node {} is out of range; {} nodes are numbered 0 to {}",
                      path.string(), i + 2, node, count, count - 1);
    const auto v = static_cast<std::size_t>(node);
    if (dataset.y[v] != -1)
      throw_bad_input("{}: line {}: node {} occurs a second time", path.string(), i + 2, node);
    dataset.y[v] = labels[i];
    if (values.cols() > 0) dataset.x.row(node) = values.row(static_cast<Index>(i));
    if (split_column && !splits[i].empty())
      (splits[i] == "train" ? dataset.train_mask
       : splits[i] == "val" ? dataset.val_mask
                            : dataset.test_mask)[v] = 1;
    if (evaluate_column && evaluate[i] != 0) dataset.eval_instances.push_back(node);
  }
  std::sort(dataset.eval_instances.begin(), dataset.eval_instances.end());
  if (!split_column) dataset.train_mask.clear();  // to be drawn once the graph is there
  return static_cast<NodeId>(count);
}

}  // namespace

Dataset read_edge_list(const std::filesystem::path& edges_csv,
                       const std::filesystem::path& nodes_csv) {
  Dataset dataset;
  dataset.name = edges_csv.stem().string();
  NodeId num_nodes = nodes_csv.empty() ? 0 : read_nodes(nodes_csv, dataset);
  const std::int64_t limit = nodes_csv.empty() ? kMaxNodes : num_nodes;

  TextTable table(edges_csv);
  Header header(table, edges_csv);
  const std::size_t source_column = header.require("source", table);
  const std::size_t target_column = header.require("target", table);
  const auto weight_column = header.find("weight");
  const auto truth_column = header.find("ground_truth");
  const auto feature_columns = header.features();
  std::vector<NodeId> source, target;
  std::vector<float> features;
  const auto node = [&](std::size_t column) {
    const std::int64_t value = table.integer(column);
    if (value < 0 || value >= limit)
      table.fail("node {} does not exist; the nodes are 0 to {}", value, limit - 1);
    if (nodes_csv.empty()) num_nodes = std::max(num_nodes, static_cast<NodeId>(value + 1));
    return static_cast<NodeId>(value);
  };
  while (table.next()) {
    source.push_back(node(source_column));
    target.push_back(node(target_column));
    if (weight_column) dataset.edge_weight.push_back(table.number(*weight_column));
    if (truth_column) dataset.edge_gt.push_back(zero_or_one(table, *truth_column));
    for (const std::size_t column : feature_columns) features.push_back(table.number(column));
  }
  // A typing error in one number must not allocate millions of nodes nobody named.
  if (nodes_csv.empty() && num_nodes / 1000 > static_cast<std::int64_t>(source.size()))
    throw_bad_input(
        "{}: {} edges name nodes up to {}; numbers are 0, 1, 2, ... unless a node file lists them",
        edges_csv.string(), source.size(), num_nodes - 1);

  dataset.edge_attr = as_matrix(features, feature_columns.size());
  dataset.graph = Graph(num_nodes, std::move(source), std::move(target));
  dataset.graph_ptr = {0, num_nodes};
  dataset.edge_ptr = {0, dataset.graph.num_edges()};
  if (nodes_csv.empty()) {
    dataset.y.assign(static_cast<std::size_t>(num_nodes), 0);
    dataset.x = Matrix<float>::Ones(num_nodes, 1);
  }
  if (dataset.train_mask.empty()) split_80_10_10(dataset, 0);
  validate(dataset, edges_csv.string());
  return dataset;
}

void write_edge_list(const std::filesystem::path& edges_csv, const std::filesystem::path& nodes_csv,
                     const Dataset& dataset) {
  if (dataset.task == Task::graph)
    throw_bad_input("{}: an edge list holds one graph; write this graph dataset as .npz",
                    edges_csv.string());
  AtomicFile edges_file(edges_csv);
  AtomicFile nodes_file(nodes_csv);
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  const auto append_row = [&](const Matrix<float>& values, Index row) {
    for (Index j = 0; j < values.cols(); ++j) fmt::format_to(out, ",{}", values(row, j));
  };
  const auto flush_to = [&](AtomicFile& file) {
    file.write(std::string_view(text.data(), text.size()));
    text.clear();
  };
  const Graph& graph = dataset.graph;

  fmt::format_to(out, "source,target{}{}", dataset.edge_weight.empty() ? "" : ",weight",
                 dataset.edge_gt.empty() ? "" : ",ground_truth");
  for (Index j = 0; j < dataset.edge_attr.cols(); ++j) fmt::format_to(out, ",e{}", j);
  for (EdgeId e = 0; e < graph.num_edges(); ++e) {
    const auto i = static_cast<std::size_t>(e);
    fmt::format_to(out, "\n{},{}", graph.source(e), graph.target(e));
    if (!dataset.edge_weight.empty()) fmt::format_to(out, ",{}", dataset.edge_weight[i]);
    if (!dataset.edge_gt.empty()) fmt::format_to(out, ",{}", dataset.edge_gt[i]);
    append_row(dataset.edge_attr, e);
  }
  fmt::format_to(out, "\n");
  flush_to(edges_file);

  std::vector<std::uint8_t> evaluate(dataset.y.size(), 0);
  for (const std::int64_t v : dataset.eval_instances) evaluate[static_cast<std::size_t>(v)] = 1;
  fmt::format_to(out, "node,label,split{}", dataset.eval_instances.empty() ? "" : ",evaluate");
  for (Index j = 0; j < dataset.x.cols(); ++j) fmt::format_to(out, ",x{}", j);
  for (NodeId v = 0; v < graph.num_nodes(); ++v) {
    const auto i = static_cast<std::size_t>(v);
    fmt::format_to(out, "\n{},{},{}", v, dataset.y[i],
                   dataset.train_mask[i] != 0  ? "train"
                   : dataset.val_mask[i] != 0  ? "val"
                   : dataset.test_mask[i] != 0 ? "test"
                                               : "");
    if (!dataset.eval_instances.empty()) fmt::format_to(out, ",{}", evaluate[i]);
    append_row(dataset.x, v);
  }
  fmt::format_to(out, "\n");
  flush_to(nodes_file);
  edges_file.commit();
  nodes_file.commit();
}

}  // namespace pgexplainer
