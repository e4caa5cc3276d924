#include "compiler/tool/repl/definitions.hpp"

#include <cctype>

namespace raddle::tool::repl {

namespace {

bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Types as they are written, without blanks: `f(int,float[])`.
std::string signature_of(const ast::FunctionDefinition& function, const SourceMap& sources) {
  std::string text = function.name.text + "(";
  const auto add = [&](Span span) {
    for (const char c : text_at(sources, span))
      if (std::isspace(static_cast<unsigned char>(c)) == 0) text += c;
  };
  for (const ast::Formal& input : function.inputs) {
    add(input.type.span);
    for (const ast::Dimension& dimension : input.dimensions) add(dimension.span);
    text += input.varargs ? "...," : ",";
  }
  return text + ")";
}

}  // namespace

std::string_view text_at(const SourceMap& sources, Span span) {
  return std::string_view(sources.at(span.file).text()).substr(span.begin, span.end - span.begin);
}

std::vector<Definition> definitions_of(const ast::Module& module, const SourceMap& sources) {
  std::vector<Definition> all;
  for (const ast::Import& each : module.imports)
    all.push_back({DefinitionKind::import, each.module, each.module, each.span});
  for (const ast::Pragma& each : module.pragmas)
    all.push_back({DefinitionKind::pragma, each.name.text, std::string(text_at(sources, each.span)), each.span});
  for (const ast::TypeDefinition& each : module.types)
    all.push_back({DefinitionKind::type, each.name.text, each.name.text, each.span});
  for (const auto& each : module.constants)
    all.push_back({DefinitionKind::constant, each->name.text, each->name.text, each->span});
  for (const auto& each : module.functions) {
    if (each->is_main) continue;
    Span span = each->span;
    if (!each->annotations.empty()) span.begin = each->annotations.front().span.begin;
    all.push_back({DefinitionKind::function, each->name.text, signature_of(*each, sources), span});
  }
  return all;
}

bool replaces(const Definition& later, const Definition& earlier) {
  return later.kind == earlier.kind && later.signature == earlier.signature;
}

bool is_same(const Definition& one, const Definition& other) {
  return one.span.file == other.span.file && one.span.begin == other.span.begin;
}

void add_names(std::string_view text, std::set<std::string, std::less<>>& names) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    while (i < text.size() && is_part_of_name(text[i])) ++i;
    if (i > begin) names.emplace(text.substr(begin, i - begin));
    if (i == begin) ++i;
  }
}

}  // namespace raddle::tool::repl
