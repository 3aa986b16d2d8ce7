// The strip kernels against the obvious dense formulas.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/adam.h"
#include "pgexplainer/nn/aggregate.h"
#include "pgexplainer/nn/l2_norm.h"
#include "pgexplainer/nn/linear.h"
#include "tests/support/gradient_check.h"

namespace pgexplainer {
namespace {

RC_GTEST_PROP(LinearKernel, AgreesWithTheDenseProduct, ()) {
  const auto rows = *rc::gen::inRange<Index>(0, 600);
  const auto in = *rc::gen::inRange<Index>(1, 70);
  const auto out = *rc::gen::inRange<Index>(1, 70);
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1000), RandomPurpose::test);
  const Matrix<double> x = random_matrix(rows, in, random);
  const Matrix<double> w = random_matrix(out, in, random);
  const Matrix<double> b = random_matrix(1, out, random);
  const Matrix<double> dout = random_matrix(rows, out, random);
  const ConstMatrixView<double> weight(w.data(), out, in);

  Matrix<double> y;
  linear_forward<double>(x, rows, weight, b.data(), y);
  const Matrix<double> expected = (x * w.transpose()).rowwise() + b.row(0);
  RC_ASSERT(y.isApprox(expected, 1e-12) || rows == 0);

  Matrix<double> dx = random_matrix(rows, in, random);
  const Matrix<double> before = dx;
  Matrix<double> dw = random_matrix(out, in, random);
  const Matrix<double> dw_before = dw;
  Matrix<double> db = Matrix<double>::Zero(1, out);
  linear_backward<double>(x, weight, dout, &dx, true, dw.data(), db.data());
  RC_ASSERT((dx - (before + dout * w)).norm() < 1e-9);
  RC_ASSERT((dw - (dw_before + dout.transpose() * x)).norm() < 1e-9);
  RC_ASSERT((db - dout.colwise().sum()).norm() < 1e-9);
}

TEST(LinearKernel, SeesEveryChangeOfTheWeights) {
  RandomStream random(1, RandomPurpose::test);
  const Matrix<double> x = random_matrix(3, 20, random);
  Matrix<double> w = random_matrix(24, 20, random);
  Matrix<double> y;
  for (Index i = 0; i < w.size(); i += 37) {
    w.data()[i] += 1;
    linear_forward<double>(x, 3, ConstMatrixView<double>(w.data(), 24, 20), nullptr, y);
    EXPECT_TRUE(y.isApprox(x * w.transpose(), 1e-12)) << i;
    linear_forward<double>(x.leftCols(16), 3, ConstMatrixView<double>(w.data(), 30, 16), nullptr,
                           y);
    const ConstMatrixView<double> other_shape(w.data(), 30, 16);
    EXPECT_TRUE(y.isApprox(x.leftCols(16) * other_shape.transpose(), 1e-12)) << i;
  }
}

RC_GTEST_PROP(Aggregate, AgreesWithTheDenseAdjacency, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(1, 10);
  const auto count = *rc::gen::inRange<std::size_t>(0, 30);
  const auto end = rc::gen::inRange<NodeId>(0, nodes);
  const Graph graph(nodes, *rc::gen::container<std::vector<NodeId>>(count, end),
                    *rc::gen::container<std::vector<NodeId>>(count, end));
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1000), RandomPurpose::test);
  const auto cols = *rc::gen::inRange<Index>(1, 70);
  const Matrix<double> x = random_matrix(nodes, cols, random);
  std::vector<double> mask(count);
  for (double& m : mask) m = random.uniform();
  LayerContext<double> context;
  context.graph = graph.adjacency();
  context.num_rows = *rc::gen::inRange<NodeId>(1, nodes + 1);
  context.edge_mask = mask;

  Matrix<double> dense = Matrix<double>::Zero(context.num_rows, nodes);
  for (EdgeId e = 0; e < graph.num_edges(); ++e)
    if (graph.target(e) < context.num_rows) dense(graph.target(e), graph.source(e)) += mask[at(e)];
  std::vector<double> coefficient;
  edge_coefficients(context, coefficient);
  Matrix<double> out;
  aggregate(Aggregation::sum, context, coefficient, x, out);
  RC_ASSERT((out - dense * x).norm() < 1e-10);

  for (NodeId i = 0; i < context.num_rows; ++i)
    if (graph.in_degree(i) > 0) dense.row(i) /= static_cast<double>(graph.in_degree(i));
  aggregate(Aggregation::mean, context, coefficient, x, out);
  RC_ASSERT((out - dense * x).norm() < 1e-10);
}

// Nodes without features of their own are not gathered: nobody may see the difference.
RC_GTEST_PROP(Aggregate, ScalesOneRowOfZerosAndOnesToTheBitsOfTheSum, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(2, 10);
  const auto count = *rc::gen::inRange<std::size_t>(0, 60);
  const auto end = rc::gen::inRange<NodeId>(0, nodes);
  const Graph graph(nodes, *rc::gen::container<std::vector<NodeId>>(count, end),
                    *rc::gen::container<std::vector<NodeId>>(count, end));
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1000), RandomPurpose::test);
  const auto cols = *rc::gen::inRange<Index>(1, 70);
  Matrix<float> equal(nodes, cols);
  for (Index c = 0; c < cols; ++c) equal.col(c).setConstant(random.uniform() < 0.3 ? 0.0F : 1.0F);
  Matrix<float> gathered = equal;  // a node that no edge comes from differs, so rows are added
  gathered.conservativeResize(nodes + 1, cols);
  gathered.row(nodes).setConstant(2.0F);
  std::vector<float> coefficient(*rc::gen::arbitrary<bool>() ? count : 0);
  for (float& c : coefficient) c = static_cast<float>(random.uniform());
  LayerContext<float> context;
  context.graph = graph.adjacency();
  context.num_rows = nodes;
  const std::vector<NodeId> last{nodes - 1};
  if (*rc::gen::arbitrary<bool>()) context.rows = last;
  Matrix<float> scaled, sum;
  for (const Aggregation aggregation : {Aggregation::sum, Aggregation::mean}) {
    aggregate(aggregation, context, coefficient, equal, scaled);
    aggregate(aggregation, context, coefficient, gathered, sum);
    RC_ASSERT(scaled == sum);
  }
}

