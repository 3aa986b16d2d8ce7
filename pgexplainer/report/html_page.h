// One self-contained HTML page: no script, no external resource, readable on a phone, in the dark
// and on paper.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "pgexplainer/report/table.h"

namespace pgexplainer {

struct Paragraph {
  std::string text;
};

struct Figure {
  std::string svg;  ///< an <svg> element as to_svg and the plots return it; inserted as it is
  std::string caption = {};
};

/// Figures side by side, as many as the window is wide enough for.
struct FigureGrid {
  std::vector<Figure> figures;
  double min_width = 360;  ///< of a figure, in CSS pixels
};

/// Closed until the reader opens it; JSON for example.
struct Details {
  std::string summary, text;
};

using PageBlock = std::variant<Paragraph, Table, FigureGrid, Details>;

struct PageSection {
  std::string title;
  std::vector<PageBlock> blocks;
};

struct HtmlPage {
  std::string title;
  std::string subtitle;
  std::vector<PageSection> sections;
};

/// Two or more sections get a table of contents; the anchors follow the titles. Throws if a figure
/// is not an <svg> element.
std::string to_html(const HtmlPage& page);

}  // namespace pgexplainer
