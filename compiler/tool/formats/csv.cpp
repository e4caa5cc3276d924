#include "compiler/tool/formats/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/tool/formats/scan.hpp"
#include "vm/value/shown_text.hpp"

namespace raddle::sweep {
namespace {

/// Reads the row that begins at `at`, and moves `at` behind it. @return nothing if a quote is not closed
bool read_row(const std::string& text, std::size_t& at, std::vector<std::string>& cells) {
  cells.assign(1, "");
  while (at < text.size()) {
    const char sign = text[at];
    if (sign == '"' && cells.back().empty()) {
      for (++at;; ++at) {
        if (at >= text.size()) return false;
        if (text[at] != '"') {
          cells.back() += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          cells.back() += text[++at];
        } else {
          break;
        }
      }
      ++at;
    } else if (sign == ',') {
      cells.emplace_back();
      ++at;
    } else if (sign == '\n') {
      ++at;
      return true;
    } else {
      if (sign != '\r' || at + 1 >= text.size() || text[at + 1] != '\n') cells.back() += sign;
      ++at;
    }
  }
  return true;
}

/// A row of one cell in quotes, "", is none.
bool is_blank_line(std::string_view line) { return line.find_first_not_of("\r\n") == std::string_view::npos; }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

std::expected<CsvTable, std::string> CsvTable::parse(std::string text, const std::string& name) {
  CsvTable table;
  table.text_ = std::move(text);
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::size_t at = table.text_.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  std::vector<std::string> cells;
  std::size_t line = 1;
  const auto error = [&](const std::string& message) {
    return std::unexpected(fmt::format("{}:{}: {}", name, line, message));
  };
  if (!read_row(table.text_, at, cells)) return error("a quote is not closed");
  if (cells.size() == 1 && cells[0].empty()) return error("there is no head with the names of parameters");
  std::set<std::string> names;
  for (const std::string& cell : cells) {
    table.columns_.emplace_back(trimmed(cell));
    if (!names.insert(table.columns_.back()).second)
      return error(fmt::format("two columns are named `{}`", table.columns_.back()));
  }
  for (std::size_t last = 0; at < table.text_.size();) {
    line += static_cast<std::size_t>(std::count(table.text_.begin() + static_cast<std::ptrdiff_t>(last),
                                                table.text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const std::size_t begin = last = at;
    if (!read_row(table.text_, at, cells)) return error("a quote is not closed");
    if (is_blank_line(std::string_view(table.text_).substr(begin, at - begin))) continue;
    if (cells.size() != table.columns_.size())
      return error(fmt::format("{} {}, but the head has {}", cells.size(), cells.size() == 1 ? "cell" : "cells",
                               table.columns_.size()));
    table.row_begins_.push_back(begin);
  }
  return table;
}

std::vector<std::string> CsvTable::row(std::size_t index) const {
  std::vector<std::string> cells;
  std::size_t at = row_begins_[index];
  read_row(text_, at, cells);
  for (std::string& cell : cells)
    if (const std::string_view inner = trimmed(cell); inner.size() != cell.size() && read_number(inner))
      cell = std::string(inner);
  return cells;
}

namespace {

bool needs_quotes(std::string_view cell) {
  return std::ranges::any_of(cell,
                             [](char sign) { return sign == ',' || sign == '"' || sign == '\n' || sign == '\r'; });
}

void append_valid(std::string& text, std::string_view cell) {
  if (std::ranges::all_of(cell, [](char sign) { return static_cast<unsigned char>(sign) < 0x80; }))
    text += cell;  // mostly
  else
    text += vm::valid_text(cell);
}

}  // namespace

void append_csv_row(std::string& text, std::span<const std::string_view> cells) {
  if (cells.size() == 1 && cells[0].empty()) text += "\"\"";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) text += ',';
    if (!needs_quotes(cells[i])) {
      append_valid(text, cells[i]);
      continue;
    }
    text += '"';
    for (const char sign : vm::valid_text(cells[i])) {
      if (sign == '"') text += '"';
      text += sign;
    }
    text += '"';
  }
  text += '\n';
}

}  // namespace raddle::sweep
