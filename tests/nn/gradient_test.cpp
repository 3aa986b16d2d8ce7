// Every adjoint against finite differences, on random graphs.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pgexplainer/nn/pooling.h"
#include "pgexplainer/nn/softmax_cross_entropy.h"
#include "tests/support/gradient_check.h"

namespace pgexplainer {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-6;

struct Case {
  const char* name;
  const char* description;
  Index edge_channels = 0;
  bool weights = false;
  bool training = false;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

const Case kCases[] = {
    {"linear", R"({"type":"Linear","name":"l","out_channels":4})"},
    {"gcn_sym", R"({"type":"GCNConv","name":"c","out_channels":4})", 0, true},
    {"gcn_sym_noloops", R"({"type":"GCNConv","name":"c","out_channels":4,"add_self_loops":false})",
     0, true},
    {"gcn_sum", R"({"type":"GCNConv","name":"c","out_channels":20,"normalize":false})", 0, true},
    {"graph_add", R"({"type":"GraphConv","name":"c","out_channels":4})", 0, true},
    {"graph_mean", R"({"type":"GraphConv","name":"c","out_channels":4,"aggr":"mean"})", 0, true},
    {"graph_max", R"({"type":"GraphConv","name":"c","out_channels":4,"aggr":"max"})", 0, true},
    {"sage_mean", R"({"type":"SAGEConv","name":"c","out_channels":4})"},
    {"sage_max",
     R"({"type":"SAGEConv","name":"c","out_channels":4,"aggr":"max","normalize":true})"},
    {"sage_sum_noroot",
     R"({"type":"SAGEConv","name":"c","out_channels":4,"aggr":"sum","normalize":true,"root_weight":false})"},
    {"gin", R"({"type":"GINConv","name":"c","out_channels":4,"hidden":[5,6],"train_eps":true})"},
    {"gin_no_mlp", R"({"type":"GINConv","name":"c","mlp":false,"train_eps":true})"},
    {"gine", R"({"type":"GINEConv","name":"c","out_channels":4,"train_eps":true})", 3},
    {"gine_mapped", R"({"type":"GINEConv","name":"c","out_channels":4,"edge_dim":2})", 2},
    {"gat", R"({"type":"GATConv","name":"c","out_channels":4})"},
    {"gat_heads_edges", R"({"type":"GATConv","name":"c","out_channels":2,"heads":3,"edge_dim":2})",
     2},
    {"gat_mean_noloops",
     R"({"type":"GATConv","name":"c","out_channels":3,"heads":2,"concat":false,"add_self_loops":false})"},
    {"gatv2", R"({"type":"GATv2Conv","name":"c","out_channels":3,"heads":2})"},
    {"gatv2_mean_edges",
     R"({"type":"GATv2Conv","name":"c","out_channels":3,"heads":2,"concat":false,"edge_dim":2})",
     2},
    {"transformer", R"({"type":"TransformerConv","name":"c","out_channels":3,"heads":2})"},
    {"transformer_mean_edges",
     R"({"type":"TransformerConv","name":"c","out_channels":3,"heads":2,"concat":false,"edge_dim":2,"root_weight":false})",
     2},
    {"batch_norm_eval", R"({"type":"BatchNorm","name":"b"})"},
    {"batch_norm_train", R"({"type":"BatchNorm","name":"b"})", 0, false, true},
    {"batch_norm_fixed", R"({"type":"BatchNorm","name":"b","fixed_statistics":true,"eps":0.001})",
     0, false, true},
    {"layer_norm_node", R"({"type":"LayerNorm","name":"n","mode":"node"})"},
    {"layer_norm_graph", R"({"type":"LayerNorm","name":"n"})"},
    {"layer_norm_graph_batch",
     R"({"type":"LayerNorm","name":"n","eps":0.1,"eps_in_variance":true})"},
    {"l2_norm", R"({"type":"L2Norm"})"},
    {"dropout", R"({"type":"Dropout","p":0.4})", 0, false, true},
    {"relu", R"({"type":"ReLU"})"},
    {"elu", R"({"type":"ELU","alpha":0.7})"},
    {"leaky_relu", R"({"type":"LeakyReLU","negative_slope":0.1})"},
    {"tanh", R"({"type":"Tanh"})"},
    {"sigmoid", R"({"type":"Sigmoid"})"},
    {"softplus", R"({"type":"Softplus"})"},
    {"gelu", R"({"type":"GELU"})"},
    {"silu", R"({"type":"SiLU"})"},
};

/// Self-loops, parallel edges, nodes without incoming edges and single nodes all occur.
Graph random_graph() {
  const auto nodes = *rc::gen::inRange<NodeId>(1, 7);
  const auto count = *rc::gen::inRange<std::size_t>(0, 14);
  const auto end = rc::gen::inRange<NodeId>(0, nodes);
  return Graph(nodes, *rc::gen::container<std::vector<NodeId>>(count, end),
               *rc::gen::container<std::vector<NodeId>>(count, end));
}

class Adjoint : public testing::TestWithParam<Case> {};

TEST_P(Adjoint, IsTheGradientOfForward) {
  const Case& c = GetParam();
  EXPECT_TRUE(rc::check([&] {
    const Graph graph = random_graph();
    LayerProblem problem{json::parse(c.description), &graph};
    problem.edge_channels = c.edge_channels;
    problem.training = c.training;
    problem.mask = *rc::gen::arbitrary<bool>();
    problem.weights = c.weights && *rc::gen::arbitrary<bool>();
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
    const GradientErrors errors = check_layer(problem, seed);
    RC_ASSERT(errors.x < kTolerance);
    RC_ASSERT(errors.theta < kTolerance);
    RC_ASSERT(errors.edge_weight < kTolerance);
    RC_ASSERT(errors.edge_mask < kTolerance);
    RC_ASSERT(errors.edge_attr < kTolerance);
  }));
}

INSTANTIATE_TEST_SUITE_P(Layers, Adjoint, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(GradientCheck, NoticesAWrongGradient) {
  double x = 2.0;
  const double wrong = 3.9;
  EXPECT_GT(gradient_error([&] { return x * x; }, &x, &wrong, 1), 1e-3);
}

TEST(LayerNormGraph, NormalisesEachGraphAlone) {
  const Graph graph(6, {}, {});
  LayerProblem problem{json::parse(R"({"type":"LayerNorm","name":"n"})"), &graph};
  problem.graph_ptr = {0, 2, 2, 6};  // one graph is empty
  EXPECT_LT(check_layer(problem, 3).worst(), kTolerance);
}

RC_GTEST_PROP(Pooling, HasTheRightAdjoint, ()) {
  const auto kind = *rc::gen::element(Aggregation::sum, Aggregation::mean, Aggregation::max);
  std::vector<NodeId> graph_ptr{0};
  for (const auto size :
       *rc::gen::container<std::vector<NodeId>>(3, rc::gen::inRange<NodeId>(0, 5)))
    graph_ptr.push_back(graph_ptr.back() + size);
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1000000), RandomPurpose::test);
  Matrix<double> x = random_matrix(graph_ptr.back(), 5, random);
  const Matrix<double> R = random_matrix(3, 5, random);
  Matrix<double> out(3, 5);
  pool<double>(kind, graph_ptr, x, out);
  Matrix<double> dx = Matrix<double>::Zero(x.rows(), x.cols());
  pool_backward<double>(kind, graph_ptr, x, out, R, dx);
  const auto loss = [&] {
    Matrix<double> again(3, 5);
    pool<double>(kind, graph_ptr, x, again);
    return again.cwiseProduct(R).sum();
  };
  RC_ASSERT(gradient_error(loss, x.data(), dx.data(), static_cast<std::size_t>(x.size())) <
            kTolerance);
}

TEST(SoftmaxCrossEntropy, HasTheRightAdjointAndCountsCorrectRows) {
  RandomStream random(1, RandomPurpose::test);
  Matrix<double> logits = random_matrix(5, 3, random);
  logits(1, 2) += 50;  // saturated
  const std::vector<std::int64_t> label{0, 1, 2, 0, 1};
  const std::vector<std::uint8_t> chosen{1, 1, 0, 1, 1};
  Matrix<double> d, scratch;
  softmax_cross_entropy<double>(logits, label, chosen, 0.25, d);
  const auto loss = [&] {
    return softmax_cross_entropy<double>(logits, label, chosen, 0.25, scratch).loss;
  };
  EXPECT_LT(gradient_error(loss, logits.data(), d.data(), 15), kTolerance);
  EXPECT_EQ(d.row(2).cwiseAbs().sum(), 0.0);

  logits.setZero();
  for (Index i = 0; i < 5; ++i) logits(i, label[static_cast<std::size_t>(i)]) = 1;
  EXPECT_EQ(softmax_cross_entropy<double>(logits, label, chosen, 1, d).correct, 4);
}

}  // namespace
}  // namespace pgexplainer
