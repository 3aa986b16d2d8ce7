#include "pgexplainer/io/tu_folder.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "pgexplainer/core/error.h"
#include "pgexplainer/datasets/nitro_amine_motifs.h"
#include "pgexplainer/io/atomic_file.h"
#include "pgexplainer/io/atomic_folder.h"
#include "pgexplainer/io/npz.h"
#include "pgexplainer/io/split_npz.h"
#include "pgexplainer/io/text_table.h"

namespace pgexplainer {
namespace {

namespace fs = std::filesystem;

// More different labels than this are names rather than types.
constexpr std::size_t kMaxTypes = 1000;

// A table of whole numbers, row by row.
struct Labels {
  std::vector<std::int64_t> values;
  std::size_t columns = 0;
};

fs::path find_adjacency_file(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().ends_with("_A.txt")) found.push_back(entry.path());
  if (error) throw_bad_input("{}: the folder cannot be read: {}", folder.string(), error.message());
  if (found.empty())
    throw_bad_input("{}: is not a TU dataset: the folder has no file NAME_A.txt", folder.string());
  if (found.size() > 1)
    throw_bad_input("{}: the folder has {} files NAME_A.txt, expected one dataset", folder.string(),
                    found.size());
  return found.front();
}

void expect_lines(const fs::path& path, std::size_t lines, std::size_t expected, const char* what) {
  if (lines != expected)
    throw_bad_input("{}: there are {} lines, expected {} (one per {})", path.string(), lines,
                    expected, what);
}

Labels read_labels(const fs::path& path) {
  Labels labels;
  TextTable table(path);
  while (table.next()) {
    labels.columns = table.num_fields();
    for (std::size_t i = 0; i < labels.columns; ++i) labels.values.push_back(table.integer(i));
  }
  return labels;
}

std::vector<std::int64_t> read_one_column(const fs::path& path) {
  Labels labels = read_labels(path);
  if (labels.columns > 1)
    throw_bad_input("{}: there are {} fields in a line, expected one", path.string(),
                    labels.columns);
  return std::move(labels.values);
}

Matrix<float> read_attributes(const fs::path& path) {
  std::vector<float> values;
  TextTable table(path);
  while (table.next())
    for (std::size_t i = 0; i < table.num_fields(); ++i) values.push_back(table.number(i));
  const auto columns = static_cast<Index>(table.num_fields());
  return ConstMatrixView<float>(values.data(), table.line(), columns);
}

std::vector<std::int64_t> distinct(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// The position of each value among the distinct values.
std::vector<std::int64_t> ranks(const std::vector<std::int64_t>& values,
                                const std::vector<std::int64_t>& sorted) {
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  for (const std::int64_t value : values)
    result.push_back(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
  return result;
}

// One-hot columns of every label column, one after another.
Matrix<float> one_hot(const Labels& labels, const fs::path& path) {
  const std::size_t rows = labels.columns == 0 ? 0 : labels.values.size() / labels.columns;
  Matrix<float> result(static_cast<Index>(rows), 0);
  for (std::size_t column = 0; column < labels.columns; ++column) {
    std::vector<std::int64_t> values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = labels.values[i * labels.columns + column];
    const auto types = distinct(values);
    if (types.size() > kMaxTypes)
      throw_bad_input(
          "{}: there are {} different labels, at most {} can become one-hot features; move them to "
          "the attributes file",
          path.string(), types.size(), kMaxTypes);
    const auto type = ranks(values, types);
    const Index first = result.cols();
    result.conservativeResize(Eigen::NoChange, first + static_cast<Index>(types.size()));
    result.rightCols(static_cast<Index>(types.size())).setZero();
    for (std::size_t i = 0; i < rows; ++i) result(static_cast<Index>(i), first + type[i]) = 1;
  }
  return result;
}

Matrix<float> side_by_side(const Matrix<float>& left, const Matrix<float>& right) {
  if (left.cols() == 0) return right;
  if (right.cols() == 0) return left;
  Matrix<float> result(left.rows(), left.cols() + right.cols());
  result << left, right;
  return result;
}

// Labels as one-hot columns, then attributes; no columns if there is neither file.
Matrix<float> read_features(const fs::path& labels, const fs::path& attributes,
                            std::size_t expected, const char* what) {
  Matrix<float> from_labels, from_attributes;
  if (fs::exists(labels)) {
    from_labels = one_hot(read_labels(labels), labels);
    expect_lines(labels, static_cast<std::size_t>(from_labels.rows()), expected, what);
  }
  if (fs::exists(attributes)) {
    from_attributes = read_attributes(attributes);
    expect_lines(attributes, static_cast<std::size_t>(from_attributes.rows()), expected, what);
  }
  return side_by_side(from_labels, from_attributes);
}

// The graph of every node, 0-based, and graph_ptr.
std::vector<std::size_t> read_graph_indicator(const fs::path& path, std::size_t num_graphs,
                                              std::vector<NodeId>& graph_ptr) {
  std::vector<std::size_t> graph_of;
  TextTable table(path);
  graph_ptr.assign(num_graphs + 1, 0);
  while (table.next()) {
    const std::int64_t graph = table.integer(0);
    if (graph < 1 || graph > static_cast<std::int64_t>(num_graphs))
      table.fail("graph {} does not exist; the graph labels file describes graphs 1 to {}", graph,
                 num_graphs);
    if (!graph_of.empty() && static_cast<std::size_t>(graph - 1) < graph_of.back())
      table.fail("a node of graph {} follows one of graph {}; the nodes must be sorted by graph",
                 graph, graph_of.back() + 1);
    if (graph_of.size() == static_cast<std::size_t>(std::numeric_limits<NodeId>::max()))
      table.fail("there are too many nodes");
    graph_of.push_back(static_cast<std::size_t>(graph - 1));
    ++graph_ptr[static_cast<std::size_t>(graph)];
  }
  std::partial_sum(graph_ptr.begin(), graph_ptr.end(), graph_ptr.begin());
  return graph_of;
}

struct Edges {
  std::vector<NodeId> source, target;
  std::vector<std::size_t> line;  // where edge e stands in the file, 0-based
};

Edges read_edges(const fs::path& path, const std::vector<std::size_t>& graph_of,
                 std::vector<EdgeId>& edge_ptr) {
  std::vector<NodeId> source, target;
  TextTable table(path);
  while (table.next()) {
    if (table.num_fields() != 2)
      table.fail("there are {} fields, expected two node numbers", table.num_fields());
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t node = table.integer(i);
      if (node < 1 || node > static_cast<std::int64_t>(graph_of.size()))
        table.fail("node {} does not exist; the nodes are 1 to {}", node, graph_of.size());
      (i == 0 ? source : target).push_back(static_cast<NodeId>(node - 1));
    }
    if (graph_of[static_cast<std::size_t>(source.back())] !=
        graph_of[static_cast<std::size_t>(target.back())])
      table.fail("the edge joins nodes {} and {} of different graphs", source.back() + 1,
                 target.back() + 1);
  }
  for (const NodeId node : source) ++edge_ptr[graph_of[static_cast<std::size_t>(node)] + 1];
  std::partial_sum(edge_ptr.begin(), edge_ptr.end(), edge_ptr.begin());

  Edges edges{std::vector<NodeId>(source.size()), std::vector<NodeId>(source.size()),
              std::vector<std::size_t>(source.size())};
  std::vector<EdgeId> next(edge_ptr.begin(), edge_ptr.end() - 1);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto slot =
        static_cast<std::size_t>(next[graph_of[static_cast<std::size_t>(source[i])]]++);
    edges.source[slot] = source[i];
    edges.target[slot] = target[i];
    edges.line[slot] = i;
  }
  return edges;
}

std::vector<std::uint8_t> read_motif_edges(const fs::path& path, const Edges& edges) {
  const auto values = read_one_column(path);
  expect_lines(path, values.size(), edges.line.size(), "edge");
  std::vector<std::uint8_t> result(values.size());
  for (std::size_t e = 0; e < values.size(); ++e) {
    const std::int64_t value = values[edges.line[e]];
    if (value != 0 && value != 1)
      throw_bad_input("{}: line {}: the value is {}, expected 0 or 1", path.string(),
                      edges.line[e] + 1, value);
    result[e] = static_cast<std::uint8_t>(value);
  }
  return result;
}

// The atoms of Mutagenicity have names, and its motifs follow from atoms and bonds.
void complete_mutagenicity(const fs::path& node_labels, Dataset& dataset) {
  if (!fs::exists(node_labels)) return;
  const auto atoms = read_one_column(node_labels);
  const auto known = static_cast<std::int64_t>(std::size(kMutagenicityAtoms));
  if (dataset.x.cols() != known || distinct(atoms).front() != 0 ||
      distinct(atoms).back() != known - 1)
    return;
  dataset.node_type_names.assign(std::begin(kMutagenicityAtoms), std::end(kMutagenicityAtoms));
  if (dataset.edge_gt.empty() && dataset.graph.is_undirected())
    dataset.edge_gt = nitro_amine_motifs(dataset.graph, atoms);
}

// The graphs of class 0 (the mutagens) with a motif edge.
std::vector<std::int64_t> graphs_with_motif(const Dataset& dataset) {
  std::vector<std::int64_t> result;
  if (dataset.edge_gt.empty()) return result;
  for (std::size_t g = 0; g < dataset.y.size(); ++g) {
    const auto begin = dataset.edge_gt.begin() + dataset.edge_ptr[g];
    const auto end = dataset.edge_gt.begin() + dataset.edge_ptr[g + 1];
    if (dataset.y[g] == 0 && std::find(begin, end, 1) != end)
      result.push_back(static_cast<std::int64_t>(g));
  }
  return result;
}

// The label of every row if the rows are one-hot and every column occurs, so that reading gives the
// same columns again.
std::optional<std::vector<Index>> labels_of_one_hot(const Matrix<float>& features) {
  std::vector<Index> labels;
  std::vector<char> seen(static_cast<std::size_t>(features.cols()), 0);
  for (Index i = 0; i < features.rows(); ++i) {
    Index label = 0;
    if (features.row(i).maxCoeff(&label) != 1 || (features.row(i).array() != 0).count() != 1)
      return std::nullopt;
    labels.push_back(label);
    seen[static_cast<std::size_t>(label)] = 1;
  }
  if (std::find(seen.begin(), seen.end(), 0) != seen.end()) return std::nullopt;
  return labels;
}

class TuWriter {
 public:
  TuWriter(fs::path folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}

