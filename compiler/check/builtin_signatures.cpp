#include "compiler/check/builtin_signatures.hpp"

#include <cctype>
#include <charconv>

namespace raddle::check_detail {
namespace {

class SignatureReader {
 public:
  SignatureReader(Context& context, std::string_view text) : context_(context), rest_(text) {}

  bool read(Signature& signature) {
    if (accept('(')) {
      if (!accept(')')) {
        do signature.outputs.push_back(read_type());
        while (accept(','));
        expect(')');
      }
    } else {
      signature.outputs.push_back(read_type());
    }
    expect('(');
    if (!accept(')')) {
      do read_formal(signature);
      while (accept(','));
      expect(')');
    }
    skip_spaces();
    return good_ && rest_.empty();
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) good_ = false;
  }

  std::string read_word() {
    skip_spaces();
    std::size_t length = 0;
    while (length < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '_'))
      ++length;
    const std::string word(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return word;
  }

  TypePattern named(const std::string& word) {
    if (word.size() == 1 && std::isupper(static_cast<unsigned char>(word[0])))
      return {.kind = TypePattern::Kind::variable, .variable = word};
    const auto found = context_.types.find(word);
    if (found == context_.types.end()) good_ = false;
    return {.type = found == context_.types.end() ? TypeStore::error : found->second.type};
  }

  TypePattern read_type() {
    const std::string word = read_word();
    TypePattern type;
    if (word == "bag" && accept('<')) {
      type = {.kind = TypePattern::Kind::bag, .parts = {read_type()}};
      expect('>');
    } else {
      type = named(word);
      accept('!');  // whose object it is makes no difference to types
    }
    accept('!');  // whether a file exists already is lowering's business
    std::vector<TypePattern> keys;
    while (accept('[')) {
      if (accept(']')) {
        keys.push_back({.type = TypeStore::int_});
      } else {
        keys.push_back(read_type());
        expect(']');
      }
    }
    for (auto key = keys.rbegin(); key != keys.rend(); ++key)
      type = {.kind = TypePattern::Kind::array, .parts = {std::move(*key), std::move(type)}};
    return type;
  }

  void read_formal(Signature& signature) {
    FormalPattern formal;
    while (accept('&')) continue;  // what is awaited is the VM's business
    do formal.alternatives.push_back(read_type());
    while (accept('|'));
    if (rest_.starts_with("...")) {
      rest_.remove_prefix(3);
      signature.varargs = true;
    }
    formal.name = read_word();
    if (accept('=')) formal.default_value = read_default();
    signature.inputs.push_back(std::move(formal));
  }

  template <typename Literal, typename Value>
  const ast::Expr* literal(Value value, TypeId type) {
    auto made = std::make_unique<Literal>();
    made->value = std::move(value);
    made->type = type;
    return context_.program.builtin_defaults.emplace_back(std::move(made)).get();
  }

  const ast::Expr* read_default() {
    if (accept('"')) {
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) {
        good_ = false;
        return nullptr;
      }
      std::string text(rest_.substr(0, end));
      rest_.remove_prefix(end + 1);
      return literal<ast::StringLiteral>(std::move(text), TypeStore::string);
    }
    if (rest_.starts_with("true") || rest_.starts_with("false")) {
      return literal<ast::BoolLiteral>(read_word() == "true", TypeStore::boolean);
    }
    return read_number();
  }

  const ast::Expr* read_number() {
    const std::size_t length = std::min(rest_.find_first_of(",) "), rest_.size());
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    const char* const end = word.data() + word.size();
    if (word.find_first_of(".e") == std::string_view::npos) {
      std::int64_t value = 0;
      if (std::from_chars(word.data(), end, value).ptr != end || word.empty()) good_ = false;
      return literal<ast::IntLiteral>(value, TypeStore::int_);
    }
    double value = 0;
    if (std::from_chars(word.data(), end, value).ptr != end) good_ = false;
    return literal<ast::FloatLiteral>(value, TypeStore::float_);
  }

  Context& context_;
  std::string_view rest_;
  bool good_ = true;
};

std::unordered_set<std::string> imported_modules(const Context& context) {
  std::unordered_set<std::string> names = {""};
  for (const auto& module : context.program.modules)
    for (const ast::Import& import : module->imports) names.insert(import.module);
  return names;
}

}  // namespace

std::optional<Signature> read_signature(Context& context, std::string_view text) {
  Signature signature;
  if (!SignatureReader(context, text).read(signature)) return std::nullopt;
  return signature;
}

void declare_builtins(Context& context) {
  const std::unordered_set<std::string> imported = imported_modules(context);
  const auto builtins = stdlib::builtins();
  for (std::uint32_t index = 0; index < builtins.size(); ++index) {
    const stdlib::Builtin& builtin = builtins[index];
    const std::string name(builtin.name);
    if (name.starts_with('@')) continue;  // lowering's own
    if (!imported.contains(std::string(builtin.module))) {
      context.not_imported.try_emplace(name, builtin.module);
      continue;
    }
    std::optional<Signature> signature = read_signature(context, builtin.signature);
    if (!signature) {
      // names a type of a module that is not loaded: nobody can have a value for it
      context.not_imported.try_emplace(name, builtin.module);
      continue;
    }
    signature->name = name;
    signature->kind = ast::CalleeKind::builtin;
    signature->index = index;
    context.callables[name].push_back(std::move(*signature));
  }
}

bool returns_existing_files(const stdlib::Builtin& builtin) {
  return builtin.signature.substr(0, builtin.signature.find('(', 1)).find('!') != std::string_view::npos;
}

}  // namespace raddle::check_detail
