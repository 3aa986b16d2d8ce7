#include "pgexplainer/io/dataset_npz.h"

#include <array>
#include <limits>
#include <map>
#include <span>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/split_npz.h"

namespace pgexplainer {
namespace {

/// The names of Graph::Derived in a file. Arrays that equal another one are not written.
constexpr const char* kInPtr = "graph.in_ptr";
constexpr const char* kReverse = "graph.reverse";
constexpr const char* kDuplicates = "graph.num_duplicate_edges";
constexpr const char* kInSource = "graph.in_source";
constexpr const char* kInEdge = "graph.in_edge";
constexpr const char* kOutPtr = "graph.out_ptr";

Graph map_graph(const NpzArrays& arrays, Index num_nodes) try {
  const auto ends = arrays.shared<NodeId>("edge_index");
  const std::size_t edges = ends.size() / 2;
  const Array<NodeId> source(std::span<const NodeId>(ends).first(edges), ends.owner());
  const Array<NodeId> target(std::span<const NodeId>(ends).last(edges), ends.owner());
  Graph::Derived derived;
  derived.in_ptr = arrays.shared<EdgeId>(kInPtr);
  derived.reverse = arrays.shared<EdgeId>(kReverse);
  derived.num_duplicate_edges = arrays.scalar<EdgeId>(kDuplicates);
  derived.in_source = arrays.contains(kInSource) ? arrays.shared<NodeId>(kInSource) : target;
  derived.in_edge = arrays.contains(kInEdge) ? arrays.shared<EdgeId>(kInEdge) : derived.reverse;
  derived.out_ptr = arrays.contains(kOutPtr) ? arrays.shared<EdgeId>(kOutPtr) : derived.in_ptr;
  return {static_cast<NodeId>(num_nodes), source, target, derived};
} catch (const Error& error) {
  throw_bad_input("{}: the kept graph is damaged: {}", arrays.path().string(), error.what());
}

void add_graph(const Graph& graph, std::map<std::string, NpyArray>& arrays) {
  const Graph::Derived& derived = graph.derived();
  arrays[kInPtr] = NpyArray::refer(derived.in_ptr);
  arrays[kReverse] = NpyArray::refer(derived.reverse);
  arrays[kDuplicates] = NpyArray::from_scalar(derived.num_duplicate_edges);
  if (derived.in_source.data() != graph.targets().data())
    arrays[kInSource] = NpyArray::refer(derived.in_source);
  if (derived.in_edge.data() != derived.reverse.data())
    arrays[kInEdge] = NpyArray::refer(derived.in_edge);
  if (derived.out_ptr.data() != derived.in_ptr.data())
    arrays[kOutPtr] = NpyArray::refer(derived.out_ptr);
}

Graph read_graph(const NpzArrays& arrays, Index num_nodes) {
  const std::string file = arrays.path().string();
  const auto& shape = arrays.shape("edge_index");
  if (shape.size() != 2 || shape[0] != 2)
    throw_bad_input("{}: array edge_index has shape {}, expected (2, number of edges)", file,
                    shape_text(shape));
  if (num_nodes > std::numeric_limits<NodeId>::max())
    throw_bad_input("{}: array x has {} rows, at most {} nodes are supported", file, num_nodes,
                    std::numeric_limits<NodeId>::max());
  if (has_mapped_graph(arrays)) return map_graph(arrays, num_nodes);
  const auto ends = arrays.shared<std::int64_t>("edge_index");
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

void write_dataset_npz(const std::filesystem::path& path, const Dataset& dataset,
                       EdgeId keep_graph_from) {
  const Graph& graph = dataset.graph;
  std::map<std::string, NpyArray> arrays;
  arrays["x"] = NpyArray::refer(dataset.x);
  arrays["y"] = NpyArray::refer(dataset.y);
  if (dataset.task == Task::graph) {
    arrays["graph_ptr"] = NpyArray::from(
        std::vector<std::int64_t>(dataset.graph_ptr.begin(), dataset.graph_ptr.end()));
    arrays["edge_ptr"] = NpyArray::refer(dataset.edge_ptr);
  }
  if (!dataset.edge_gt.empty()) arrays["edge_gt"] = NpyArray::refer_mask(dataset.edge_gt);
  if (!dataset.edge_weight.empty()) arrays["edge_weight"] = NpyArray::refer(dataset.edge_weight);
  if (dataset.edge_attr.cols() > 0) arrays["edge_attr"] = NpyArray::refer(dataset.edge_attr);
  if (!dataset.node_type_names.empty())
    arrays["node_type_names"] = NpyArray::from_texts(dataset.node_type_names);
  arrays.merge(split_arrays(dataset));

  NpzArrayWriter writer(path);
  if (dataset.task == Task::node && graph.num_edges() >= keep_graph_from) {
    add_graph(graph, arrays);
    const std::vector<std::int64_t> shape{graph.num_edges()};
    const std::array rows{NpyArray::refer(graph.sources(), shape),
                          NpyArray::refer(graph.targets(), shape)};
    writer.add_stacked("edge_index", rows);
  } else {
    std::vector<std::int64_t> ends(graph.sources().begin(), graph.sources().end());
    ends.insert(ends.end(), graph.targets().begin(), graph.targets().end());
    writer.add("edge_index",
               NpyArray::refer(std::span<const std::int64_t>(ends), {2, graph.num_edges()}));
  }
  for (const auto& [name, array] : arrays) writer.add(name, array);
  writer.commit();
}

bool has_mapped_graph(const NpzArrays& arrays) {
  const auto is_mapped = [&](const std::string& name) {
    return arrays.contains(name) && arrays.array(name).mapped;
  };
  return !arrays.contains("graph_ptr") && is_mapped("edge_index") && is_mapped(kInPtr) &&
         is_mapped(kReverse) && is_mapped(kDuplicates);
}

}  // namespace pgexplainer
