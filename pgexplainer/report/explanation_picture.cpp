#include "pgexplainer/report/explanation_picture.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/edge_pairs.h"

namespace pgexplainer {
namespace {

std::string instance_name(const Explanation& explanation) {
  const Instance& instance = explanation.instance;
  if (instance.is_link()) return fmt::format("link {}-{}", instance.id, instance.second);
  return fmt::format("{} {}", explanation.targets.empty() ? "graph" : "node", instance.id);
}

/// The nodes that are drawn: all, or of a large instance the ends of selected edges, the targets
/// and then their neighbours, best edges first, up to the limit.
std::vector<NodeId> drawn_nodes(const Explanation& explanation, std::int64_t limit) {
  if (static_cast<std::int64_t>(explanation.nodes.size()) <= limit) return explanation.nodes;
  std::vector<NodeId> drawn;
  std::set<NodeId> known;
  const auto add = [&](NodeId node) {
    if (static_cast<std::int64_t>(drawn.size()) < limit && known.insert(node).second)
      drawn.push_back(node);
  };
  for (const NodeId node : explanation.targets) add(node);
  for (std::size_t e = 0; e < explanation.edges.size(); ++e)
    if (!explanation.selected.empty() && explanation.selected[e]) {
      add(explanation.source[e]);
      add(explanation.target[e]);
    }
  std::vector<std::size_t> order(explanation.edges.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return explanation.score[a] > explanation.score[b];
  });
  for (const std::size_t e : order) {
    if (known.contains(explanation.source[e])) add(explanation.target[e]);
    if (known.contains(explanation.target[e])) add(explanation.source[e]);
  }
  return drawn;
}

}  // namespace

GraphPicture explanation_picture(const Dataset& dataset, const Explanation& explanation,
                                 const ExplanationPictureOptions& options) {
  GraphPicture picture;
  const std::vector<NodeId> nodes = drawn_nodes(explanation, options.max_nodes);
  std::unordered_map<NodeId, NodeId> position;
  std::set<int> classes;
  for (const NodeId node : nodes) {
    position.emplace(node, static_cast<NodeId>(picture.nodes.size()));
    PictureNode drawn;
    drawn.id = node;
    drawn.is_target = std::find(explanation.targets.begin(), explanation.targets.end(), node) !=
                      explanation.targets.end();
    if (!dataset.node_type_names.empty()) {
      Index type = 0;
      dataset.x.row(node).maxCoeff(&type);
      drawn.class_index = static_cast<int>(type);
      if (at(type) < dataset.node_type_names.size())
        drawn.label = dataset.node_type_names[at(type)];
    } else if (dataset.task == Task::node && !dataset.y.empty()) {
      drawn.class_index = static_cast<int>(dataset.y[at(node)]);
    }
    classes.insert(drawn.class_index);
    picture.nodes.push_back(std::move(drawn));
  }

  const EdgePairs pairs(explanation.reverse);
  std::vector<float> score;
  pairs.mean<float>(explanation.score, score);
  const auto [low, high] = std::minmax_element(score.begin(), score.end());
  const bool know_motif = options.ground_truth && !dataset.edge_gt.empty();
  bool any_motif = false;
  for (EdgeId pair = 0; pair < pairs.count(); ++pair) {
    const std::size_t e = at(pairs.first[at(pair)]);
    const auto source = position.find(explanation.source[e]);
    const auto target = position.find(explanation.target[e]);
    if (source == position.end() || target == position.end()) continue;
    PictureEdge edge;
    edge.source = source->second;
    edge.target = target->second;
    edge.score = *high > *low ? (score[at(pair)] - *low) / (*high - *low) : 0.5F;
    edge.selected = !explanation.selected.empty() && explanation.selected[e] != 0;
    if (know_motif) {
      const EdgeId back = explanation.reverse[e];
      edge.ground_truth =
          dataset.edge_gt[at(explanation.edges[e])] != 0 ||
          (back != kNoEdge && dataset.edge_gt[at(explanation.edges[at(back)])] != 0);
      any_motif = any_motif || edge.ground_truth;
    }
    picture.edges.push_back(edge);
  }

  picture.title = options.title.empty() ? instance_name(explanation) : options.title;
  if (nodes.size() < explanation.nodes.size())
    picture.caption = fmt::format("the {} nodes nearest to the explanation, of {}", nodes.size(),
                                  explanation.nodes.size());
  using Mark = LegendEntry::Mark;
  if (!explanation.targets.empty()) picture.legend.push_back({Mark::target_node, "explained"});
  picture.legend.push_back({Mark::selected_edge, "explanation"});
  if (any_motif) picture.legend.push_back({Mark::ground_truth_edge, "motif"});
  if (dataset.node_type_names.empty() && classes.size() > 1)
    for (const int c : classes)
      picture.legend.push_back({Mark::node_class, fmt::format("class {}", c), c});
  return picture;
}

}  // namespace pgexplainer
