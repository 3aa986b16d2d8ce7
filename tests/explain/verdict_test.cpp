#include "pgexplainer/explain/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pgexplainer/explain/explainer.h"
#include "tests/explain/small_problem.h"
#include "tests/support/expect_error.h"

namespace pgexplainer {
namespace {

/// Class 1 of a graph has the logit slope * (sum over edges of mask * x of the sender) + bias,
/// class 0 has 0.
class MarkedSenders final : public Gnn {
 public:
  MarkedSenders(float slope, float bias) : slope_(slope), bias_(bias) {}
  [[nodiscard]] Task task() const override { return Task::graph; }
  [[nodiscard]] Index num_features() const override { return 1; }
  [[nodiscard]] Index num_classes() const override { return 2; }
  [[nodiscard]] int num_hops() const override { return 1; }
  [[nodiscard]] Matrix<float> embed(const GnnInput<float>& input, Embedding) const override {
    return *input.x;
  }
  [[nodiscard]] std::unique_ptr<GnnRun> new_run() const override {
    return std::make_unique<Run>(slope_, bias_);
  }

 private:
  class Run final : public GnnRun {
   public:
    Run(float slope, float bias) : slope_(slope), bias_(bias) {}
    const Matrix<float>& forward(const GnnInput<float>& input,
                                 std::span<const float> mask) override {
      input_ = &input;
      float sum = 0;
      for_each_edge(input, [&](EdgeId e, NodeId source) {
        sum += (mask.empty() ? 1.0F : mask[at(e)]) * (*input.x)(source, 0);
      });
      logits_.setZero(1, 2);
      logits_(0, 1) = slope_ * sum + bias_;
      return logits_;
    }
    void backward(const Matrix<float>& dlogits, std::span<float> dmask,
                  Matrix<float>* dx) override {
      if (dx) dx->setZero(input_->x->rows(), 1);
      for_each_edge(*input_, [&](EdgeId e, NodeId source) {
        if (!dmask.empty()) dmask[at(e)] += slope_ * dlogits(0, 1) * (*input_->x)(source, 0);
        if (dx) (*dx)(source, 0) += slope_ * dlogits(0, 1);
      });
    }
    const Matrix<float>& embed(const GnnInput<float>& input, Embedding) override {
      return *input.x;
    }

   private:
    template <class Body>
    static void for_each_edge(const GnnInput<float>& input, Body&& body) {
      const Adjacency& graph = input.graph;
      for (NodeId v = 0; v < graph.num_nodes(); ++v)
        for (EdgeId k = graph.in_ptr[at(v)]; k < graph.in_ptr[at(v) + 1]; ++k)
          body(graph.edge_of(k), graph.in_source[at(k)]);
    }
    float slope_, bias_;
    const GnnInput<float>* input_ = nullptr;
    Matrix<float> logits_;
  };
  float slope_, bias_;
};

/// Stars of 20 leaves, of which some are marked: each star is a graph.
Dataset marked_stars(NodeId marked) {
  constexpr NodeId kStars = 8, kLeaves = 20, kNodes = kLeaves + 1;
  Dataset dataset;
  dataset.name = "stars";
  dataset.task = Task::graph;
  std::vector<NodeId> source, target;
  dataset.x.setZero(kStars * kNodes, 1);
  dataset.graph_ptr = {0};
  dataset.edge_ptr = {0};
  for (NodeId star = 0; star < kStars; ++star) {
    const NodeId centre = star * kNodes;
    for (NodeId leaf = 1; leaf <= kLeaves; ++leaf) {
      source.insert(source.end(), {centre, centre + leaf});
      target.insert(target.end(), {centre + leaf, centre});
    }
    for (NodeId m = 0; m < marked; ++m) dataset.x(centre + 1 + (star + 3 * m) % kLeaves, 0) = 1.0F;
    dataset.graph_ptr.push_back((star + 1) * kNodes);
    dataset.edge_ptr.push_back(static_cast<EdgeId>(source.size()));
    dataset.y.push_back(0);
  }
  dataset.graph = Graph(kStars * kNodes, source, target);
  return dataset;
}

/// Explains by the marks themselves, or by their opposite.
class ByMark final : public Explainer {
 public:
  explicit ByMark(float sign) : sign_(sign) {}
  [[nodiscard]] std::string_view method() const override { return "mark"; }
  [[nodiscard]] Scores score(const InstanceGraph& graph, GnnRun&) const override {
    Scores scores;
    for (std::size_t e = 0; e < graph.source.size(); ++e)
      scores.edge.push_back(sign_ * (graph.x(graph.source[e], 0) + graph.x(graph.target[e], 0)));
    return scores;
  }

