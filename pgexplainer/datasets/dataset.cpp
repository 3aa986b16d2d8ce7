#include "pgexplainer/datasets/dataset.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/parallel/pieces.h"

namespace pgexplainer {
namespace {

void expect_size(const std::string& where, const char* array, std::size_t size,
                 std::int64_t expected, const char* what) {
  if (size != static_cast<std::size_t>(expected))
    throw_bad_input("{}: {} has {} entries, expected {} (one per {})", where, array, size, expected,
                    what);
}

constexpr float kLargest = std::numeric_limits<float>::max();

void expect_finite(const std::string& where, const char* array, const float* values, Index rows,
                   Index cols) {
  std::atomic<bool> all = true;
  const std::size_t piece = std::size_t{1} << 20;
  for_each_piece(static_cast<std::size_t>(rows * cols), piece, [&](auto begin, auto end) {
    bool finite = true;  // without a branch, so that it runs as fast as memory
    for (auto i = begin; i < end; ++i) finite = finite & (std::abs(values[i]) <= kLargest);
    if (!finite) all = false;
  });
  for (Index i = 0; !all && i < rows * cols; ++i)
    if (!std::isfinite(values[i]))
      throw_bad_input("{}: {} has the value {} in row {}, column {}; every value must be finite",
                      where, array, values[i], i / cols, i % cols);
}

template <class T>
void expect_pointers(const std::string& where, const char* array, const std::vector<T>& ptr,
                     std::int64_t last, const char* what) {
  if (ptr.size() < 2 || ptr.front() != 0 || ptr.back() != last ||
      !std::is_sorted(ptr.begin(), ptr.end()))
    throw_bad_input("{}: {} must start at 0, never fall and end at the number of {} ({})", where,
                    array, what, last);
}

}  // namespace

std::int64_t Dataset::num_classes() const {
  return y.empty() ? 0 : *std::max_element(y.begin(), y.end()) + 1;
}

void validate(const Dataset& dataset, const std::string& where) {
  const NodeId nodes = dataset.graph.num_nodes();
  const EdgeId edges = dataset.graph.num_edges();
  const char* instance = dataset.task == Task::node ? "node" : "graph";
  if (nodes == 0) throw_bad_input("{}: the dataset has no nodes", where);
  expect_pointers(where, "graph_ptr", dataset.graph_ptr, nodes, "nodes");
  expect_pointers(where, "edge_ptr", dataset.edge_ptr, edges, "edges");
  if (dataset.edge_ptr.size() != dataset.graph_ptr.size())
    throw_bad_input("{}: graph_ptr describes {} graphs but edge_ptr {}", where,
                    dataset.graph_ptr.size() - 1, dataset.edge_ptr.size() - 1);
  if (dataset.task == Task::node && dataset.num_graphs() != 1)
    throw_bad_input("{}: a node dataset has one graph, this one has {}", where,
                    dataset.num_graphs());
  for (std::size_t g = 0; dataset.num_graphs() > 1 && g + 1 < dataset.graph_ptr.size(); ++g)
    for (EdgeId e = dataset.edge_ptr[g]; e < dataset.edge_ptr[g + 1]; ++e)
      for (const NodeId end : {dataset.graph.source(e), dataset.graph.target(e)})
        if (end < dataset.graph_ptr[g] || end >= dataset.graph_ptr[g + 1])
          throw_bad_input(
              "{}: edge_index: edge {} of graph {} names node {}, which is in another graph", where,
              e, g, end);

  if (dataset.x.rows() != nodes)
    throw_bad_input("{}: x has {} rows, expected {} (one per node)", where, dataset.x.rows(),
                    nodes);
  if (dataset.x.cols() == 0)
    throw_bad_input("{}: x has no columns; give every node a constant 1", where);
  expect_finite(where, "x", dataset.x.data(), dataset.x.rows(), dataset.x.cols());
  expect_size(where, "y", dataset.y.size(), dataset.num_instances(), instance);
  bool labels_fit = true;
  for (const std::int64_t label : dataset.y)
    labels_fit = labels_fit & (label >= 0 && label < 1'000'000);
  for (std::size_t i = 0; !labels_fit && i < dataset.y.size(); ++i)
    if (dataset.y[i] < 0 || dataset.y[i] >= 1'000'000)
      throw_bad_input("{}: y[{}] is {}; labels are 0, 1, 2, ...", where, i, dataset.y[i]);

  expect_size(where, "train_mask", dataset.train_mask.size(), dataset.num_instances(), instance);
  expect_size(where, "val_mask", dataset.val_mask.size(), dataset.num_instances(), instance);
  expect_size(where, "test_mask", dataset.test_mask.size(), dataset.num_instances(), instance);
  bool disjoint = true;
  for (std::size_t i = 0; i < dataset.train_mask.size(); ++i)
    disjoint = disjoint & (dataset.train_mask[i] + dataset.val_mask[i] + dataset.test_mask[i] <= 1);
  for (std::size_t i = 0; !disjoint && i < dataset.train_mask.size(); ++i)
    if (dataset.train_mask[i] + dataset.val_mask[i] + dataset.test_mask[i] > 1)
      throw_bad_input("{}: {} {} is in more than one of train_mask, val_mask and test_mask", where,
                      instance, i);

  if (!dataset.edge_gt.empty())
    expect_size(where, "edge_gt", dataset.edge_gt.size(), edges, "edge");
  if (!dataset.edge_weight.empty()) {
    expect_size(where, "edge_weight", dataset.edge_weight.size(), edges, "edge");
    expect_finite(where, "edge_weight", dataset.edge_weight.data(), edges, 1);
  }
  if (dataset.edge_attr.cols() > 0) {
    expect_size(where, "edge_attr", static_cast<std::size_t>(dataset.edge_attr.rows()), edges,
                "edge");
    expect_finite(where, "edge_attr", dataset.edge_attr.data(), edges, dataset.edge_attr.cols());
  }
  for (const std::int64_t instance_id : dataset.eval_instances)
    if (instance_id < 0 || instance_id >= dataset.num_instances())
      throw_bad_input("{}: the evaluated {} {} does not exist; they are 0 to {}", where, instance,
                      instance_id, dataset.num_instances() - 1);
}

void split_80_10_10(Dataset& dataset, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(dataset.num_instances());
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomStream(seed, RandomPurpose::split).shuffle(order);
  dataset.train_mask.assign(count, 0);
  dataset.val_mask.assign(count, 0);
  dataset.test_mask.assign(count, 0);
  const std::size_t train = count * 8 / 10;
  const std::size_t val = count * 9 / 10;
  for (std::size_t i = 0; i < count; ++i)
    (i < train ? dataset.train_mask : i < val ? dataset.val_mask : dataset.test_mask)[order[i]] = 1;
}

std::vector<std::string> warnings(const Dataset& dataset) {
  std::vector<std::string> result;
  const Graph& graph = dataset.graph;
  std::vector<std::int64_t> count(static_cast<std::size_t>(dataset.num_classes()), 0);
  for (const std::int64_t label : dataset.y) ++count[static_cast<std::size_t>(label)];
  for (std::size_t c = 0; c < count.size(); ++c)
    if (count[c] == 0) result.push_back(fmt::format("class {} never occurs", c));
  if (count.size() == 1)
    result.emplace_back("there is only one class: nothing to learn or explain");
  NodeId isolated = 0;
  for (NodeId v = 0; v < graph.num_nodes(); ++v)
    isolated += graph.in_degree(v) + graph.out_degree(v) == 0 ? 1 : 0;
  if (isolated > 0) result.push_back(fmt::format("{} nodes have no edge", isolated));
  if (graph.num_self_loops() > 0)
    result.push_back(fmt::format("{} edges are self-loops", graph.num_self_loops()));
  if (graph.num_duplicate_edges() > 0)
    result.push_back(fmt::format("{} edges repeat another edge", graph.num_duplicate_edges()));
  if (!graph.is_undirected())
    result.emplace_back("the graph is directed: some edges have no edge in the other direction");
  std::int64_t empty = 0;
  for (std::size_t g = 0; g + 1 < dataset.edge_ptr.size(); ++g)
    empty += dataset.edge_ptr[g] == dataset.edge_ptr[g + 1] ? 1 : 0;
  if (empty > 0)
    result.push_back(fmt::format("{} graphs have no edge, nothing to explain there", empty));
  const auto none = [](const std::vector<std::uint8_t>& mask) {
    return std::find(mask.begin(), mask.end(), 1) == mask.end();
  };
  if (none(dataset.train_mask)) result.emplace_back("the training set is empty");
  if (none(dataset.val_mask)) result.emplace_back("the validation set is empty");
  if (none(dataset.test_mask)) result.emplace_back("the test set is empty");
  return result;
}

std::uint64_t fingerprint(const Dataset& dataset) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a over 64-bit words
  const auto add = [&](const void* data, std::size_t bytes) {
    const auto* byte = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, byte + i, std::min<std::size_t>(8, bytes - i));
      hash = (hash ^ word) * 0x100000001B3ULL;
      hash ^= hash >> 29;
    }
    hash = (hash ^ bytes) * 0x100000001B3ULL;
  };
  const auto add_all = [&](const auto& array) {
    add(array.data(), static_cast<std::size_t>(array.size()) * sizeof(*array.data()));
  };
  add_all(dataset.graph.sources());
  add_all(dataset.graph.targets());
  add_all(dataset.graph_ptr);
  add_all(dataset.x);
  add_all(dataset.y);
  add_all(dataset.train_mask);
  add_all(dataset.val_mask);
  add_all(dataset.test_mask);
  add_all(dataset.edge_weight);
  add_all(dataset.edge_attr);
  return hash;
}

}  // namespace pgexplainer
