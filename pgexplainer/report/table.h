// A table of text, written for terminals, HTML, Markdown and CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pgexplainer {

enum class Align { left, center, right };

struct TableColumn {
  std::string title;
  Align align = Align::left;
};

struct TableCell {
  std::string text;
  bool bold = false;
  std::optional<Align> align = {};  ///< unset: that of the column
};

struct Table {
  std::string title;
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;  ///< shorter rows are filled with empty cells
};

/// All throw if a row has more cells than there are columns.

/// Aligned by terminal columns, so that "±" and accents do not shift anything; bold is not shown.
std::string to_text(const Table& table);
/// A <table> with a <caption>; everything is escaped.
std::string to_html(const Table& table);
/// As GitHub reads it.
std::string to_markdown(const Table& table);
/// RFC 4180: CRLF, quotes where needed; without the title.
std::string to_csv(const Table& table);

}  // namespace pgexplainer
