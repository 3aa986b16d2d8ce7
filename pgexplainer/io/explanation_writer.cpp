#include "pgexplainer/io/explanation_writer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

template <class Id>
void check_ids(const std::vector<Id>& ids, const char* name, const std::string& where) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0)
      throw_bad_input("{}: {} has {} at position {}, expected a number from 0 on", where, name,
                      ids[i], i);
}

void check_finite(const std::vector<float>& values, const char* name, const std::string& where) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw_bad_input("{}: {} has {} at position {}, expected a finite number", where, name,
                      values[i], i);
}

void check_distinct(std::vector<EdgeId> edges, const std::string& where) {
  std::sort(edges.begin(), edges.end());
  const auto twice = std::adjacent_find(edges.begin(), edges.end());
  if (twice != edges.end()) throw_bad_input("{}: edge {} occurs twice", where, *twice);
}

// As Graph::pair_reverse_edges, with sorting by comparison: the nodes of an instance may be any.
std::vector<EdgeId> reverse_positions(const Explanation& explanation) {
  const std::size_t edges = explanation.edges.size();
  const auto sorted = [&](auto&& key) {
    std::vector<std::size_t> order(edges);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(key(a), explanation.edges[a]) < std::tuple(key(b), explanation.edges[b]);
    });
    return order;
  };
  const auto forward_key = [&](std::size_t e) {
    return std::tuple(explanation.source[e], explanation.target[e]);
  };
  const auto backward_key = [&](std::size_t e) {
    return std::tuple(explanation.target[e], explanation.source[e]);
  };
  const std::vector<std::size_t> forward = sorted(forward_key);
  const std::vector<std::size_t> backward = sorted(backward_key);
  std::vector<EdgeId> reverse(edges, kNoEdge);
  std::size_t f = 0;
  std::size_t b = 0;
  while (f < edges && b < edges) {
    if (forward_key(forward[f]) == backward_key(backward[b])) {
      reverse[forward[f++]] = static_cast<EdgeId>(backward[b++]);
    } else if (forward_key(forward[f]) < backward_key(backward[b])) {
      ++f;
    } else {
      ++b;
    }
  }
  return reverse;
}

}  // namespace

ExplanationWriter::ExplanationWriter(const std::filesystem::path& path, ExplanationEncoder encode,
                                     WriterJob job)
    : path_(path), encode_(encode), file_(path, std::move(job.name), job.resume) {}

std::string instance_text(const Instance& instance) {
  return instance.is_link() ? fmt::format("{}-{}", instance.id, instance.second)
                            : fmt::format("{}", instance.id);
}

void check_explanation(const Explanation& explanation, const std::string& where) {
  if (explanation.instance.id < 0 || explanation.instance.second < Instance::kNone)
    throw_bad_input("{}: the instance is {}, expected numbers from 0 on", where,
                    instance_text(explanation.instance));
  const auto check_length = [&](std::size_t length, const char* name) {
    if (length != explanation.edges.size())
      throw_bad_input("{}: {} has {} entries for {} edges", where, name, length,
                      explanation.edges.size());
  };
  check_length(explanation.source.size(), "source");
  check_length(explanation.target.size(), "target");
  check_length(explanation.score.size(), "score");
  check_length(explanation.selected.size(), "selected");
  check_ids(explanation.edges, "edges", where);
  check_ids(explanation.source, "source", where);
  check_ids(explanation.target, "target", where);
  check_ids(explanation.nodes, "nodes", where);
  check_ids(explanation.targets, "targets", where);
  check_finite(explanation.score, "score", where);
  check_finite(explanation.feature_score, "feature_score", where);
  const std::size_t classes = explanation.prediction.probability.size();
  const auto check_prediction = [&](const Prediction& prediction, const char* name) {
    check_finite(prediction.probability, name, where);
    if (!prediction.probability.empty() && prediction.probability.size() != classes)
      throw_bad_input("{}: {} has {} classes, the prediction on the whole instance has {}", where,
                      name, prediction.probability.size(), classes);
  };
  check_prediction(explanation.prediction, "the prediction");
  check_prediction(explanation.prediction_kept, "the prediction with the selected edges");
  check_prediction(explanation.prediction_removed, "the prediction without the selected edges");
}

void complete_explanation(Explanation& explanation, const std::string& where) {
  check_explanation(explanation, where);
  check_distinct(explanation.edges, where);
  explanation.reverse = reverse_positions(explanation);
}

}  // namespace pgexplainer
