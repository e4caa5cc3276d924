#include "compiler/sweep/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <unordered_map>

#include "compiler/sweep/json_text.hpp"
#include "compiler/sweep/parquet.hpp"
#include "compiler/sweep/scan.hpp"
#include "compiler/terminal/text_width.hpp"
#include "stdlib/native/utf8.hpp"
#include "vm/value/reduction.hpp"

namespace raddle::sweep {
namespace {

constexpr std::array<std::pair<std::string_view, Statistic>, 6> statistics = {{{"mean", Statistic::mean},
                                                                               {"std", Statistic::std_},
                                                                               {"n", Statistic::n},
                                                                               {"min", Statistic::min},
                                                                               {"max", Statistic::max},
                                                                               {"sum", Statistic::sum}}};

std::string_view name_of_statistic(Statistic wanted) {
  return std::ranges::find(statistics, wanted, &std::pair<std::string_view, Statistic>::second)->first;
}

/// Of a result: a boolean counts as 1 or 0, so that its mean is a share.
std::optional<double> number_of(std::string_view result) {
  if (result == "true" || result == "false") return result == "true" ? 1 : 0;
  return read_number(result);
}

/// So that `min` is the text of one of the values, and equal means are equal texts.
std::string exact_text(double number) { return fmt::format("{}", number == 0 ? 0.0 : number); }

/// As `sum`, `avg` and the like of the language: the sum is compensated, the mean is the sum by the number. The
/// deviation is that of a sample, by Welford's running variance.
class Summary {
 public:
  void add(double value) {
    ++count_;
    const double distance = value - running_mean_;
    running_mean_ += distance / static_cast<double>(count_);
    squares_ += distance * (value - running_mean_);
    sum_.add(value);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  /// "" where it is not defined.
  std::string text(Statistic statistic) const {
    if (statistic == Statistic::n) return std::to_string(count_);
    if (count_ == 0 || (statistic == Statistic::std_ && count_ == 1)) return "";
    switch (statistic) {
      case Statistic::n: break;
      case Statistic::mean: return exact_text(sum_.total() / static_cast<double>(count_));
      case Statistic::std_: return exact_text(std::sqrt(squares_ / static_cast<double>(count_ - 1)));
      case Statistic::min: return exact_text(min_);
      case Statistic::max: return exact_text(max_);
      case Statistic::sum: return exact_text(sum_.total());
    }
    return "";
  }

 private:
  std::uint64_t count_ = 0;
  double running_mean_ = 0, squares_ = 0;
  vm::CompensatedSum sum_;
  double min_ = std::numeric_limits<double>::infinity(), max_ = -min_;
};

/// @param heads       the columns' names in quotes, with the colon   @param are_texts  by column: all cells are strings
/// @param is_number   whether a column has numbers only: then what JSON has no number for is null
void append_json_row(std::string& text, const std::vector<std::string>& heads, std::span<const std::string_view> cells,
                     const std::vector<bool>& are_texts, const std::function<bool(std::size_t)>& is_number) {
  char before = '{';
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    (text += before) += heads[i];
    if (are_texts[i])
      text += json_string(cells[i]);
    else
      text += is_not_finite(cells[i]) && is_number(i) ? "null" : json_value(cells[i]);
    before = ',';
  }
  text += before == '{' ? "{}\n" : "}\n";
}

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

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

std::optional<Statistic> statistic_named(std::string_view name) {
  for (const auto& [known, statistic] : statistics)
    if (known == name) return statistic;
  return std::nullopt;
}

std::vector<std::string> statistic_names() {
  std::vector<std::string> names;
  for (const auto& each : statistics) names.emplace_back(each.first);
  return names;
}

/// Those that are not known before stand in the order in which they first come; points may have different ones.
Table::Cells Table::result_names(std::size_t most_rows) const {
  ResultNames known = rows_.known_results();
  Cells names = std::move(known.names);
  if (known.are_all) return names;
  rows_.for_each([&](const ResultRow& row) {
    for (const auto& [name, value] : row.results)
      if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    return --most_rows != 0;
  });
  return names;
}

Table::Cells Table::results_without_numbers() const {
  std::vector<std::pair<std::string, bool>> have_number;
  rows_.for_each([&](const ResultRow& row) {
    for (const auto& [name, value] : row.results) {
      if (value.empty()) continue;
      auto found = std::ranges::find(have_number, name, &std::pair<std::string, bool>::first);
      if (found == have_number.end()) found = have_number.emplace(found, name, false);
      if (!found->second) found->second = number_of(value).has_value();
    }
    // mostly the first row settles it
    return row.results.empty() || !std::ranges::all_of(have_number, &std::pair<std::string, bool>::second);
  });
  Cells names;
  for (const auto& [name, has_number] : have_number)
    if (!has_number) names.push_back(name);
  return names;
}

Table::Cells Table::columns(const Cells& results) const {
  Cells columns;
  const auto add = [&](std::string name, std::string_view suffix) {  // no two columns may have one name
    while (std::ranges::find(columns, name) != columns.end()) name += suffix;
    columns.push_back(std::move(name));
  };
  if (!grouping_.statistics.empty()) {
    for (const std::size_t parameter : grouping_.parameters) add(rows_.parameters()[parameter].name, "");
    for (const std::string& name : results)
      for (const Statistic statistic : grouping_.statistics)
        add(fmt::format("{}_{}", name, name_of_statistic(statistic)), "_result");
    return columns;
  }
  for (const Parameter& parameter : rows_.parameters()) add(parameter.name, "");
  for (const std::string& name : results) add(name, "_result");
  for (const char* name : {"outcome", "duration_s", "reason"}) add(name, "_of_run");
  return columns;
}

void Table::for_each(const Cells& results, const Visit& visit) const {
  if (!grouping_.statistics.empty()) return for_each_group(results, visit);
  const std::size_t parameter_count = rows_.parameters().size();
  std::vector<std::string_view> cells;
  rows_.for_each([&](const ResultRow& row) {
    cells.assign(row.values.begin(), row.values.end());
    cells.resize(parameter_count + results.size());
    for (const auto& [name, value] : row.results)
      if (const auto found = std::ranges::find(results, name); found != results.end())
        cells[parameter_count + static_cast<std::size_t>(found - results.begin())] = value;
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
    for (const auto& [name, value] : row.results) {
      const auto found = std::ranges::find(results, name);
      const std::optional<double> number = number_of(value);
      if (number && found != results.end())
        group->results[static_cast<std::size_t>(found - results.begin())].add(*number);
    }
    return true;
  });
  for (const Group& each : groups) {
    Cells cells = each.values;
    for (const Summary& summary : each.results)
      for (const Statistic statistic : grouping_.statistics) cells.push_back(summary.text(statistic));
    if (!visit(views_of(cells))) return;
  }
}

/// The columns whose cells are strings even where they look like numbers.
std::vector<bool> Table::are_texts(const Cells& results, std::size_t column_count) const {
  std::vector<bool> are_texts;
  if (!grouping_.statistics.empty()) {
    for (const std::size_t parameter : grouping_.parameters)
      are_texts.push_back(rows_.is_text(rows_.parameters()[parameter].name));
    are_texts.resize(column_count);
    return are_texts;
  }
  for (const Parameter& parameter : rows_.parameters()) are_texts.push_back(rows_.is_text(parameter.name));
  for (const std::string& name : results) are_texts.push_back(rows_.is_text(name));
  are_texts.insert(are_texts.end(), {/*outcome*/ true, /*duration_s*/ false, /*reason*/ true});
  return are_texts;
}

/// What all cells of each column can be read as: it has to be known before the first one is written.
std::vector<ValueType> Table::cell_types(const Cells& results, std::size_t column_count) const {
  std::vector<ValueType> types(column_count, ValueType::int_);
  std::vector<bool> have_values(column_count);
  const std::vector<bool> texts = are_texts(results, column_count);
  for (std::size_t i = 0; i < column_count; ++i)
    if (texts[i]) types[i] = ValueType::string;
  for_each(results, [&](std::span<const std::string_view> row) {
    for (std::size_t i = 0; i < column_count; ++i) {
      if (row[i].empty()) continue;
      have_values[i] = true;
      if (types[i] != ValueType::string) types[i] = common_type(types[i], type_of_cell(row[i]));
    }
    return true;
  });
  for (std::size_t i = 0; i < column_count; ++i)
    if (!have_values[i]) types[i] = ValueType::string;
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
      const std::vector<bool> texts = are_texts(results, names.size());
      std::vector<ValueType> types;  // empty: not needed yet
      const auto is_number = [&](std::size_t column) {
        if (types.empty()) types = cell_types(results, names.size());
        return types[column] != ValueType::string;
      };
      for_each(results, [&](std::span<const std::string_view> row) {
        append_json_row(text, heads, row, texts, is_number);
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
