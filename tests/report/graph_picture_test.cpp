#include "pgexplainer/report/graph_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "pgexplainer/core/error.h"
#include "pgexplainer/report/dot.h"
#include "pgexplainer/report/graphml.h"
#include "tests/support/xml_check.h"

namespace pgexplainer {
namespace {

constexpr const char* kNasty = "<a href=\"x\">&'\\N";

GraphPicture small_picture() {
  GraphPicture picture;
  picture.nodes = {{.id = 400, .label = "C", .class_index = 1, .is_target = true},
                   {.id = 401, .label = kNasty, .class_index = 3},
                   {.id = 402, .label = "Cl", .class_index = 11},
                   {.id = 403}};
  picture.edges = {{0, 1, 0.75F, true, true}, {1, 2, 0.25F}, {2, 2, 0.5F, true, true}, {2, 3}};
  picture.title = kNasty;
  picture.caption = std::string("caption ") + kNasty;
  picture.legend = {{LegendEntry::Mark::node_class, "base & rest", 1},
                    {LegendEntry::Mark::target_node, "target"},
                    {LegendEntry::Mark::selected_edge, "selected"},
                    {LegendEntry::Mark::other_edge, "other"},
                    {LegendEntry::Mark::ground_truth_edge, "motif"}};
  return picture;
}

double number(const XmlElement& element, const std::string& name) {
  return std::stod(element.attributes.at(name));
}

TEST(GraphPicture, IsWellFormedAndEscapesText) {
  const auto elements = XmlCheck::parse(to_svg(small_picture()));
  EXPECT_EQ(elements.front().name, "svg");
  EXPECT_TRUE(has_text(elements, "text", kNasty));
  EXPECT_TRUE(has_text(elements, "text", std::string("caption ") + kNasty));
  EXPECT_TRUE(has_text(elements, "text", "base & rest"));
  EXPECT_FALSE(has_broken_number(elements));
  EXPECT_EQ(count_elements(elements, "a"), 0U);
  for (const XmlElement& element : elements) EXPECT_FALSE(element.attributes.contains("id"));
}

TEST(GraphPicture, TooltipsTellIdAndScore) {
  const auto elements = XmlCheck::parse(to_svg(small_picture()));
  EXPECT_TRUE(has_text(elements, "title", "edge 400 – 401, score 0.75, selected, ground truth"));
  EXPECT_TRUE(has_text(elements, "title", "edge 402 – 403"));
  EXPECT_TRUE(has_text(elements, "title", "node 400 (C), class 1, target"));
  EXPECT_TRUE(has_text(elements, "title", "node 403, class 0"));
}

TEST(GraphPicture, SelectedEdgesAreBoldBlackAndOthersThinGrey) {
  double selected = 0, other = 0;
  std::string stroke;
  double width = 0;
  for (const XmlElement& element : XmlCheck::parse(to_svg(small_picture()))) {
    if (element.name == "path" && element.attributes.contains("stroke")) {
      stroke = element.attributes.at("stroke");
      width = number(element, "stroke-width");
    }
    if (element.name != "title" || element.parent != "path") continue;
    const bool is_selected = element.text.find("selected") != std::string::npos;
    EXPECT_EQ(stroke == "#000000", is_selected) << element.text;
    (is_selected ? selected : other) = width;
  }
  EXPECT_GE(selected, 2 * other);
  EXPECT_GT(other, 0);
}

TEST(GraphPicture, GroundTruthIsAHaloBelowItsEdge) {
  GraphPicture picture = small_picture();
  const auto num_paths = [&] { return count_elements(XmlCheck::parse(to_svg(picture)), "path"); };
  EXPECT_EQ(num_paths(), picture.edges.size() + 2);
  for (PictureEdge& edge : picture.edges) edge.ground_truth = false;
  EXPECT_EQ(num_paths(), picture.edges.size());
}

TEST(GraphPicture, EverythingIsInsideThePaperAndDiscsDoNotOverlap) {
  GraphPicture picture;
  picture.nodes.resize(40);
  for (NodeId i = 1; i < 40; ++i) picture.edges.push_back({i, i / 3, 0.5F});
  std::vector<XmlElement> discs;
  const auto elements = XmlCheck::parse(to_svg(picture));
  for (const XmlElement& element : elements)
    if (element.name == "circle") discs.push_back(element);
  ASSERT_EQ(discs.size(), 40U);
  const double width = number(elements[0], "width"), height = number(elements[0], "height");
  for (std::size_t i = 0; i < discs.size(); ++i) {
    const double x = number(discs[i], "cx"), y = number(discs[i], "cy"), r = number(discs[i], "r");
    EXPECT_TRUE(x - r >= 0 && x + r <= width && y - r >= 0 && y + r <= height);
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_GT(std::hypot(x - number(discs[j], "cx"), y - number(discs[j], "cy")),
                r + number(discs[j], "r"));
  }
}

TEST(GraphPicture, ManyNodesHaveNoLetters) {
  GraphPicture picture;
  picture.nodes.assign(301, {.label = "N"});
  for (NodeId i = 1; i < 301; ++i) picture.edges.push_back({i, i / 2});
  EXPECT_FALSE(has_text(XmlCheck::parse(to_svg(picture)), "text", "N"));
  picture.nodes.resize(100);
  picture.edges.resize(99);
  EXPECT_TRUE(has_text(XmlCheck::parse(to_svg(picture)), "text", "N"));
}

TEST(GraphPicture, EmptyGraphIsAPicture) {
  const auto elements = XmlCheck::parse(to_svg({}));
  EXPECT_FALSE(has_broken_number(elements));
  EXPECT_GT(number(elements[0], "height"), 0);
  XmlCheck::parse(to_graphml({}));
  EXPECT_NE(to_dot({}).find("graph explanation {"), std::string::npos);
}

TEST(GraphPicture, ScoresThatAreNoNumbersAreLeftOut) {
  GraphPicture picture;
  picture.nodes.resize(2);
  picture.edges = {{0, 1, std::numeric_limits<float>::infinity()}, {0, 1, -5.0F}, {0, 1, 7.0F}};
  EXPECT_FALSE(has_broken_number(XmlCheck::parse(to_svg(picture))));
  EXPECT_EQ(to_graphml(picture).find("inf"), std::string::npos);
  EXPECT_EQ(to_dot(picture).find("inf"), std::string::npos);
}

TEST(GraphPicture, GivenLayoutIsUsed) {
  GraphPicture picture = small_picture();
  picture.layout = layout_picture(picture);
  GraphPicture without = picture;
  without.layout.reset();
  EXPECT_EQ(to_svg(picture), to_svg(without));
  picture.layout->position.row(0).swap(picture.layout->position.row(3));
  EXPECT_NE(to_svg(picture), to_svg(without));
}

TEST(GraphPicture, RefusesBadInput) {
  GraphPicture picture = small_picture();
  picture.edges[0].target = 4;
  EXPECT_THROW(to_svg(picture), Error);
  EXPECT_THROW(to_dot(picture), Error);
  EXPECT_THROW(to_graphml(picture), Error);
  picture = small_picture();
  picture.nodes[0].class_index = -1;
  EXPECT_THROW(to_svg(picture), Error);
  picture = small_picture();
  picture.layout = GraphLayout{Matrix<float>::Zero(3, 2), 0.1F};
  EXPECT_THROW(to_svg(picture), Error);
  picture.layout = GraphLayout{Matrix<float>::Constant(4, 2, std::nanf("")), 0.1F};
  EXPECT_THROW(to_svg(picture), Error);
}

TEST(GraphMl, KeysComeFirstAndEveryDataNamesOne) {
  const auto elements = XmlCheck::parse(to_graphml(small_picture()));
  std::map<std::string, std::string> keys;
  bool in_graph = false;
  for (const XmlElement& element : elements) {
    if (element.name == "graph") in_graph = true;
    if (element.name == "key") {
      EXPECT_FALSE(in_graph);
      keys[element.attributes.at("id")] = element.attributes.at("for");
    }
    if (element.name == "data") {
      EXPECT_EQ(keys.at(element.attributes.at("key")), element.parent);
    }
  }
  EXPECT_EQ(count_elements(elements, "node"), 4U);
  EXPECT_EQ(count_elements(elements, "edge"), 4U);
}

TEST(GraphMl, HoldsTheValues) {
  const auto elements = XmlCheck::parse(to_graphml(small_picture()));
  const auto values = [&](const std::string& key) {
    std::vector<std::string> result;
    for (const XmlElement& element : elements)
      if (element.name == "data" && element.attributes.at("key") == key)
        result.push_back(element.text);
    return result;
  };
  using Values = std::vector<std::string>;
  EXPECT_EQ(values("node_id"), (Values{"400", "401", "402", "403"}));
  EXPECT_EQ(values("label"), (Values{"C", kNasty, "Cl", ""}));
  EXPECT_EQ(values("class"), (Values{"1", "3", "11", "0"}));
  EXPECT_EQ(values("target"), (Values{"true", "false", "false", "false"}));
  EXPECT_EQ(values("score"), (Values{"0.75", "0.25", "0.5"}));
  EXPECT_EQ(values("selected"), (Values{"true", "false", "true", "false"}));
  EXPECT_EQ(values("ground_truth"), (Values{"true", "false", "true", "false"}));
}

TEST(Dot, EscapesQuotesAndBackslashes) {
  const std::string dot = to_dot(small_picture());
  EXPECT_NE(dot.find(R"(label="<a href=\"x\">&'\\N")"), std::string::npos);
  EXPECT_NE(dot.find("n0 -- n1 [selected=true, ground_truth=true, score=\"0.75\""),
            std::string::npos);
  EXPECT_NE(dot.find("n2 -- n3 [selected=false, ground_truth=false, color="), std::string::npos);
  EXPECT_NE(dot.find("n3 [id=\"403\", label=\"403\""), std::string::npos);
}

TEST(Dot, LineBreaksStayInsideTheString) {
  GraphPicture picture;
  picture.nodes = {{.label = "a\nb\tc"}};
  EXPECT_NE(to_dot(picture).find("label=\"a\\nb\xEF\xBF\xBD"
                                 "c\""),
            std::string::npos);
}

}  // namespace
}  // namespace pgexplainer
