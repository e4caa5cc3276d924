#include "compiler/tool/executable/diagnostics_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/tool/formats/json_text.hpp"

namespace raddle::tool {

namespace {

using sweep::json_string;
using sweep::JsonObject;

void add_place(JsonObject& json, const SourceMap& sources, Span span) {
  const SourceBuffer& file = sources.at(span.file);
  const LineColumn begin = file.position(span.begin), end = file.position(span.end);
  json.add("file", json_string(file.path()));
  json.add("line", std::to_string(begin.line));
  json.add("column", std::to_string(begin.column));
  json.add("end_line", std::to_string(end.line));
  json.add("end_column", std::to_string(end.column));
}

std::string list_of(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ",")); }

std::string strings_json(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(json_string(text));
  return list_of(items);
}

std::string diagnostic_json(const Diagnostic& diagnostic, const SourceMap& sources) {
  JsonObject json;
  json.add("code", json_string(name_of(diagnostic.kind)));
  json.add("severity", severity_of(diagnostic.kind) == Severity::error ? "\"error\"" : "\"warning\"");
  json.add("message", json_string(diagnostic.message));
  add_place(json, sources, diagnostic.span);
  std::vector<std::string> labels;
  for (const Diagnostic::Label& label : diagnostic.labels) {
    JsonObject one;
    one.add("message", json_string(label.text));
    add_place(one, sources, label.span);
    labels.push_back(one.text());
  }
  json.add("labels", list_of(labels));
  json.add("calls", strings_json(diagnostic.calls));
  json.add("help", strings_json(diagnostic.help));
  json.add("notes", strings_json(diagnostic.remarks));
  return json.text();
}

}  // namespace

std::string diagnostics_json(Diagnostics& diagnostics, const SourceMap& sources) {
  diagnostics.order_by_position(0);
  std::vector<std::string> found;
  for (const Diagnostic& diagnostic : diagnostics.all()) found.push_back(diagnostic_json(diagnostic, sources));
  return list_of(found);
}

}  // namespace raddle::tool
