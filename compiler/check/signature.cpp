#include "compiler/check/signature.hpp"

namespace raddle::check_detail {
namespace {

std::string describe(const TypePattern& pattern, const TypeStore& types) {
  switch (pattern.kind) {
    case TypePattern::Kind::concrete: return types.name(pattern.type);
    case TypePattern::Kind::variable: return pattern.variable;
    case TypePattern::Kind::bag: return "bag<" + describe(pattern.parts[0], types) + ">";
    case TypePattern::Kind::array: break;
  }
  // `T[K][L]`: the outermost key first, as in a declaration
  std::string keys;
  const TypePattern* element = &pattern;
  for (; element->kind == TypePattern::Kind::array; element = &element->parts[1]) {
    const TypePattern& key = element->parts[0];
    const bool is_int = key.kind == TypePattern::Kind::concrete && key.type == TypeStore::int_;
    keys += is_int ? "[]" : "[" + describe(key, types) + "]";
  }
  return describe(*element, types) + keys;
}

}  // namespace

std::string describe(const FormalPattern& formal, const TypeStore& types) {
  std::string text;
  for (const TypePattern& alternative : formal.alternatives)
    text += (text.empty() ? "" : "|") + describe(alternative, types);
  return text;
}

std::string describe(const Signature& signature, const TypeStore& types) {
  std::string text = signature.name + "(";
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const FormalPattern& formal = signature.inputs[i];
    if (i != 0) text += ", ";
    text += describe(formal, types);
    if (!formal.name.empty()) text += " " + formal.name;
    if (formal.default_value != nullptr) text += "=...";
    if (signature.varargs && i + 1 == signature.inputs.size()) text += "...";
  }
  return text + ")";
}

}  // namespace raddle::check_detail
