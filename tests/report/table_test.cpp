#include "pgexplainer/report/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>
#include <string>

#include "pgexplainer/core/error.h"
#include "pgexplainer/report/text.h"
#include "tests/support/xml_check.h"

namespace pgexplainer {
namespace {

Table small_table() {
  Table table;
  table.title = "AUC <b>";
  table.columns = {{"Method", Align::left}, {"Value", Align::right}, {"Note", Align::center}};
  table.rows = {{{"PGExplainer"}, {"0.96 ± 0.01", true}, {"a|b"}},
                {{"Ré\"seau\", x"}, {"1"}},
                {{"<i>&'"}, {"n/a", false, Align::left}, {"c"}}};
  return table;
}

TEST(Text, EscapesMarkupAndWhatXmlCannotHold) {
  EXPECT_EQ(escape_xml("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escape_xml("é ± 日"), "é ± 日");
  EXPECT_EQ(escape_xml(std::string("a\0b\x1B", 4)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(escape_xml("\xC3"), "\xEF\xBF\xBD");                  // cut off
  EXPECT_EQ(escape_xml("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // longer than needed
  EXPECT_EQ(escape_xml("\xED\xA0\x80").size(), 9U);               // a surrogate
  EXPECT_EQ(escape_xml("\xEF\xBF\xBF"), "\xEF\xBF\xBD");          // U+FFFF
}

RC_GTEST_PROP(Text, AnyBytesBecomeWellFormed, (const std::string& bytes)) {
  const std::string xml = "<a b=\"" + escape_xml(bytes) + "\">" + escape_xml(bytes) + "</a>";
  XmlCheck::parse(xml);
}

TEST(Text, WidthCountsTerminalColumns) {
  EXPECT_EQ(terminal_width("abc"), 3U);
  EXPECT_EQ(terminal_width("±é–"), 3U);
  EXPECT_EQ(terminal_width("e\xCC\x81"), 1U);  // combining accent
  EXPECT_EQ(terminal_width("日本"), 4U);
}

TEST(Table, TextIsAlignedByTerminalColumns) {
  EXPECT_EQ(to_text(small_table()),
            "AUC <b>\n"
            "Method             Value  Note\n"
            "───────────  ───────────  ────\n"
            "PGExplainer  0.96 ± 0.01  a|b\n"
            "Ré\"seau\", x            1\n"
            "<i>&'        n/a           c\n");
}

TEST(Table, HtmlIsEscaped) {
  const auto elements = XmlCheck::parse(to_html(small_table()));
  EXPECT_TRUE(has_text(elements, "caption", "AUC <b>"));
  EXPECT_TRUE(has_text(elements, "td", "<i>&'"));
  EXPECT_TRUE(has_text(elements, "strong", "0.96 ± 0.01"));
  EXPECT_EQ(count_elements(elements, "td"), 9U);
  EXPECT_EQ(count_elements(elements, "th"), 3U);
}

TEST(Table, MarkdownIsEscaped) {
  EXPECT_EQ(to_markdown(small_table()),
            "**AUC &lt;b&gt;**\n\n"
            "| Method | Value | Note |\n"
            "|---|---:|:---:|\n"
            "| PGExplainer | **0.96 ± 0.01** | a\\|b |\n"
            "| Ré\"seau\", x | 1 |  |\n"
            "| &lt;i&gt;&amp;' | n/a | c |\n");
}

TEST(Table, CsvFollowsRfc4180) {
  EXPECT_EQ(to_csv(small_table()),
            "Method,Value,Note\r\n"
            "PGExplainer,0.96 ± 0.01,a|b\r\n"
            "\"Ré\"\"seau\"\", x\",1,\r\n"
            "<i>&',n/a,c\r\n");
}

// Fields of RFC 4180, letter by letter.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = rows.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"')
      field += text[i++];
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == ',')
      rows.back().emplace_back();
    else if (!quoted && text[i] == '\r')
      rows.push_back({""}), ++i;
    else
      field += text[i];
  }
  rows.pop_back();
  return rows;
}

RC_GTEST_PROP(Table, CsvReadsBackWhateverTheText,
              (const std::string& a, const std::string& b, const std::string& c)) {
  Table table;
  table.columns = {{a}, {b}};
  table.rows = {{{c}, {a}}, {{b}}};
  const std::vector<std::vector<std::string>> expected{{a, b}, {c, a}, {b, ""}};
  RC_ASSERT(read_csv(to_csv(table)) == expected);
}

RC_GTEST_PROP(Table, LinesOfTextStayLines, (const std::vector<std::string>& texts)) {
  Table table;
  table.columns = {{"a"}, {"b", Align::right}};
  for (const std::string& text : texts) table.rows.push_back({{text}, {text}});
  const std::string text = to_text(table);
  RC_ASSERT(std::count(text.begin(), text.end(), '\n') ==
            static_cast<std::ptrdiff_t>(texts.size()) + 2);
}

TEST(Table, RefusesRowsThatAreTooLong) {
  Table table = small_table();
  table.rows[1].resize(4);
  EXPECT_THROW(to_text(table), Error);
  EXPECT_THROW(to_html(table), Error);
  EXPECT_THROW(to_markdown(table), Error);
  EXPECT_THROW(to_csv(table), Error);
}

}  // namespace
}  // namespace pgexplainer
