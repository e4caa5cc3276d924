#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/tool/report/device_curves.hpp"
#include "compiler/tool/report/page.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/scan.hpp"

namespace raddle::report {
namespace {

using sweep::json_string;
using sweep::JsonObject;

constexpr std::size_t most_bars = 2000, most_lanes = 64, load_bins = 300;

std::string json_number(double number) { return std::isfinite(number) ? fmt::format("{:.6g}", number) : "null"; }

/// As it is written in the table, if JSON has that; +1 and 1. are numbers of ours that are none of JSON's.
std::string number_cell(const std::string& cell) {
  const std::optional<double> number = sweep::read_number(cell);
  if (!number) return "null";
  std::string json = sweep::json_value(cell);
  return json.starts_with('"') ? fmt::format("{}", *number) : json;
}

class List {
 public:
  void add(std::string_view item) { (items_ += items_.empty() ? "" : ",") += item; }
  std::string text() const { return "[" + items_ + "]"; }

 private:
  std::string items_;
};

std::string_view name_of(Role role) {
  switch (role) {
    case Role::parameter: return "parameter";
    case Role::result: return "result";
    case Role::outcome: return "outcome";
    case Role::duration: return "duration";
    case Role::reason: return "reason";
  }
  return "";
}

std::string_view name_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::number: return "number";
    case ColumnKind::category: return "category";
    case ColumnKind::text: return "text";
  }
  return "";
}

std::string cell_json(const ColumnSummary& column, const std::optional<std::string>& cell) {
  if (!cell) return "null";
  switch (column.kind) {
    case ColumnKind::number: return number_cell(*cell);
    case ColumnKind::text: return json_string(*cell);
    case ColumnKind::category: {
      const auto found = std::ranges::find(column.categories, *cell, &Category::name);
      return found == column.categories.end() ? "null" : std::to_string(found - column.categories.begin());
    }
  }
  return "null";
}

std::string column_json(const TableSummary& table, std::size_t index) {
  const ColumnSummary& column = table.columns[index];
  JsonObject json;
  json.add("name", json_string(column.name));
  json.add("role", json_string(name_of(column.role)));
  json.add("kind", json_string(name_of(column.kind)));
  if (column.is_constant) json.add("constant", "true");
  if (column.kind == ColumnKind::number) {
    json.add("least", fmt::format("{}", column.least.value));
    json.add("greatest", fmt::format("{}", column.greatest.value));
    if (is_logarithmic(column)) json.add("log", "true");
  }
  if (column.kind == ColumnKind::category) {
    List names;
    for (const Category& category : column.categories) names.add(json_string(shown_value(category.name)));
    json.add("names", names.text());
  }
  List cells;
  for (const TableSummary::Row& row : table.sample) cells.add(cell_json(column, row[index]));
  json.add("cells", cells.text());
  return json.text();
}

std::string marginals_json(const TableSummary& table) {
  List all;
  for (const Marginal& marginal : table.marginals) {
    List bins;
    for (const Bin& bin : marginal.bins)
      bins.add(fmt::format("[{},{},{},{},{},{}]", json_number(bin.from), json_number(bin.to), bin.count,
                           json_number(bin.mean), json_number(bin.least), json_number(bin.greatest)));
    all.add(fmt::format("{{\"parameter\":{},\"result\":{},\"bins\":{}}}", marginal.parameter, marginal.result,
                        bins.text()));
  }
  return all.text();
}

std::string durations_json(const TableSummary& table) {
  List bins;
  for (const DurationBin& bin : table.durations)
    bins.add(fmt::format("[{},{},{}]", json_number(bin.from_s), json_number(bin.to_s), bin.count));
  return bins.text();
}

/// Few spans as bars, many as how many were running.
std::string timeline_json(std::vector<Span>& spans) {
  const std::uint32_t lanes = place_in_lanes(spans);
  double end_s = 0;
  for (const Span& span : spans) end_s = std::max(end_s, span.end_s());
  JsonObject json;
  json.add("end", json_number(end_s));
  json.add("lanes", std::to_string(lanes));
  List items;
  if (spans.size() <= most_bars && lanes <= most_lanes) {
    for (const Span& span : spans)
      items.add(fmt::format("[{},{},{},{},{},{}]", span.lane, json_number(span.start_s), json_number(span.duration_s),
                            span.first, span.count, span.failed == 0 ? 1 : 0));
    json.add("bars", items.text());
  } else {
    for (const LoadBin& bin : load_of(spans, 0, end_s, load_bins))
      items.add(fmt::format("[{},{},{}]", json_number(bin.ok), json_number(bin.failed), bin.ended));
    json.add("load", items.text());
  }
  return json.text();
}

}  // namespace

std::string page_data(Report& report) {
  const TableSummary& table = report.table;
  List columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) columns.add(column_json(table, i));
  JsonObject json;
  json.add("schema", "1");
  json.add("run", json_string(report.name));
  json.add("each", json_string(report.each));
  json.add("rows", std::to_string(table.rows));
  json.add("shown", std::to_string(table.sample.size()));
  json.add("columns", columns.text());
  json.add("marginals", marginals_json(table));
  json.add("durations", durations_json(table));
  json.add("timeline", timeline_json(report.spans));
  json.add("devices", device_curves(report.devices, report.began));
  return json.text();
}

}  // namespace raddle::report
