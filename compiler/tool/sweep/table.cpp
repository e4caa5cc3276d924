#include "compiler/tool/sweep/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/sweep/parquet.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "compiler/tool/terminal/text_width.hpp"
#include "stdlib/native/utf8.hpp"

namespace raddle::sweep {
namespace {

/// @param heads  the columns' names in quotes, with the colon
void append_json_row(std::string& text, const std::vector<std::string>& heads, std::span<const std::string_view> cells,
                     const std::vector<CellType>& types) {
  char before = '{';
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (is_missing(cells[i])) continue;
    (text += before) += heads[i];
    append_json(text, cells[i], types[i]);
    before = ',';
  }
  text += before == '{' ? "{}\n" : "}\n";
}

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

/// A column of numbers has no empty string: a blank cell of `--from` is not there.
std::string_view cell_of(std::string_view value, CellType type) {
  return value.empty() && type != CellType::string ? std::string_view() : value;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    const std::vector<bool>& is_number) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string blanks(widths[i] - terminal::text_width(cells[i]), ' ');
    if (i != 0) line += "  ";
    line += is_number[i] ? blanks + cells[i] : cells[i] + blanks;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

/// Those that are not known before stand in the order in which they first come; points may have different ones.
Table::Cells Table::result_names(std::size_t most_rows) const {
  const ResultNames known = rows_.known_results();
  if (known.are_all) return known.names;
  NameList names(known.names);
  rows_.for_each([&](const ResultRow& row) {
    for (const ResultRow::Result& result : row.results) names.add(result.name);
    return --most_rows != 0;
  });
  return names.names();
}

std::vector<Table::NonNumbers> Table::non_numbers() const {
  const auto is_number = [&](const std::string& name) {
    return rows_.known_type(name).value_or(CellType::string) != CellType::string;
  };
  NameList names;
  std::vector<NonNumbers> all;
  if (const Cells results = result_names(); std::ranges::all_of(results, is_number)) return all;
  rows_.for_each([&](const ResultRow& row) {
    for (const ResultRow::Result& result : row.results) {
      if (is_missing(result.text)) continue;
      const std::size_t place = names.add(result.name);
      if (place == all.size()) all.push_back({.name = std::string(result.name), .example = ""});
      NonNumbers& found = all[place];
      if (is_boolean(result.text))
        ++found.booleans;
      else if (is_counted(result.text))
        ++found.numbers;
      else if (found.texts++ == 0)
        found.example = result.text;
    }
    return true;
  });
  std::erase_if(all,
                [](const NonNumbers& each) { return each.texts == 0 && (each.booleans == 0 || each.numbers == 0); });
  return all;
}

Table::Cells Table::columns(const Cells& results) const {
  NameList columns;
  const auto add = [&](std::string name, std::string_view suffix) {  // no two columns may have one name
    while (columns.find(name)) name += suffix;
    columns.add(name);
  };
  if (!grouping_.statistics.empty()) {
    for (const std::size_t parameter : grouping_.parameters) add(rows_.parameters()[parameter].name, "");
    for (const std::string& name : results)
      for (const Statistic statistic : grouping_.statistics)
        add(fmt::format("{}_{}", name, name_of(statistic)), "_result");
    return columns.names();
  }
  for (const Parameter& parameter : rows_.parameters()) add(parameter.name, "");
  for (const std::string& name : results) add(name, "_result");
  for (const char* name : {"outcome", "duration_s", "reason"}) add(name, "_of_run");
  return columns.names();
}

void Table::for_each(const Cells& results, const Visit& visit) const {
  if (!grouping_.statistics.empty()) return for_each_group(results, visit);
  const std::size_t parameter_count = rows_.parameters().size();
  const NameList names(results);
  std::vector<std::string_view> cells;
  rows_.for_each([&](const ResultRow& row) {
    cells.clear();
    for (std::size_t i = 0; i < parameter_count; ++i)
      cells.push_back(cell_of(row.values[i], rows_.parameters()[i].cell_type));
    cells.resize(parameter_count + results.size());
    for (std::size_t i = 0; i < row.results.size(); ++i)
      if (const auto place = names.find(row.results[i].name, i)) cells[parameter_count + *place] = row.results[i].text;
    cells.push_back(row.outcome);
    cells.push_back(row.duration_s);
    cells.push_back(row.reason);
    return visit(cells);
  });
}

void Table::for_each_group(const Cells& results, const Visit& visit) const {
  struct Group {
    Cells values;
    std::vector<Summary> results;
  };
  std::deque<Group> groups;
  std::unordered_map<std::string, Group*> by_values;
  std::string values, last_values;
  const NameList names(results);
  Group* group = nullptr;
  rows_.for_each([&](const ResultRow& row) {
    values.clear();
    for (const std::size_t parameter : grouping_.parameters) (values += row.values[parameter]) += '\0';
    if (group == nullptr || values != last_values) {  // neighbours are often of one group
      Group*& known = by_values[values];
      if (known == nullptr) {
        known = &groups.emplace_back(Group{{}, std::vector<Summary>(results.size())});
        for (const std::size_t parameter : grouping_.parameters) known->values.emplace_back(row.values[parameter]);
      }
      group = known;
      last_values = values;
    }
    for (std::size_t i = 0; i < row.results.size(); ++i) {
      const auto place = names.find(row.results[i].name, i);
      if (place && is_counted(row.results[i].text)) group->results[*place].add(row.results[i].text);
    }
    return true;
  });
  for (const Group& each : groups) {
    std::vector<std::string_view> cells;
    for (std::size_t i = 0; i < each.values.size(); ++i)
      cells.push_back(cell_of(each.values[i], rows_.parameters()[grouping_.parameters[i]].cell_type));
    std::deque<std::string> texts;
    for (const Summary& summary : each.results)
      for (const Statistic statistic : grouping_.statistics) {
        const std::string& text = texts.emplace_back(summary.text(statistic));
        cells.push_back(text.empty() ? std::string_view() : text);
      }
    if (!visit(cells)) return;
  }
}

/// What all cells of each column are: it has to be known before the first one is written.
std::vector<CellType> Table::cell_types(const Cells& results, std::size_t column_count) const {
  std::vector<CellType> types;
  if (!grouping_.statistics.empty()) {
    for (const std::size_t parameter : grouping_.parameters) types.push_back(rows_.parameters()[parameter].cell_type);
    std::vector<ColumnType> columns(column_count);
    for_each(results, [&](std::span<const std::string_view> row) {
      for (std::size_t i = types.size(); i < column_count; ++i)
        if (!is_missing(row[i])) columns[i].add(type_of_cell(row[i]));
      return true;
    });
    while (types.size() < column_count) types.push_back(columns[types.size()].type());
    return types;
  }
  for (const Parameter& parameter : rows_.parameters()) types.push_back(parameter.cell_type);
  for (const CellType type : result_types(results)) types.push_back(type);
  types.insert(types.end(),
               {/*outcome*/ CellType::string, /*duration_s*/ CellType::float_, /*reason*/ CellType::string});
  return types;
}

std::vector<CellType> Table::result_types(const Cells& results) const {
  std::vector<std::optional<CellType>> known;
  for (const std::string& name : results) known.push_back(rows_.known_type(name));
  std::vector<ColumnType> columns(results.size());
  const NameList names(results);
  if (!std::ranges::all_of(known, &std::optional<CellType>::has_value))
    rows_.for_each([&](const ResultRow& row) {
      for (std::size_t i = 0; i < row.results.size(); ++i) {
        const ResultRow::Result& result = row.results[i];
        const auto place = names.find(result.name, i);
        if (place && !is_missing(result.text)) columns[*place].add(result.type);
      }
      return true;
    });
  std::vector<CellType> types;
  for (std::size_t i = 0; i < results.size(); ++i) types.push_back(known[i].value_or(columns[i].type()));
  return types;
}

void Table::write(Writer& writer, TableForm form) const {
  const Cells results = result_names(), names = columns(results);
  std::string& text = writer.text();
  switch (form) {
    case TableForm::csv:
      append_csv_row(text, views_of(names));
      for_each(results, [&](std::span<const std::string_view> row) {
        append_csv_row(text, row);
        return writer.flush_some();
      });
      break;
    case TableForm::json_lines: {
      std::vector<std::string> heads;
      for (const std::string& name : names) heads.push_back(json_string(name) + ':');
      const std::vector<CellType> types = cell_types(results, names.size());
      for_each(results, [&](std::span<const std::string_view> row) {
        append_json_row(text, heads, row, types);
        return writer.flush_some();
      });
      break;
    }
    case TableForm::parquet: {
      ParquetWriter parquet(names, cell_types(results, names.size()));
      parquet.begin(text);
      for_each(results, [&](std::span<const std::string_view> row) {
        parquet.add(text, row);
        return writer.flush_some();
      });
      parquet.end(text);
      break;
    }
  }
}

std::expected<void, std::string> Table::write_file(const std::string& path, TableForm form) const {
  return sweep::write_file(path, [&](Writer& writer) { write(writer, form); });
}

std::expected<void, std::string> Table::print_csv() const {
  return write_to_stdout([&](Writer& writer) { write(writer, TableForm::csv); });
}

std::string Table::excerpt(std::size_t most_rows) const {
  constexpr std::size_t widest = 40;
  const Cells results = result_names(grouping_.statistics.empty() ? most_rows : all_rows), names = columns(results);
  std::vector<Cells> shown{names};
  bool has_more = false;
  for_each(results, [&](std::span<const std::string_view> cells) {
    Cells row(cells.begin(), cells.end());
    for (std::string& cell : row) {
      std::ranges::replace_if(
          cell, [](char sign) { return static_cast<unsigned char>(sign) < ' '; }, ' ');
      if (terminal::text_width(cell) > widest)
        cell = cell.substr(0, stdlib::native::utf8_offset(cell, widest - 3)) + "...";
    }
    has_more = shown.size() > most_rows;
    if (!has_more) shown.push_back(std::move(row));
    return !has_more;
  });
  std::vector<std::size_t> widths(names.size());
  std::vector<bool> is_number(names.size(), true);
  for (const Cells& row : shown) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], terminal::text_width(row[i]));
      if (&row != shown.data() && !row[i].empty() && !read_number(row[i]) && !is_not_finite(row[i]))
        is_number[i] = false;
    }
  }
  std::string text;
  for (const Cells& row : shown) text += line_of(row, widths, is_number);
  if (has_more) text += "...\n";
  return text;
}

}  // namespace raddle::sweep
