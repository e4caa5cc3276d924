#include "compiler/tool/executable/library_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "stdlib/builtins.hpp"
#include "stdlib/definitions.hpp"
#include "stdlib/expand_definition.hpp"
#include "stdlib/module_sources.hpp"

namespace raddle::tool {

namespace {

std::string text_of(const stdlib::NamedType& type) {
  switch (type.basic) {
    case stdlib::BasicType::int_: return "int";
    case stdlib::BasicType::float_: return "float";
    case stdlib::BasicType::string: return "string";
    case stdlib::BasicType::boolean: return "boolean";
    case stdlib::BasicType::int32: return "int32";
    case stdlib::BasicType::float32: return "float32";
    case stdlib::BasicType::void_: return "void";
    case stdlib::BasicType::blob: return "blob";
    case stdlib::BasicType::file: return "file";
    case stdlib::BasicType::url: return "url";
    case stdlib::BasicType::updateable_float: return "updateable_float";
    case stdlib::BasicType::variable: return std::string(1, type.variable);
  }
  std::unreachable();
}

std::string text_of(const stdlib::SignatureType& type) {
  std::string text = type.is_bag ? fmt::format("bag<{}>", text_of(type.element)) : text_of(type.element);
  for (const stdlib::NamedType& key : type.keys)
    text += key.basic == stdlib::BasicType::int_ ? "[]" : fmt::format("[{}]", text_of(key));
  return text;
}

std::string text_of(const stdlib::Builtin& builtin, const stdlib::SignatureInput& input, bool varargs) {
  std::string text;
  for (const stdlib::SignatureType& type : input.alternatives) text += (text.empty() ? "" : "|") + text_of(type);
  text += fmt::format("{} {}", varargs ? "..." : "", input.name.of(builtin.signature));
  if (!input.has_default) return text;
  const std::string_view quote = input.alternatives[0].is(stdlib::BasicType::string) ? "\"" : "";
  return text + fmt::format("={}{}{}", quote, input.default_value.of(builtin.signature), quote);
}

/// As a user writes a call of it.
std::string text_of(const stdlib::Builtin& builtin) {
  const stdlib::BuiltinSignature& signature = stdlib::signature_of(builtin);
  std::vector<std::string> outputs;
  for (const stdlib::SignatureType& output : signature.outputs) outputs.push_back(text_of(output));
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const bool is_last = i + 1 == signature.inputs.size();
    if (is_last && signature.has_process_count) break;
    inputs.push_back(text_of(builtin, signature.inputs[i], is_last && signature.has_varargs));
  }
  const std::string results = fmt::format("{}", fmt::join(outputs, ", "));
  return fmt::format("{}{} {}({})", signature.has_process_count ? "@par=n " : "",
                     outputs.size() == 1 ? results : fmt::format("({})", results), builtin.name,
                     fmt::join(inputs, ", "));
}

LibraryPage& page_of(std::vector<LibraryPage>& pages, std::string_view module, std::string_view name) {
  const auto same = [&](const LibraryPage& page) { return page.module == module && page.name == name; };
  const auto known = std::ranges::find_if(pages, same);
  if (known != pages.end()) return *known;
  return pages.emplace_back(std::string(module), std::string(name));
}

/// The summary is the comment above; a line of it that is indented further than the others is the example.
void describe(LibraryPage& page, std::string_view comment) {
  constexpr std::string_view mark = "// ", indent = "    ";
  page.summary.clear();
  while (!comment.empty()) {
    std::string_view line = comment.substr(0, comment.find('\n'));
    comment.remove_prefix(line.size() + 1);
    line.remove_prefix(mark.size());
    if (line.starts_with(indent))
      page.example = line.substr(indent.size());
    else
      page.summary += (page.summary.empty() ? "" : " ") + std::string(line);
  }
}

/// As if it had not been broken for its length.
std::string on_one_line(std::string_view head) {
  std::string line;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] != '\n') {
      line += head[i];
      continue;
    }
    while (i + 1 < head.size() && head[i + 1] == ' ') ++i;
    if (line.ends_with(',')) line += ' ';
  }
  return line;
}

std::string signature_of(const stdlib::Definition& definition) {
  const unsigned rank = definition.rank_variable == '\0' ? 0 : stdlib::least_rank(definition.rank_variable);
  std::string text(stdlib::without_variables(on_one_line(definition.head)));
  if (rank != 0) text = stdlib::expanded(text, definition, std::string(1, definition.type_variable), rank);
  if (definition.type_variable != '\0')
    text += fmt::format(", {}: {}", definition.type_variable,
                        fmt::join(stdlib::element_types(definition.type_variable), " "));
  if (rank != 0) text += fmt::format("; likewise for up to {} axes", stdlib::most_axes);
  return text;
}

void add_module_source(std::vector<LibraryPage>& pages, const stdlib::ModuleSource& source) {
  const std::string_view module = source.module == "builtins" ? "" : source.module;
  for (const stdlib::Definition& definition : stdlib::definitions_of(source.text)) {
    if (definition.name.ends_with('_')) continue;
    LibraryPage& page = page_of(pages, module, definition.name);
    page.signatures.push_back(signature_of(definition));
    if (!definition.comment.empty()) describe(page, definition.comment);  // of overloads the first one has it
  }
}

}  // namespace

std::vector<LibraryPage> library_pages() {
  std::vector<LibraryPage> pages;
  for (const stdlib::Builtin& builtin : stdlib::builtins()) {
    if (builtin.name.starts_with('@') || builtin.name.ends_with('_')) continue;  // the compiler's own, a module's own
    LibraryPage& page = page_of(pages, builtin.module, builtin.name);
    page.signatures.push_back(text_of(builtin));
    if (builtin.summary.empty()) continue;
    page.summary = builtin.summary;
    page.example = builtin.example;
  }
  for (const stdlib::ModuleSource& source : stdlib::module_sources()) add_module_source(pages, source);
  std::ranges::stable_sort(pages, {}, &LibraryPage::module);
  return pages;
}

}  // namespace raddle::tool