  // line(i, out) appends the i-th line.
  template <class Line>
  void write(const std::string& kind, std::int64_t lines, Line&& line) const {
    fmt::memory_buffer text;
    for (std::int64_t i = 0; i < lines; ++i) {
      line(i, std::back_inserter(text));
      text.push_back('\n');
    }
    AtomicFile file(folder_ / (name_ + "_" + kind + ".txt"));
    file.write(std::string_view(text.data(), text.size()));
    file.commit();
  }

  void write_features(const std::string& of, const Matrix<float>& features) const {
    if (const auto labels = labels_of_one_hot(features))
      write(of + "_labels", features.rows(), [&](std::int64_t i, auto out) {
        fmt::format_to(out, "{}", (*labels)[static_cast<std::size_t>(i)]);
      });
    else
      write(of + "_attributes", features.rows(), [&](std::int64_t i, auto out) {
        const float* row = features.data() + i * features.cols();
        fmt::format_to(out, "{}", fmt::join(row, row + features.cols(), ", "));
      });
  }

 private:
  fs::path folder_;
  std::string name_;
};

}  // namespace

Dataset read_tu_folder(const fs::path& folder) {
  const fs::path adjacency = find_adjacency_file(folder);
  const std::string file_name = adjacency.filename().string();
  Dataset dataset;
  dataset.name = file_name.substr(0, file_name.size() - std::string_view("_A.txt").size());
  dataset.task = Task::graph;
  const auto file = [&](const char* kind) {
    return folder / fmt::format("{}_{}.txt", dataset.name, kind);
  };

  const auto graph_labels = read_one_column(file("graph_labels"));
  dataset.y = ranks(graph_labels, distinct(graph_labels));
  const auto graph_of =
      read_graph_indicator(file("graph_indicator"), dataset.y.size(), dataset.graph_ptr);
  dataset.edge_ptr.assign(dataset.y.size() + 1, 0);
  const Edges edges = read_edges(adjacency, graph_of, dataset.edge_ptr);
  dataset.graph = Graph(static_cast<NodeId>(graph_of.size()), edges.source, edges.target);

  dataset.x = read_features(file("node_labels"), file("node_attributes"), graph_of.size(), "node");
  if (dataset.x.cols() == 0)
    dataset.x = Matrix<float>::Ones(static_cast<Index>(graph_of.size()), 1);
  const Matrix<float> edge_features =
      read_features(file("edge_labels"), file("edge_attributes"), edges.line.size(), "edge");
  dataset.edge_attr.resize(edge_features.rows(), edge_features.cols());
  for (Index e = 0; e < edge_features.rows(); ++e)
    dataset.edge_attr.row(e) =
        edge_features.row(static_cast<Index>(edges.line[static_cast<std::size_t>(e)]));
  if (fs::exists(file("edge_gt"))) dataset.edge_gt = read_motif_edges(file("edge_gt"), edges);
  if (dataset.name == "Mutagenicity") complete_mutagenicity(file("node_labels"), dataset);

  if (const fs::path split = folder / "split.npz"; fs::exists(split)) {
    const NpzArrays arrays = read_npz(split);
    read_split(arrays, dataset);
    if (!arrays.contains("eval_graphs")) dataset.eval_instances = graphs_with_motif(dataset);
  } else {
    split_80_10_10(dataset, 0);
    dataset.eval_instances = graphs_with_motif(dataset);
  }
  validate(dataset, folder.string());
  return dataset;
}

