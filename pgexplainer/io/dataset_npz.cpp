#include "pgexplainer/io/dataset_npz.h"

#include <limits>
#include <map>
#include <span>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/split_npz.h"

namespace pgexplainer {
namespace {

Graph read_graph(const NpzArrays& arrays, Index num_nodes) {
  const std::string file = arrays.path().string();
  const auto& shape = arrays.shape("edge_index");
  if (shape.size() != 2 || shape[0] != 2)
    throw_bad_input("{}: array edge_index has shape {}, expected (2, number of edges)", file,
                    shape_text(shape));
  if (num_nodes > std::numeric_limits<NodeId>::max())
    throw_bad_input("{}: array x has {} rows, at most {} nodes are supported", file, num_nodes,
                    std::numeric_limits<NodeId>::max());
  const auto ends = arrays.vector<std::int64_t>("edge_index");
  const std::size_t edges = ends.size() / 2;
  std::vector<NodeId> source(edges), target(edges);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] < 0 || ends[i] >= num_nodes)
      throw_bad_input("{}: array edge_index names node {} in edge {}; the nodes are 0 to {}", file,
                      ends[i], i % edges, num_nodes - 1);
    (i < edges ? source[i] : target[i - edges]) = static_cast<NodeId>(ends[i]);
  }
  return {static_cast<NodeId>(num_nodes), std::move(source), std::move(target)};
}

}  // namespace

Dataset read_dataset_npz(const std::filesystem::path& path) {
  return dataset_from_arrays(read_npz(path));
}

Dataset dataset_from_arrays(const NpzArrays& arrays) {
  Dataset dataset;
  dataset.name = arrays.path().stem().string();
  dataset.task = arrays.contains("graph_ptr") ? Task::graph : Task::node;
  dataset.x = arrays.matrix<float>("x");
  dataset.graph = read_graph(arrays, dataset.x.rows());
  if (dataset.task == Task::graph) {
    dataset.graph_ptr = arrays.list<NodeId>("graph_ptr");
    dataset.edge_ptr = arrays.list<EdgeId>("edge_ptr");
  } else {
    dataset.graph_ptr = {0, dataset.graph.num_nodes()};
    dataset.edge_ptr = {0, dataset.graph.num_edges()};
  }
  dataset.y = arrays.list<std::int64_t>("y");
  if (arrays.contains("edge_gt")) dataset.edge_gt = arrays.mask("edge_gt");
  if (arrays.contains("edge_weight")) dataset.edge_weight = arrays.list<float>("edge_weight");
  if (arrays.contains("edge_attr")) dataset.edge_attr = arrays.matrix<float>("edge_attr");
  if (arrays.contains("node_type_names")) dataset.node_type_names = arrays.texts("node_type_names");
  read_split(arrays, dataset);
  validate(dataset, arrays.path().string());
  return dataset;
}

void write_dataset_npz(const std::filesystem::path& path, const Dataset& dataset) {
  std::vector<std::int64_t> ends(dataset.graph.sources().begin(), dataset.graph.sources().end());
  ends.insert(ends.end(), dataset.graph.targets().begin(), dataset.graph.targets().end());
  std::map<std::string, NpyArray> arrays;
  arrays["edge_index"] =
      NpyArray::from(std::span<const std::int64_t>(ends), {2, dataset.graph.num_edges()});
  arrays["x"] = NpyArray::from(dataset.x);
  arrays["y"] = NpyArray::from(dataset.y);
  if (dataset.task == Task::graph) {
    arrays["graph_ptr"] = NpyArray::from(
        std::vector<std::int64_t>(dataset.graph_ptr.begin(), dataset.graph_ptr.end()));
    arrays["edge_ptr"] = NpyArray::from(dataset.edge_ptr);
  }
  if (!dataset.edge_gt.empty()) arrays["edge_gt"] = NpyArray::from_mask(dataset.edge_gt);
  if (!dataset.edge_weight.empty()) arrays["edge_weight"] = NpyArray::from(dataset.edge_weight);
  if (dataset.edge_attr.cols() > 0) arrays["edge_attr"] = NpyArray::from(dataset.edge_attr);
  if (!dataset.node_type_names.empty())
    arrays["node_type_names"] = NpyArray::from_texts(dataset.node_type_names);
  arrays.merge(split_arrays(dataset));
  write_npz(path, arrays);
}

}  // namespace pgexplainer