 private:
  float sign_;
};

Verdict verdict_of(const SmallProblem& p, Explainer& method) {
  ThreadPool pool(1);
  return judge(p.model, explain(p.model, method, instances_between(0, 8), {}, pool), pool);
}
Verdict verdict_of(const SmallProblem& p, float sign) {
  ByMark method(sign);
  return verdict_of(p, method);
}

TEST(Verdict, TellsTheEdgesThatDecideFromTheOthers) {
  const SmallProblem p(marked_stars(2), std::make_shared<MarkedSenders>(8.0F, -12.0F));
  const Verdict good = verdict_of(p, 1.0F);
  EXPECT_TRUE(good.reliable);
  EXPECT_EQ(good.instances, 8);
  EXPECT_DOUBLE_EQ(good.size, 0.1);  // two of twenty edges
  EXPECT_EQ(good.own.held, 1.0);
  EXPECT_EQ(good.own.broken, 1.0);
  EXPECT_GT(good.score(), 0.8);
  EXPECT_EQ(good.without_edges, 0.0);
  EXPECT_TRUE(good.classes_without_edges.empty());
  ASSERT_EQ(good.others.size(), 4U);
  EXPECT_EQ(good.others[0].ranking, "random");
  EXPECT_LT(good.others[0].held, 0.5);
  EXPECT_LT(good.others[0].gap, 0.4);
  EXPECT_GT(good.others[3].gap, 0.8);  // |dL/dA| finds the marks, too
  EXPECT_NE(
      in_words(good).find("10 % of the edges hold 100 % of predictions; without them 100 % break"),
      std::string::npos)
      << in_words(good);
}

TEST(Verdict, OfTheOppositeRankingIsTheNegative) {
  const SmallProblem p(marked_stars(2), std::make_shared<MarkedSenders>(8.0F, -12.0F));
  const Verdict good = verdict_of(p, 1.0F), bad = verdict_of(p, -1.0F);
  EXPECT_LT(bad.own.gap, -0.8);
  EXPECT_LT(bad.score(), 0.0);
  EXPECT_FALSE(bad.reliable);
  EXPECT_NE(in_words(bad).find("do not rely on this: the lowest-ranked edges"), std::string::npos);
  // Ties of the unmarked edges are broken in the same direction both times, so not exactly.
  EXPECT_NEAR(bad.own.gap, -good.own.gap, 0.1);
}

TEST(Verdict, DoesNotTrustARankingWhoseTailMatters) {
  class OneMarkLast final : public Explainer {
   public:
    [[nodiscard]] std::string_view method() const override { return "one mark last"; }
    [[nodiscard]] Scores score(const InstanceGraph& graph, GnnRun& run) const override {
      Scores scores = ByMark(1.0F).score(graph, run);
      NodeId last = kNoNode;
      for (std::size_t e = 0; e < graph.source.size(); ++e) {
        const NodeId leaf = std::max(graph.source[e], graph.target[e]);
        if (scores.edge[e] > 0 && (last == kNoNode || last == leaf)) {
          last = leaf;
          scores.edge[e] = -1.0F;
        }
      }
      return scores;
    }
  } one_mark_last;
  // Two of the three marks still tell much, but not the class.
  const SmallProblem p(marked_stars(3), std::make_shared<MarkedSenders>(3.0F, -6.5F));
  const Verdict verdict = verdict_of(p, one_mark_last);
  const auto probability = [](double logit) { return 1 / (1 + std::exp(-logit)); };
  EXPECT_GT(verdict.own.gap, 0.2);
  EXPECT_NEAR(verdict.own.tail_loss, probability(2.5) - probability(-0.5), 1e-6);
  EXPECT_NEAR(verdict.set_apart, 0.1, 1e-6);  // two of twenty, which does not make up for it
  EXPECT_NEAR(verdict.score(), 2 - verdict.own.tail_loss / 0.3, 1e-12);
  EXPECT_FALSE(verdict.reliable);
  EXPECT_NE(in_words(verdict).find("the last tenth of the ranking matters"), std::string::npos)
      << in_words(verdict);
  EXPECT_TRUE(verdict_of(p, 1.0F).reliable);
  EXPECT_NEAR(verdict_of(p, 1.0F).own.tail_loss, 0.0, 1e-6);
}

TEST(Verdict, WhereEveryEdgeMattersTrustsScoresThatSetFewApart) {
  Verdict verdict;
  verdict.common.gap = 0.25;
  verdict.common.tail_loss = 0.25;  // more than a ranking could afford by itself
  verdict.size = 0.6;               // no less than is set apart
  verdict.set_apart = 0.2;
  EXPECT_NEAR(verdict.score(), 0.6, 1e-12);
  verdict.set_apart = 0.6;
  EXPECT_NEAR(verdict.score(), -0.2, 1e-12);
  verdict.common.tail_loss = 0.1;  // half of each
  EXPECT_NEAR(verdict.score(), 0.5 * (2.0 / 3) + 0.5 * -0.2, 1e-12);
  verdict.common.tail_loss = 0;  // the size of the group does not matter
  EXPECT_NEAR(verdict.score(), 0.25 / 0.3, 1e-12);
  verdict.common.gap = -0.5;
  EXPECT_EQ(verdict.score(), -1);
}

TEST(Verdict, HasLessInCommonTheMoreInstancesGainByTheirOwnOrders) {
  Verdict verdict;
  verdict.common.gap = verdict.own.gap = 0.8;
  EXPECT_EQ(verdict.score(), 1);
  verdict.own.gap = 0.88;  // 0.4 of the 0.2 that were left
  EXPECT_NEAR(verdict.score(), 0.8, 1e-12);
  verdict.own.gap = 0.7;  // worse orders of their own say nothing of the one in common
  EXPECT_EQ(verdict.score(), 1);
  verdict.common.gap = verdict.own.gap = 1;
  EXPECT_EQ(verdict.score(), 1);
}

TEST(Verdict, HasLessInCommonWhereScoresSingleOutMoreEdgesThanItTakes) {
  Verdict verdict;
  verdict.common.gap = verdict.own.gap = 0.8;
  verdict.size = 0.1;
  verdict.set_apart = 0.1;
  EXPECT_EQ(verdict.score(), 1);
  verdict.set_apart = 0.4;
  EXPECT_NEAR(verdict.score(), 0.7, 1e-12);
  verdict.own.gap = 0.88;  // and orders of their own
  EXPECT_NEAR(verdict.score(), 0.5, 1e-12);
  verdict.size = 0.6;  // most of the edges are needed
  EXPECT_NEAR(verdict.score(), 0.8, 1e-12);
}

TEST(Verdict, ShareSetApartIsThatOfTheUpperGroup) {
  EXPECT_DOUBLE_EQ(share_set_apart({1, 9, 1, 1, 1}), 0.2);
  EXPECT_DOUBLE_EQ(share_set_apart({9, 8, 9, 1}), 0.75);
  EXPECT_DOUBLE_EQ(share_set_apart({0, 1, 2, 3}), 0.5);
  EXPECT_DOUBLE_EQ(share_set_apart({3, 3, 3}), 1.0);
  EXPECT_DOUBLE_EQ(share_set_apart({3}), 1.0);
}

TEST(Verdict, JudgesTheOrderInCommonBesideTheExplanations) {
  const SmallProblem p(marked_stars(2), std::make_shared<MarkedSenders>(8.0F, -12.0F));
  ThreadPool pool(1);
  ByMark good(1.0F), bad(-1.0F);
  const std::vector<Instance> instances = instances_between(0, 8);
  const auto explained = explain(p.model, good, instances, {}, pool);
  const auto common = explain(p.model, bad, instances, {}, pool);
  const Verdict alone = judge(p.model, explained, pool);
  EXPECT_EQ(alone.common.gap, alone.own.gap);
  EXPECT_TRUE(alone.reliable);
  const Verdict both = judge(p.model, explained, pool, common);
  EXPECT_EQ(both.own.gap, alone.own.gap);
  EXPECT_LT(both.common.gap, -0.8);
  EXPECT_LT(both.score(), 0);
  EXPECT_FALSE(both.reliable);
}

TEST(Verdict, SaysThatAnotherRankingDoesBetter) {
  class ByNumber final : public Explainer {
   public:
    [[nodiscard]] std::string_view method() const override { return "number"; }
    [[nodiscard]] Scores score(const InstanceGraph& graph, GnnRun&) const override {
      Scores scores;
      for (std::size_t e = 0; e < graph.source.size(); ++e)
        scores.edge.push_back(static_cast<float>(graph.source[e] + graph.target[e]));
      return scores;
    }
  } by_number;
  const SmallProblem p(marked_stars(2), std::make_shared<MarkedSenders>(8.0F, -12.0F));
  const Verdict verdict = verdict_of(p, by_number);
  EXPECT_FALSE(verdict.reliable);
  EXPECT_NE(in_words(verdict).find("does better at this size"), std::string::npos)
      << in_words(verdict);
}

TEST(Verdict, SaysThatAClassNeedsNoEdge) {
  // Class 1 also without edges; marked senders only make it surer.
  const SmallProblem p(marked_stars(2), std::make_shared<MarkedSenders>(1.0F, 0.5F));
  const Verdict verdict = verdict_of(p, 1.0F);
  EXPECT_EQ(verdict.without_edges, 1.0);
  EXPECT_EQ(verdict.classes_without_edges, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(verdict.own.broken, 0.0);
  EXPECT_NE(in_words(verdict).find("100 % of predictions need no edge: the network gives class 1"),
            std::string::npos);
}

TEST(Verdict, DoesNotTrustScoresThatChangeNothing) {
  const SmallProblem p(marked_stars(2), std::make_shared<MarkedSenders>(0.0F, 0.5F));
  const Verdict verdict = verdict_of(p, 1.0F);
  EXPECT_FALSE(verdict.reliable);
  EXPECT_EQ(verdict.score(), 0.0);
  EXPECT_EQ(verdict.reasons.size(), 2U);
}

TEST(Verdict, OfNothingIsNotReliable) {
  const SmallProblem p(marked_stars(1), std::make_shared<MarkedSenders>(8.0F, -4.0F));
  ThreadPool pool(1);
  const Verdict verdict = judge(p.model, {}, pool);
  EXPECT_FALSE(verdict.reliable);
  EXPECT_EQ(verdict.instances, 0);
  EXPECT_EQ(in_words(verdict), "do not rely on this: no judged instance has an edge");
}

TEST(Verdict, IsTheSameForAnyNumberOfThreads) {
  const SmallProblem p(small_ba_2motifs(1));
  ByMark method(1.0F);
  for (const int threads : {2, 3}) {
    ThreadPool one(1), several(threads);
    const auto explained = explain(p.model, method, instances_between(0, 12), {}, one);
    EXPECT_EQ(to_json(judge(p.model, explained, one)), to_json(judge(p.model, explained, several)));
  }
}

TEST(Verdict, RefusesExplanationsOfSomeEdges) {
  const SmallProblem p(marked_stars(1), std::make_shared<MarkedSenders>(8.0F, -4.0F));
  ByMark method(1.0F);
  ThreadPool pool(1);
  auto explained = explain(p.model, method, instances_between(0, 1), {}, pool);
  keep_selected(explained.front());
  expect_bad_input([&] { judge(p.model, explained, pool); }, {"instance 0", "every edge"});
}

TEST(Confidence, IsWhatTheSelectedEdgesKeepAndTheOthersDoNot) {
  Explanation explanation;
  EXPECT_TRUE(std::isnan(explanation.confidence()));
  explanation.prediction.probability = {0.2F, 0.8F};
  explanation.prediction_kept.probability = {0.4F, 0.6F};
  explanation.prediction_removed.probability = {0.8F, 0.2F};
  EXPECT_NEAR(explanation.confidence(), 0.5, 1e-6);
  explanation.prediction_removed.probability = {0.1F, 0.9F};  // it does not need them
  EXPECT_EQ(explanation.confidence(), 0.0);
}

}  // namespace
}  // namespace pgexplainer