RC_GTEST_PROP(RowDots, HaveTheBitsOfEveryRowAlone, ()) {
  const auto rows = *rc::gen::inRange<Index>(0, 20);
  const auto cols = *rc::gen::inRange<Index>(1, 70);
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1000), RandomPurpose::test);
  const Matrix<float> a = random_matrix(rows, cols, random).cast<float>();
  const Matrix<float> b = random_matrix(rows, cols, random).cast<float>();
  std::vector<float> sums(at(rows));
  row_dots(a.data(), b.data(), rows, cols, sums.data());
  for (Index i = 0; i < rows; ++i) {
    float alone = 0;
    row_dots(a.row(i).data(), b.row(i).data(), 1, cols, &alone);
    RC_ASSERT(alone == sums[at(i)]);
    RC_ASSERT(std::abs(alone - a.row(i).dot(b.row(i))) < 1e-4F);
  }
}

RC_GTEST_PROP(L2NormKernel, AgreesWithTheFormulaWithAndWithoutRelu, ()) {
  const auto rows = *rc::gen::inRange<Index>(0, 200);
  const auto cols = *rc::gen::inRange<Index>(1, 70);
  const auto relu = *rc::gen::arbitrary<bool>();
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1000), RandomPurpose::test);
  Matrix<double> x = random_matrix(rows, cols, random);
  if (rows > 0) x.row(0).setZero();
  const Matrix<double> dy = random_matrix(rows, cols, random);

  Matrix<double> y, norm, dx;
  l2_norm_forward(x, relu, y, norm);
  l2_norm_backward(x, relu, y, norm, dy, dx);
  RC_ASSERT(y.rows() == rows && dx.rows() == rows && norm.rows() == rows);
  for (Index i = 0; i < rows; ++i) {
    const double length = std::max(x.row(i).norm(), 1e-12);
    const Eigen::RowVectorXd unit = x.row(i) / length;
    Eigen::RowVectorXd out = unit;
    Eigen::RowVectorXd d = dy.row(i);
    for (Index c = 0; relu && c < cols; ++c)
      if (unit(c) <= 0) out(c) = d(c) = 0;
    RC_ASSERT((y.row(i) - out).norm() < 1e-12);
    const Eigen::RowVectorXd expected = (d - unit * unit.dot(d)) / length;
    RC_ASSERT((dx.row(i) - expected).norm() < 1e-9 * (1 + expected.norm()));
  }
}

TEST(L2NormKernel, ReluKeepsNotANumber) {
  const Matrix<float> x = Matrix<float>::Constant(2, 23, std::nanf(""));
  Matrix<float> y, norm;
  l2_norm_forward(x, true, y, norm);
  for (Index i = 0; i < y.size(); ++i) EXPECT_TRUE(std::isnan(y.data()[i])) << i;
}

TEST(Adam, TakesTheStepsOfTheFormula) {
  AdamOptions options;
  options.lr = 0.1;
  options.weight_decay = 0.01;
  std::vector<double> theta{1.0, -2.0};
  const std::vector<std::uint8_t> trainable{1, 0};
  AdamState<double> state;
  double m = 0, v = 0, expected = 1.0;
  for (int t = 1; t <= 5; ++t) {
    const std::vector<double> gradient{0.3 * t, 1.0};
    adam_step<double>(options, gradient, trainable, state, theta);
    const double g = 0.3 * t + 0.01 * expected;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    expected -=
        0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    EXPECT_NEAR(theta[0], expected, 1e-12);
  }
  EXPECT_EQ(theta[1], -2.0);  // not trainable
}

TEST(LayerFactory, RefusesUnknownTypesKeysAndKinds) {
  const auto make = [](const char* text) {
    ParameterLayout layout;
    return make_layer<float>(nlohmann::json::parse(text), "here", 3, 0, layout);
  };
  EXPECT_THROW(make(R"({"type":"Magic"})"), Error);
  EXPECT_THROW(make(R"({"name":"a"})"), Error);
  EXPECT_THROW(make(R"([1])"), Error);
  EXPECT_THROW(make(R"({"type":"GCNConv","name":"c"})"), Error);
  EXPECT_THROW(make(R"({"type":"GCNConv","out_channels":3})"), Error);
  EXPECT_THROW(make(R"({"type":"GCNConv","name":"c","out_channels":3,"colour":1})"), Error);
  EXPECT_THROW(make(R"({"type":"GCNConv","name":"c","out_channels":"3"})"), Error);
  EXPECT_THROW(make(R"({"type":"GCNConv","name":"c","out_channels":-3})"), Error);
  EXPECT_THROW(make(R"({"type":"SAGEConv","name":"c","out_channels":3,"aggr":"median"})"), Error);
  EXPECT_THROW(make(R"({"type":"LayerNorm","name":"c","mode":"row"})"), Error);
  EXPECT_THROW(make(R"({"type":"GINConv","name":"c","out_channels":3,"hidden":[1,1,1,1,1]})"),
               Error);
  EXPECT_NO_THROW(make(R"({"type":"GATConv","name":"c","out_channels":3,"heads":2})"));
}

}  // namespace
}  // namespace pgexplainer
