#include "pgexplainer/explain/attention.h"

#include <gtest/gtest.h>

#include "tests/support/small_explained_model.h"

namespace pgexplainer {
namespace {

using Vector = Eigen::VectorXd;

/// GATConv by its formula (Velickovic et al., Eq. 1-3) on dense loops: the mean attention over
/// heads of every edge; x becomes the layer's output after tanh.
std::vector<double> gat_by_hand(const SmallExplainedModel& m, const std::string& name,
                                Matrix<double>& x) {
  const auto parameter = [&](const std::string& part, Index rows, Index cols) {
    const Parameter* p = m.model->layout().find(name + part);
    Matrix<double> value(rows, cols);
    for (Index i = 0; i < value.size(); ++i)
      value.data()[i] = static_cast<double>(m.model->theta()[p->offset + at(i)]);
    return value;
  };
  constexpr Index kHeads = 2, kWidth = 4;
  const Matrix<double> weight = parameter(".lin.weight", kHeads * kWidth, x.cols());
  const Matrix<double> from = parameter(".att_src", kHeads, kWidth);
  const Matrix<double> to = parameter(".att_dst", kHeads, kWidth);
  const Matrix<double> bias = parameter(".bias", 1, kHeads * kWidth);
  const auto source = m.dataset.graph.sources();
  const auto target = m.dataset.graph.targets();
  const Matrix<double> v = x * weight.transpose();
  std::vector<double> mean(source.size(), 0.0);
  Matrix<double> out(x.rows(), kHeads * kWidth);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index h = 0; h < kHeads; ++h) {
      const auto part = [&](Index n) -> Vector {
        return v.row(n).segment(h * kWidth, kWidth).transpose();
      };
      const auto weight_of = [&](Index j) {
        const double raw = from.row(h).dot(part(j)) + to.row(h).dot(part(i));
        return std::exp(raw > 0 ? raw : 0.2 * raw);
      };
      double total = weight_of(i);  // the layer's own self-loop
      Vector sum = weight_of(i) * part(i);
      for (std::size_t e = 0; e < source.size(); ++e)
        if (target[e] == i) {
          total += weight_of(source[e]);
          sum += weight_of(source[e]) * part(source[e]);
        }
      for (std::size_t e = 0; e < source.size(); ++e)
        if (target[e] == i) mean[e] += weight_of(source[e]) / total / kHeads;
      out.row(i).segment(h * kWidth, kWidth) = (sum / total).transpose();
    }
  x = (out.rowwise() + bias.row(0)).array().tanh();
  return mean;
}

TEST(Attention, IsTheMeanOverHeadsAndLayers) {
  for (const bool directed : {false, true}) {
    const EdgeList edges = directed ? triangle_with_tail() : undirected(triangle_with_tail());
    const SmallExplainedModel model(kGat, Task::node, 6, edges);
    Attention method;
    ASSERT_TRUE(method.supports(*model.explained));
    Matrix<double> x = model.dataset.x.cast<double>();
    const std::vector<double> first = gat_by_hand(model, "conv0", x);
    const std::vector<double> second = gat_by_hand(model, "conv1", x);
    for (const std::int64_t id : {2, 3, 5}) {
      const std::vector<double> score = model.scores(method, id);
      for (std::size_t e = 0; e < score.size(); ++e)
        if (!std::isnan(score[e])) {
          EXPECT_NEAR(score[e], (first[e] + second[e]) / 2, 1e-6) << e;
        }
    }
  }
}

TEST(Attention, OfEveryLayerThatAttendsSumsToOnePerNode) {
  for (const char* layer : {R"({"type":"GATConv","heads":3,"add_self_loops":false})",
                            R"({"type":"GATv2Conv","heads":3,"add_self_loops":false})",
                            R"({"type":"TransformerConv","heads":3})"}) {
    const SmallExplainedModel model(layer, Task::node, 6, undirected(triangle_with_tail()));
    const Matrix<float> attention = model.explained->gnn().attention(model.explained->whole());
    ASSERT_EQ(attention.rows(), 2) << layer;
    ASSERT_EQ(attention.cols(), 10);
    for (Index row = 0; row < 2; ++row) {
      std::vector<float> sum(6, 0.0F);
      for (Index e = 0; e < 10; ++e)
        sum[at(model.dataset.graph.targets()[at(e)])] += attention(row, e);
      for (NodeId i = 0; i < 5; ++i) EXPECT_NEAR(sum[at(i)], 1.0F, 1e-5F) << layer;
    }
  }
}

TEST(Attention, ComputesEveryRowOfAComputationGraph) {
  const SmallExplainedModel model(kGat, Task::node, 6, undirected(triangle_with_tail()));
  const InstanceGraph graph = model.cut(0);
  ASSERT_FALSE(graph.nodes_within.empty());
  const Matrix<float> attention = model.explained->gnn().attention(graph.input());
  EXPECT_GT(attention.minCoeff(), 0.0F);
}

TEST(Attention, RefusesANetworkWithoutItAndSaysWhatToTrain) {
  const SmallExplainedModel model(kSum, Task::node, 6, undirected(triangle_with_tail()));
  EXPECT_EQ(model.explained->gnn().attention(model.explained->whole()).rows(), 0);
  const Support support = Attention().supports(*model.explained);
  EXPECT_FALSE(support);
  EXPECT_NE(support.reason.find("pgexplainer train --arch gat"), std::string::npos);
}

}  // namespace
}  // namespace pgexplainer
