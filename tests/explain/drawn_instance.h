// An instance of a small problem with an order of its edges drawn at random.
#pragma once

#include <memory>
#include <vector>

#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/explain/refinement.h"
#include "tests/explain/small_problem.h"

namespace pgexplainer {

struct DrawnInstance {
  std::unique_ptr<GnnRun> run;
  InstanceGraph graph;
  EdgePairs pairs;
  std::size_t c;
  std::vector<float> place;

  DrawnInstance(const SmallProblem& p, std::int64_t id)
      : run(p.gnn->new_run()),
        graph(cut(p, id)),
        pairs(graph.reverse),
        c(at(predict(graph, *run, {}).predicted_class())) {
    RandomStream random(at(id), RandomPurpose::test);
    for (EdgeId k = 0; k < pairs.count(); ++k) place.push_back(static_cast<float>(random.normal()));
    place = places_of(place);
  }
  static InstanceGraph cut(const SmallProblem& p, std::int64_t id) {
    InstanceGraph graph;
    p.model.new_cutter().cut({id}, graph);
    return graph;
  }
  double gap(const std::vector<float>& order) const {
    return keep_and_remove(graph, pairs, order, c, *run).small_gap();
  }
  double gap_of_ten(const std::vector<float>& order) const {
    return gap_of_best(10, graph, pairs, order, c, *run);
  }
  double gap_by(const Explainer& method) const {
    std::vector<float> of_pair;
    pairs.mean<float>(method.score(graph, *run).edge, of_pair);
    return gap(of_pair);
  }
};

}  // namespace pgexplainer
