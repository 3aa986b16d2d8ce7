#include "pgexplainer/report/explanation_picture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pgexplainer {
namespace {

/// A path 0 - 1 - 2 - 3 of which 1 - 2 is the motif, node 1 explained.
Dataset path_dataset() {
  Dataset dataset;
  dataset.graph = Graph(4, {0, 1, 1, 2, 2, 3}, {1, 0, 2, 1, 3, 2});
  dataset.graph_ptr = {0, 4};
  dataset.edge_ptr = {0, 6};
  dataset.x = Matrix<float>::Ones(4, 1);
  dataset.y = {0, 1, 1, 0};
  dataset.edge_gt = {0, 0, 1, 0, 0, 0};  // one direction is enough
  return dataset;
}

Explanation path_explanation() {
  Explanation explanation;
  explanation.instance = {1};
  explanation.nodes = {1, 0, 2, 3};
  explanation.targets = {1};
  explanation.edges = {0, 1, 2, 3, 4, 5};
  explanation.source = {0, 1, 1, 2, 2, 3};
  explanation.target = {1, 0, 2, 1, 3, 2};
  explanation.reverse = {1, 0, 3, 2, 5, 4};
  explanation.score = {1, 3, 9, 11, -4, -6};
  explanation.selected = {0, 0, 1, 1, 0, 0};
  return explanation;
}

TEST(ExplanationPicture, ShowsBothDirectionsAsOneEdge) {
  const GraphPicture picture = explanation_picture(path_dataset(), path_explanation());
  ASSERT_EQ(picture.nodes.size(), 4U);
  ASSERT_EQ(picture.edges.size(), 3U);
  EXPECT_EQ(picture.title, "node 1");
  EXPECT_TRUE(picture.nodes[0].is_target);
  EXPECT_EQ(picture.nodes[0].class_index, 1);
  EXPECT_TRUE(picture.edges[1].selected);
  EXPECT_TRUE(picture.edges[1].ground_truth);
  EXPECT_FLOAT_EQ(picture.edges[1].score, 1.0F);  // mean 10, the largest
  EXPECT_FLOAT_EQ(picture.edges[2].score, 0.0F);  // mean -5, the smallest
  EXPECT_FALSE(picture.edges[0].selected);
  EXPECT_FALSE(picture.edges[0].ground_truth);
  EXPECT_NE(to_svg(picture).find("<svg"), std::string::npos);
}

TEST(ExplanationPicture, KeepsWhatIsNearTheExplanationOfALargeInstance) {
  ExplanationPictureOptions options;
  options.max_nodes = 2;
  const GraphPicture picture = explanation_picture(path_dataset(), path_explanation(), options);
  ASSERT_EQ(picture.nodes.size(), 2U);
  EXPECT_EQ(picture.nodes[0].id, 1);
  EXPECT_EQ(picture.nodes[1].id, 2);
  EXPECT_NE(picture.caption.find("of 4"), std::string::npos);
}

TEST(ExplanationPicture, DrawsAnInstanceWithoutEdges) {
  Explanation alone;
  alone.instance = {3};
  alone.nodes = {3};
  alone.targets = {3};
  const GraphPicture picture = explanation_picture(path_dataset(), alone);
  EXPECT_EQ(picture.nodes.size(), 1U);
  EXPECT_TRUE(picture.edges.empty());
  EXPECT_NE(to_svg(picture).find("<svg"), std::string::npos);
}

TEST(ExplanationPicture, PutsLettersOnAtoms) {
  Dataset dataset = path_dataset();
  dataset.node_type_names = {"C", "N"};
  dataset.x = Matrix<float>::Zero(4, 2);
  dataset.x.col(0).setOnes();
  dataset.x.row(2) << 0, 1;
  const GraphPicture picture = explanation_picture(dataset, path_explanation());
  EXPECT_EQ(picture.nodes[0].label, "C");
  EXPECT_EQ(picture.nodes[2].label, "N");
}

}  // namespace
}  // namespace pgexplainer
