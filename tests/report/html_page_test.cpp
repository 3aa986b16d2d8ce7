#include "pgexplainer/report/html_page.h"

#include <gtest/gtest.h>

#include <set>

#include "pgexplainer/core/error.h"
#include "pgexplainer/report/graph_picture.h"
#include "tests/support/xml_check.h"

namespace pgexplainer {
namespace {

constexpr const char* kNasty = "<script>\"a\" & 'b'</script>";

HtmlPage small_page() {
  GraphPicture picture;
  picture.nodes.resize(3);
  picture.edges = {{0, 1, 0.5F, true}, {1, 2, 0.2F}};
  Table table;
  table.title = kNasty;
  table.columns = {{kNasty}};
  table.rows = {{{kNasty}}};
  HtmlPage page;
  page.title = page.subtitle = kNasty;
  page.sections = {{"Results", {Paragraph{kNasty}, table}},
                   {"Results", {FigureGrid{{{to_svg(picture), kNasty}, {to_svg(picture)}}}}},
                   {kNasty, {Details{kNasty, "{\"lr\": 0.003, \"a\": \"<&>\"}"}}}};
  return page;
}

TEST(HtmlPage, IsWellFormedAndEscapesText) {
  const auto elements = XmlCheck::parse(to_html(small_page()));
  EXPECT_EQ(count_elements(elements, "script"), 0U);
  for (const char* name :
       {"title", "h1", "h2", "p", "caption", "th", "td", "figcaption", "summary"})
    EXPECT_TRUE(has_text(elements, name, kNasty)) << name;
  EXPECT_TRUE(has_text(elements, "pre", "{\"lr\": 0.003, \"a\": \"<&>\"}"));
  EXPECT_EQ(count_elements(elements, "svg"), 2U);
}

TEST(HtmlPage, ContentsPointAtSectionsAndIdsAreUnique) {
  std::set<std::string> ids, links;
  for (const XmlElement& element : XmlCheck::parse(to_html(small_page()))) {
    if (element.attributes.contains("id")) {
      EXPECT_TRUE(ids.insert(element.attributes.at("id")).second) << element.attributes.at("id");
    }
    if (element.name == "a") links.insert(element.attributes.at("href").substr(1));
  }
  EXPECT_EQ(ids, links);
  EXPECT_EQ(ids.size(), 3U);
}

TEST(HtmlPage, OneSectionNeedsNoContents) {
  HtmlPage page = small_page();
  page.sections.resize(1);
  EXPECT_EQ(count_elements(XmlCheck::parse(to_html(page)), "nav"), 0U);
}

TEST(HtmlPage, NeedsNothingFromOutside) {
  const std::string html = to_html(small_page());
  EXPECT_EQ(html.find("@import"), std::string::npos);
  EXPECT_EQ(html.find("url("), std::string::npos);
  for (const XmlElement& element : XmlCheck::parse(html)) {
    EXPECT_FALSE(element.attributes.contains("src"));
    if (element.attributes.contains("href")) {
      EXPECT_EQ(element.attributes.at("href")[0], '#');
    }
  }
}

TEST(HtmlPage, RefusesFiguresThatAreNoSvg) {
  HtmlPage page;
  page.sections = {{"s", {FigureGrid{{{"<img src='x'/>"}}}}}};
  EXPECT_THROW(to_html(page), Error);
}

}  // namespace
}  // namespace pgexplainer
