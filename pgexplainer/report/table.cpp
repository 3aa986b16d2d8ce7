#include "pgexplainer/report/table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "pgexplainer/core/error.h"
#include "pgexplainer/report/text.h"

namespace pgexplainer {
namespace {

void check(const Table& table) {
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    if (table.rows[r].size() > table.columns.size())
      throw_bad_input("table '{}': row {} has {} cells, expected at most {}", table.title, r,
                      table.rows[r].size(), table.columns.size());
}

const TableCell& cell_of(const std::vector<TableCell>& row, std::size_t column) {
  static const TableCell kEmpty;
  return column < row.size() ? row[column] : kEmpty;
}

// On one line: control characters would break the columns.
std::string one_line(std::string_view text) {
  std::string result;
  for_code_points(text, [&](char32_t code, std::string_view bytes) {
    if (code < 0x20 || code == 0x7F)
      result += ' ';
    else
      result += bytes;
  });
  return result;
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t free = width - terminal_width(text);
  const std::size_t left = align == Align::left ? 0 : align == Align::right ? free : free / 2;
  return std::string(left, ' ') + text + std::string(free - left, ' ');
}

void trim_right(std::string& text) { text.erase(text.find_last_not_of(' ') + 1); }

std::string_view html_class(Align align) {
  switch (align) {
    case Align::left:
      return "";
    case Align::center:
      return R"( class="center")";
    case Align::right:
      return R"( class="right")";
  }
  return "";
}

// Characters that GitHub would read as markup.
std::string escape_markdown(std::string_view text) {
  std::string result;
  for (const char c : one_line(text)) {
    if (std::string_view("\\`*_[]|~").find(c) != std::string_view::npos) result += '\\';
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

std::string quoted_field(const std::string& text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result += '"';
}

}  // namespace

std::string to_text(const Table& table) {
  check(table);
  std::vector<std::size_t> width;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    width.push_back(terminal_width(one_line(table.columns[c].title)));
    for (const auto& row : table.rows)
      width[c] = std::max(width[c], terminal_width(one_line(cell_of(row, c).text)));
  }
  std::string text = table.title.empty() ? "" : one_line(table.title) + "\n";
  std::string line, rule;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const TableColumn& column = table.columns[c];
    line += c > 0 ? "  " : "";
    line += padded(one_line(column.title), width[c], column.align);
    rule += c > 0 ? "  " : "";
    for (std::size_t i = 0; i < width[c]; ++i) rule += "─";
  }
  trim_right(line);
  if (!table.columns.empty()) text += line + "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    line.clear();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableCell& cell = cell_of(row, c);
      line += c > 0 ? "  " : "";
      line += padded(one_line(cell.text), width[c], cell.align.value_or(table.columns[c].align));
    }
    trim_right(line);
    text += line + "\n";
  }
  return text;
}

std::string to_html(const Table& table) {
  check(table);
  std::string html = "<table>\n";
  if (!table.title.empty()) html += "<caption>" + escape_xml(table.title) + "</caption>\n";
  html += "<thead><tr>";
  for (const TableColumn& column : table.columns)
    html += fmt::format(R"(<th scope="col"{}>{}</th>)", html_class(column.align),
                        escape_xml(column.title));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableCell& cell = cell_of(row, c);
      const std::string text = escape_xml(cell.text);
      html += fmt::format("<td{}>{}</td>", html_class(cell.align.value_or(table.columns[c].align)),
                          cell.bold ? fmt::format("<strong>{}</strong>", text) : text);
    }
    html += "</tr>\n";
  }
  return html += "</tbody>\n</table>\n";
}

std::string to_markdown(const Table& table) {
  check(table);
  std::string text =
      table.title.empty() ? "" : fmt::format("**{}**\n\n", escape_markdown(table.title));
  if (table.columns.empty()) return text;
  std::string rule = "|";
  text += "|";
  for (const TableColumn& column : table.columns) {
    text += fmt::format(" {} |", escape_markdown(column.title));
    rule += column.align == Align::left    ? "---|"
            : column.align == Align::right ? "---:|"
                                           : ":---:|";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableCell& cell = cell_of(row, c);
      const std::string escaped = escape_markdown(cell.text);
      const std::string_view mark = cell.bold && !escaped.empty() ? "**" : "";
      text += fmt::format(" {}{}{} |", mark, escaped, mark);
    }
    text += "\n";
  }
  return text;
}

std::string to_csv(const Table& table) {
  check(table);
  std::string text;
  const auto add_line = [&](auto&& field) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      text += c > 0 ? "," : "";
      text += quoted_field(field(c));
    }
    text += "\r\n";
  };
  add_line([&](std::size_t c) { return table.columns[c].title; });
  for (const auto& row : table.rows) add_line([&](std::size_t c) { return cell_of(row, c).text; });
  return text;
}

}  // namespace pgexplainer
