#include "pgexplainer/report/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "pgexplainer/core/error.h"
#include "pgexplainer/report/text.h"

namespace pgexplainer {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1f2328; --soft: #57606a; --paper: #ffffff; --card: #f6f8fa; --line: #d8dee4; --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9aa4af; --paper: #0f1419; --card: #171d24; --line: #303842; --link: #6cb6ff; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .35rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
p { margin: .5rem 0 1rem; max-width: 46rem; overflow-wrap: anywhere; }
.subtitle { color: var(--soft); margin: 0 0 1.25rem; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
nav ol { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0; padding: .7rem 1rem .7rem 2.2rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
nav li { padding-right: .5rem; }
.scroll { overflow-x: auto; margin: 0 0 1.25rem; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .25rem 0 .5rem; }
th, td { padding: .38rem .8rem; text-align: left; white-space: pre; border-bottom: 1px solid var(--line); }
th { border-bottom-width: 2px; color: var(--soft); font-weight: 600; }
tbody tr:hover { background: var(--card); }
.right { text-align: right; }
.center { text-align: center; }
.figures { display: grid; gap: 1rem; margin: 0 0 1.25rem; align-items: start; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; background: #ffffff; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { padding: .5rem .8rem .6rem; font-size: .88rem; color: #57606a; border-top: 1px solid #eaeef2; overflow-wrap: anywhere; }
details { margin: 0 0 1.25rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
summary { cursor: pointer; padding: .55rem .9rem; font-weight: 600; }
pre { margin: 0; padding: .2rem .9rem .9rem; overflow-x: auto; font: .85rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media (max-width: 480px) {
  main { padding: 1.25rem .8rem 3rem; }
  h1 { font-size: 1.4rem; }
}
@media print {
  :root { --ink: #000000; --soft: #444444; --paper: #ffffff; --card: #ffffff; --line: #bbbbbb; --link: #000000; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  h2 { break-after: avoid; }
  tr { break-inside: avoid; }
  table { font-size: 8.5pt; }
  th, td { padding: .2rem .45rem; white-space: pre-wrap; }
  .scroll, pre { overflow: visible; }
  pre { white-space: pre-wrap; }
}
)";

// Letters and digits of the title, words joined by "-"; the number keeps anchors apart.
std::string anchor_of(std::string_view title, std::size_t number) {
  std::string anchor = fmt::format("s{}", number + 1);
  bool gap = true;
  for (const char c : title) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      if (gap) anchor += '-';
      anchor += upper ? static_cast<char>(c - 'A' + 'a') : c;
      gap = false;
    } else {
      gap = true;
    }
  }
  return anchor;
}

void write(const Paragraph& paragraph, std::string& html) {
  html += "<p>" + escape_xml(paragraph.text) + "</p>\n";
}

void write(const Table& table, std::string& html) {
  // The keyboard can scroll what has the focus.
  html += "<div class=\"scroll\" tabindex=\"0\">\n" + to_html(table) + "</div>\n";
}

void write(const FigureGrid& grid, std::string& html) {
  html += fmt::format(
      "<div class=\"figures\" style=\"grid-template-columns: repeat(auto-fill, minmax(min(100%, "
      "{:.0f}px), 1fr))\">\n",
      std::clamp(grid.min_width, 80.0, 2000.0));
  for (const Figure& figure : grid.figures) {
    if (!figure.svg.starts_with("<svg"))
      throw_bad_input("the figure '{}' starts with '{}', expected an <svg> element", figure.caption,
                      figure.svg.substr(0, 20));
    html += "<figure>\n" + figure.svg;
    if (!figure.caption.empty())
      html += "<figcaption>" + escape_xml(figure.caption) + "</figcaption>\n";
    html += "</figure>\n";
  }
  html += "</div>\n";
}

void write(const Details& details, std::string& html) {
  html += "<details>\n<summary>" + escape_xml(details.summary) + "</summary>\n<pre>" +
          escape_xml(details.text) + "</pre>\n</details>\n";
}

}  // namespace

std::string to_html(const HtmlPage& page) {
  const std::string title = escape_xml(page.title);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n",
      title, kStyle);
  if (!page.subtitle.empty())
    html += "<p class=\"subtitle\">" + escape_xml(page.subtitle) + "</p>\n";
  if (page.sections.size() > 1) {
    html += "<nav aria-label=\"Contents\"><ol>\n";
    for (std::size_t i = 0; i < page.sections.size(); ++i)
      html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", anchor_of(page.sections[i].title, i),
                          escape_xml(page.sections[i].title));
    html += "</ol></nav>\n";
  }
  for (std::size_t i = 0; i < page.sections.size(); ++i) {
    const PageSection& section = page.sections[i];
    html += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", anchor_of(section.title, i),
                        escape_xml(section.title));
    for (const PageBlock& block : section.blocks)
      std::visit([&](const auto& content) { write(content, html); }, block);
    html += "</section>\n";
  }
  return html += "</main>\n</body>\n</html>\n";
}

}  // namespace pgexplainer
