#include "compiler/ir/operand_reader.hpp"

#include <fmt/format.h>

#include <charconv>

namespace raddle::ir {

using Kind = Token::Kind;

namespace {

/// Without what print() has added to make it unique: `x.1`, but not `person.age`; numbers are nameless.
std::string script_name(const std::string& text) {
  const auto is_number = [](std::string_view word) {
    return word.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (is_number(text)) return "";
  const std::size_t dot = text.rfind('.');
  return dot != std::string::npos && is_number(text.substr(dot + 1)) ? text.substr(0, dot) : text;
}

}  // namespace

VarId OperandReader::mention(const std::string& name) {
  const auto [found, fresh] = variables_.try_emplace(name, static_cast<VarId>(function_.variables.size()));
  if (!fresh) return found->second;
  function_.variables.push_back({script_name(name), TypeStore::error, {}, none});
  return found->second;
}

VarId OperandReader::declare(const std::string& name, RegionId region) {
  const VarId id = mention(name);
  if (function_.variables[id].region != none) text_.fail("%" + name + " is declared twice");
  text_.expect(':');
  function_.variables[id].type = text_.type();
  function_.variables[id].region = region;
  return id;
}

std::vector<VarId> OperandReader::declarations(RegionId region) {
  std::vector<VarId> ids;
  text_.expect('(');
  while (!text_.accept(')')) {
    if (!ids.empty()) text_.expect(',');
    const VarId id = declare(text_.expect(Kind::variable, "a variable"), region);
    function_.variables[id].span = text_.position();
    ids.push_back(id);
  }
  return ids;
}

Operand OperandReader::number(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto [last, code] = std::from_chars(text.data(), end, whole); last == end && code == std::errc())
    return Operand::constant(text_.module.constant(whole));
  double value = 0;
  if (std::from_chars(text.data(), end, value).ptr != end) text_.fail("malformed number `" + text + "`");
  return Operand::constant(text_.module.constant(value));
}

Operand OperandReader::operand() {
  const Token token = text_.take();
  switch (token.kind) {
    case Kind::variable: return Operand::variable(mention(token.text));
    case Kind::string: return Operand::constant(text_.module.constant(token.text));
    case Kind::number: return number(token.text);
    case Kind::word:
      if (token.text == "true" || token.text == "false")
        return Operand::constant(text_.module.constant(token.text == "true"));
      if (token.text == "inf" || token.text == "nan") return number(token.text);
      break;
    case Kind::function:
    case Kind::position:
    case Kind::punctuation:
    case Kind::end: break;
  }
  text_.fail("expected a variable or constant, found `" + token.text + "`");
}

std::vector<Operand> OperandReader::operand_list() {
  std::vector<Operand> list;
  do list.push_back(operand());
  while (text_.accept(','));
  return list;
}

bool OperandReader::at_operand(unsigned line) const {
  const Token& token = text_.peek();
  if (token.line != line) return false;
  if (token.kind == Kind::word)
    return token.text == "true" || token.text == "false" || token.text == "inf" || token.text == "nan";
  return token.kind == Kind::variable || token.kind == Kind::string || token.kind == Kind::number;
}

void OperandReader::check_declared() const {
  for (const auto& [name, id] : variables_)
    if (function_.variables[id].region == none)
      throw Fault{fmt::format("@{}: %{} is not declared", function_.name, name)};
}

}  // namespace raddle::ir
