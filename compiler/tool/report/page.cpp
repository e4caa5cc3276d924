#include "compiler/tool/report/page.hpp"

#include <fmt/format.h>

#include "compiler/tool/report/page_sources.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/formats/scan.hpp"

namespace raddle::report {
namespace {

using sweep::with_commas;

std::string number_text(double number) { return fmt::format("{:.5g}", number); }

/// As it is given, or the first digits of many.
std::string value_text(const std::string& cell) {
  constexpr std::size_t longest = 9;
  const std::optional<double> number = cell.size() > longest ? sweep::read_number(cell) : std::nullopt;
  return number ? fmt::format("{:.6g}", *number) : shown_value(cell);
}

std::string named_values(const std::vector<ColumnSummary>& columns, const std::vector<std::string>& parameters) {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!columns[i].is_constant)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", columns[i].name, value_text(parameters[i]));
  return text;
}

std::string extreme_cell(const TableSummary& table, const Extreme& extreme) {
  return fmt::format("<td class=\"number\">{}</td><td class=\"at\">{}</td>", number_text(extreme.value),
                     html_text(named_values(table.columns, extreme.parameters)));
}

std::string result_row(const TableSummary& table, const ColumnSummary& column) {
  const std::string head = fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td>",
                                       html_text(column.name), with_commas(column.filled));
  if (column.kind == ColumnKind::number)
    return fmt::format("{}<td class=\"number\">{}</td><td class=\"number\">{}</td>{}{}</tr>\n", head,
                       number_text(column.mean), column.finite() > 1 ? number_text(column.deviation) : "",
                       extreme_cell(table, column.least), extreme_cell(table, column.greatest));
  std::string about = column.kind == ColumnKind::text ? "many different texts" : "";
  for (const Category& category : column.categories)
    about += fmt::format("{}{} ({})", about.empty() ? "" : ", ", category.name, with_commas(category.count));
  return fmt::format("{}<td colspan=\"6\">{}</td></tr>\n", head, html_text(about));
}

std::string results_table(const TableSummary& table) {
  std::string rows;
  for (const ColumnSummary& column : table.columns)
    if (column.role == Role::result || column.role == Role::duration) rows += result_row(table, column);
  return fmt::format(
      "<section><h2>Results</h2>\n<div class=\"wide\"><table>\n<thead><tr><th></th><th class=\"number\">values</th>"
      "<th class=\"number\">mean</th><th class=\"number\">std</th><th class=\"number\">least</th><th>at</th>"
      "<th class=\"number\">greatest</th><th>at</th></tr></thead>\n<tbody>\n{}</tbody></table></div></section>\n",
      rows);
}

std::string failures_table(const Report& report) {
  if (report.failures.empty()) return "";
  std::string rows;
  for (const FailureRow& failure : report.failures)
    rows += fmt::format(
        "<tr><td class=\"number\">{}</td><td>{}</td><td class=\"at\">{}</td><td><code>{}</code></td></tr>\n",
        with_commas(failure.count), html_text(failure.what), html_text(failure.parameters), html_text(failure.again));
  return fmt::format(
      "<section><h2>Failures</h2>\n<div class=\"wide\"><table>\n<thead><tr><th "
      "class=\"number\">{}s</th><th>what</th>"
      "<th>the first of them</th><th>once more</th></tr></thead>\n<tbody>\n{}</tbody></table></div></section>\n",
      report.each, rows);
}

/// Values that no axis shows.
std::string constants(const Report& report) {
  const TableSummary& table = report.table;
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const ColumnSummary& column = table.columns[i];
    if (column.role == Role::parameter && column.is_constant && !table.sample.empty())
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", column.name,
                          shown_value(table.sample.front()[i].value_or("")));
  }
  return text.empty() ? "" : fmt::format("The same at every {}: {}.", report.each, text);
}

std::string sample_note(const Report& report) {
  const TableSummary& table = report.table;
  if (table.sample.size() == table.rows) return "";
  return fmt::format(
      "Lines and dots stand for {} {}s drawn by chance out of {}; tables, averages and durations are of all of "
      "them.",
      with_commas(table.sample.size()), report.each, with_commas(table.rows));
}

std::string notes(const Report& report) {
  std::string text;
  const auto add = [&](const std::string& note) {
    if (!note.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", html_text(note));
  };
  for (const std::string& note : report.notes) add(note);
  add(sample_note(report));
  add(constants(report));
  return text;
}

std::string facts(const Report& report) {
  std::string text;
  for (const auto& [name, value] : report.facts)
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(name), html_text(value));
  return "<dl>\n" + text + "</dl>\n";
}

/// Inside of a script nothing may look like its end.
std::string for_script(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char sign : json) {
    if (sign == '<')
      text += "\\u003c";
    else
      text += sign;
  }
  return text;
}

constexpr std::string_view drawings =
    R"(<section><h2>Parameters against results</h2>
<p class="controls"><label>Colour <select id="colour"></select></label>
<span class="hint">Drag along an axis to keep a part of it; a click on the axis takes that back.</span></p>
<div id="parallel" class="wide"></div>
<p class="controls"><label>Across <select id="across"></select></label> <label>Up <select id="up"></select></label></p>
<div id="scatter"></div></section>
<section><h2>Each parameter by itself</h2>
<p class="controls"><label>Result <select id="result"></select></label>
<span class="hint">The mean over all other parameters, between the least and the greatest.</span></p>
<div id="marginals" class="grid"></div></section>
<section><h2>Durations</h2><div id="durations"></div></section>
)";

constexpr std::string_view timeline = R"(<section><h2>Timeline</h2><div id="timeline"></div></section>
)";

constexpr std::string_view devices = R"(<section><h2>Devices</h2>
<p class="hint">Bytes per second on each link, and what is taken of the memory; the line is all of the memory.</p>
<div id="devices"></div></section>
)";

}  // namespace

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char sign : text) {
    switch (sign) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += static_cast<unsigned char>(sign) < ' ' && sign != '\n' && sign != '\t' ? ' ' : sign;
    }
  }
  return escaped;
}

std::string make_page(Report report) {
  const std::string data = for_script(page_data(report));
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Run "
      "{0}</title>\n<style>\n{1}</style>\n"
      "</head>\n<body>\n<header><h1>Run {0}</h1>\n<pre>{2}</pre>\n{3}</header>\n<main>\n{4}"
      "<noscript><p class=\"note\">The drawings need JavaScript.</p></noscript>\n"
      "<p id=\"fault\" class=\"note\" hidden></p>\n",
      html_text(report.name), page_style(), html_text(report.command), facts(report), notes(report));
  if (report.table.rows != 0) (page += results_table(report.table)) += drawings;
  page += failures_table(report);
  if (!report.spans.empty()) page += timeline;
  if (!report.devices.empty()) page += devices;
  page += "</main>\n<div id=\"tip\" hidden></div>\n<script type=\"application/json\" id=\"data\">";
  page += data;
  page += "</script>\n<script>\n";
  page += page_script();
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace raddle::report