void write_tu_folder(const fs::path& folder, const Dataset& dataset) {
  if (dataset.task == Task::node)
    throw_bad_input("{}: a TU folder holds graph datasets; write this node dataset as .npz or .csv",
                    folder.string());
  if (!dataset.edge_weight.empty())
    throw_bad_input("{}: a TU folder has no place for edge weights; write .npz", folder.string());
  AtomicFolder output(folder);
  const bool usable = !dataset.name.empty() && dataset.name.find('/') == std::string::npos;
  const TuWriter writer(output.temporary(), usable ? dataset.name : "graphs");

  writer.write("A", dataset.graph.num_edges(), [&](std::int64_t e, auto out) {
    fmt::format_to(out, "{}, {}", dataset.graph.source(e) + 1, dataset.graph.target(e) + 1);
  });
  std::size_t graph = 0;
  writer.write("graph_indicator", dataset.graph.num_nodes(), [&](std::int64_t v, auto out) {
    while (v >= dataset.graph_ptr[graph + 1]) ++graph;
    fmt::format_to(out, "{}", graph + 1);
  });
  writer.write("graph_labels", dataset.num_graphs(), [&](std::int64_t g, auto out) {
    fmt::format_to(out, "{}", dataset.y[static_cast<std::size_t>(g)]);
  });
  writer.write_features("node", dataset.x);
  if (dataset.edge_attr.cols() > 0) writer.write_features("edge", dataset.edge_attr);
  if (!dataset.edge_gt.empty())
    writer.write("edge_gt", dataset.graph.num_edges(), [&](std::int64_t e, auto out) {
      fmt::format_to(out, "{}", dataset.edge_gt[static_cast<std::size_t>(e)]);
    });
  auto split = split_arrays(dataset);
  split["eval_graphs"] = NpyArray::from(dataset.eval_instances);  // also when there are none
  write_npz(output.temporary() / "split.npz", split);
  output.commit();
}

}  // namespace pgexplainer
