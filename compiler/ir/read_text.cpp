#include "compiler/ir/read_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "compiler/ir/builtin_names.hpp"
#include "compiler/ir/print.hpp"
#include "compiler/ir/text_tokens.hpp"

namespace raddle::ir {
namespace {

using Kind = Token::Kind;

/// Thrown at the first fault and caught in read_text().
struct Fault {
  std::string text;
};

const std::unordered_map<std::string_view, OpKind>& op_kinds() {
  static const std::unordered_map<std::string_view, OpKind> kinds = {
#define RADDLE_IR_OP(name, text, effect, strict) {text, OpKind::name},
#include "compiler/ir/ops.def"
#undef RADDLE_IR_OP
  };
  return kinds;
}

class Reader {
 public:
  Reader(std::vector<Token> tokens, TypeStore& types) : tokens_(std::move(tokens)), types_(types) {
    for (const char* basic : {"int", "float", "string", "boolean", "void", "blob", "file", "url", "updateable_float"})
      named_types_.emplace(basic, static_cast<TypeId>(named_types_.size() + TypeStore::int_));
  }

  Module run() {
    module_.types = &types_;
    declare_globals();
    std::string entry;
    while (peek().kind != Kind::end) {
      const std::string word = expect(Kind::word, "`struct`, `type`, `entry` or `function`");
      if (word == "struct")
        structure();
      else if (word == "type")
        distinct_type();
      else if (word == "entry")
        entry = expect(Kind::function, "a function");
      else if (word == "function")
        function();
      else
        fail("unknown definition `" + word + "`");
    }
    if (!entry.empty()) module_.entry = function_named(entry);
    return std::move(module_);
  }

 private:
  // --- tokens

  const Token& peek() const { return tokens_[at_]; }
  [[noreturn]] void fail(const std::string& text) const { throw Fault{fmt::format("line {}: {}", peek().line, text)}; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  std::string expect(Kind kind, const char* what) {
    if (peek().kind != kind) fail(fmt::format("expected {}, found `{}`", what, peek().text));
    return take().text;
  }
  bool is(Kind kind, std::string_view text) const { return peek().kind == kind && peek().text == text; }
  bool accept(Kind kind, std::string_view text) {
    if (!is(kind, text)) return false;
    take();
    return true;
  }
  bool accept_word(std::string_view text) { return accept(Kind::word, text); }
  bool accept(char c) { return accept(Kind::punctuation, std::string_view(&c, 1)); }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected `{}`, found `{}`", c, peek().text));
  }
  std::int64_t integer() {
    const std::string text = expect(Kind::number, "a number");
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  Span position(Span otherwise = {}) { return peek().kind == Kind::position ? take().span : otherwise; }

  // --- definitions

  /// Structures and functions may be named before they are defined.
  void declare_globals() {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].kind != Kind::word) continue;
      if (tokens_[i].text == "struct" && tokens_[i + 1].kind == Kind::word)
        named_types_[tokens_[i + 1].text] = types_.new_structure(tokens_[i + 1].text, {});
      if (tokens_[i].text == "function" && tokens_[i + 1].kind == Kind::function)
        module_.functions.emplace_back().name = tokens_[i + 1].text;
    }
  }

  FunctionId function_named(const std::string& name) const {
    const FunctionId id = module_.find(name);
    if (id == none) fail("unknown function @" + name);
    return id;
  }

  TypeId type() {
    const std::string word = expect(Kind::word, "a type");
    TypeId type = TypeStore::error;
    if (word == "bag") {
      expect('<');
      type = types_.bag_of(this->type());
      expect('>');
    } else {
      const auto found = named_types_.find(word);
      if (found == named_types_.end()) fail("unknown type `" + word + "`");
      type = found->second;
    }
    std::vector<TypeId> keys;
    while (accept('[')) {
      keys.push_back(is(Kind::punctuation, "]") ? TypeStore::int_ : this->type());
      expect(']');
    }
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) type = types_.array_of(*key, type);
    return type;
  }

  void structure() {
    const TypeId id = named_types_.at(expect(Kind::word, "a name"));
    expect('{');
    while (!accept('}')) {
      const TypeId field = type();
      types_.structure(id).fields.push_back({expect(Kind::word, "a field"), field, {}});
      expect(';');
    }
  }

  void distinct_type() {
    const std::string name = expect(Kind::word, "a name");
    expect('=');
    named_types_[name] = types_.new_named(name, type());
  }

  void function() {
    Function& function = module_.functions[function_named(expect(Kind::function, "a name"))];
    if (!function.regions.empty()) fail("@" + function.name + " is defined twice");
    function_ = &function;
    variables_.clear();
    const std::string kind = expect(Kind::word, "`composite`, `leaf`, `app` or `foreign`");
    if (kind == "leaf")
      function.kind = FunctionKind::leaf;
    else if (kind == "app")
      function.kind = FunctionKind::app;
    else if (kind == "foreign")
      function.kind = FunctionKind::foreign;
    else if (kind != "composite")
      fail("unknown kind of function `" + kind + "`");
    if (accept_word("files")) function.file_output_count = static_cast<std::uint32_t>(integer());
    function.is_launched = accept_word("launched");
    function.is_batched = function.is_launched && accept_word("in_batches");
    function.demands_leaf = accept_word("demands_leaf");
    if (accept_word("not_leaf")) function.not_leaf_reason = expect(Kind::string, "a reason");
    function.regions.emplace_back();
    function.parameters = declarations(0);
    if (!accept(Kind::punctuation, "->")) fail("expected `->`");
    function.outputs = declarations(0);
    function.span = position();
    region(0);
    for (const auto& [name, id] : variables_)
      if (function.variables[id].region == none)
        throw Fault{fmt::format("@{}: %{} is not declared", function.name, name)};
  }

  // --- variables

  VarId mention(const std::string& name) {
    const auto [found, fresh] = variables_.try_emplace(name, static_cast<VarId>(function_->variables.size()));
    if (!fresh) return found->second;
    function_->variables.push_back({script_name(name), TypeStore::error, {}, none});
    return found->second;
  }

  /// Without what print() has added to make it unique: `x.1`, but not `person.age`; numbers are nameless.
  static std::string script_name(const std::string& text) {
    const auto is_number = [](std::string_view word) {
      return word.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (is_number(text)) return "";
    const std::size_t dot = text.rfind('.');
    return dot != std::string::npos && is_number(text.substr(dot + 1)) ? text.substr(0, dot) : text;
  }

  VarId declare(const std::string& name, RegionId region) {
    const VarId id = mention(name);
    if (function_->variables[id].region != none) fail("%" + name + " is declared twice");
    expect(':');
    function_->variables[id].type = type();
    function_->variables[id].region = region;
    return id;
  }

  /// `(%x: int, %y: float !0:1-2)`
  std::vector<VarId> declarations(RegionId region) {
    std::vector<VarId> ids;
    expect('(');
    while (!accept(')')) {
      if (!ids.empty()) expect(',');
      const VarId id = declare(expect(Kind::variable, "a variable"), region);
      function_->variables[id].span = position();
      ids.push_back(id);
    }
    return ids;
  }

  Operand number(const std::string& text) {
    const char* const end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto [last, code] = std::from_chars(text.data(), end, whole); last == end && code == std::errc())
      return Operand::constant(module_.constant(whole));
    double value = 0;
    if (std::from_chars(text.data(), end, value).ptr != end) fail("malformed number `" + text + "`");
    return Operand::constant(module_.constant(value));
  }

  Operand operand() {
    const Token token = take();
    switch (token.kind) {
      case Kind::variable: return Operand::variable(mention(token.text));
      case Kind::string: return Operand::constant(module_.constant(token.text));
      case Kind::number: return number(token.text);
      case Kind::word:
        if (token.text == "true" || token.text == "false")
          return Operand::constant(module_.constant(token.text == "true"));
        if (token.text == "inf" || token.text == "nan") return number(token.text);
        break;
      case Kind::function:
      case Kind::position:
      case Kind::punctuation:
      case Kind::end: break;
    }
    fail("expected a variable or constant, found `" + token.text + "`");
  }

  std::vector<Operand> operand_list() {
    std::vector<Operand> list;
    do list.push_back(operand());
    while (accept(','));
    return list;
  }

  /// An operation without operands is followed by something on the next line.
  bool at_operand(unsigned line) const {
    const Token& token = peek();
    if (token.line != line) return false;
    if (token.kind == Kind::word)
      return token.text == "true" || token.text == "false" || token.text == "inf" || token.text == "nan";
    return token.kind == Kind::variable || token.kind == Kind::string || token.kind == Kind::number;
  }

  // --- regions and operations

  void region(RegionId id) {
    expect('{');
    if (is(Kind::punctuation, "(")) function_->regions[id].parameters = declarations(id);
    while (!accept('}')) {
      if (accept_word("var")) {
        const VarId variable = declare(expect(Kind::variable, "a variable"), id);
        function_->variables[variable].span = position();
        function_->regions[id].variables.push_back(variable);
      } else if (accept_word("launch")) {
        launch();
      } else if (accept_word("nest")) {
        nest();
      } else if (accept_word("command")) {
        command();
      } else if (accept_word("code")) {
        foreign();
      } else {
        operation(id);
      }
    }
  }

  void launch() {
    IndexLaunch launch;
    launch.kernel = function_named(expect(Kind::function, "a kernel"));
    if (accept_word("captures")) launch.captures = operand_list();
    if (accept_word("projection")) launch.projection = function_named(expect(Kind::function, "a projection"));
    if (accept_word("projected")) launch.projected = operand_list();
    while (std::optional<AccessMode> mode = access_mode()) launch.accesses.push_back(access(*mode));
    function_->launches.push_back(std::move(launch));
  }

  std::optional<AccessMode> access_mode() {
    for (std::size_t mode = 0; mode < std::size(access_modes); ++mode)
      if (accept_word(access_modes[mode])) return static_cast<AccessMode>(mode);
    return std::nullopt;
  }

  Access access(AccessMode mode) {
    Access access{.mode = mode, .data = operand(), .keys = {}, .span = {}};
    if (accept('[')) {
      do access.keys.push_back(key());
      while (accept(','));
      expect(']');
    }
    access.span = position();
    return access;
  }

  Key key() {
    if (accept('#')) return {.kind = Key::Kind::computed, .result = static_cast<std::uint32_t>(integer())};
    Key key;
    const bool is_of_point = accept_word("point");
    if (is_of_point)
      key.stride = accept_word("times") ? integer() : 1;
    else
      key.operand = operand();
    bool is_sum = key.stride != 1 && is_of_point;
    while (accept_word("plus")) {
      is_sum = true;
      if (peek().kind == Kind::variable)
        key.operand = operand();
      else
        key.offset = integer();
    }
    key.kind = is_sum ? Key::Kind::affine : is_of_point ? Key::Kind::point : Key::Kind::same;
    if (key.kind == Key::Kind::point) key.stride = 0;
    return key;
  }

  void nest() {
    LaunchNest nest;
    nest.launch = static_cast<LaunchId>(integer());
    nest.prelude = function_named(expect(Kind::function, "a prelude"));
    if (accept_word("captures")) nest.captures = operand_list();
    if (!accept_word("values")) fail("expected `values`");
    do nest.values.push_back(mention(expect(Kind::variable, "a variable")));
    while (accept(','));
    function_->nests.push_back(std::move(nest));
  }

  void command() {
    Command& command = function_->command;
    command.words = operand_list();
    if (accept_word("stdin")) command.stdin_file = operand();
    if (accept_word("stdout")) command.stdout_file = operand();
    if (accept_word("stderr")) command.stderr_file = operand();
    for (std::size_t i = 0; i < app_limits.size(); ++i)
      if (accept_word(app_limits[i].name)) command.limits[i] = operand();
  }

  void foreign() {
    Foreign& foreign = function_->foreign;
    foreign.kind = static_cast<ForeignKind>(integer());
    foreign.library = expect(Kind::string, "a library");
    foreign.version = expect(Kind::string, "a version");
    foreign.code = expect(Kind::string, "code");
    std::istringstream outputs(expect(Kind::string, "names of outputs"));
    for (std::string name; outputs >> name;) foreign.outputs.push_back(name);
    foreign.varargs = expect(Kind::string, "a name of inputs");
  }

  void operation(RegionId region) {
    Op op;
    std::vector<VarId> follow_operation;  // declared here without a position of their own
    if (peek().kind == Kind::variable) {
      do op.results.push_back(result(region, follow_operation));
      while (accept(','));
      expect('=');
    }
    const unsigned line = peek().line;
    const std::string text = expect(Kind::word, "an operation");
    const auto kind = op_kinds().find(text);
    if (kind == op_kinds().end()) fail("unknown operation `" + text + "`");
    op.kind = kind->second;
    if (peek().kind == Kind::function) callee(op);
    if (at_operand(line)) op.operands = operand_list();
    while (peek().kind == Kind::word && peek().line == line) attribute(op);
    while (is(Kind::punctuation, "{")) nested(op, region);
    op.span = position();
    for (const VarId id : follow_operation) function_->variables[id].span = op.span;
    function_->regions[region].ops.push_back(std::move(op));
  }

  VarId result(RegionId region, std::vector<VarId>& follow_operation) {
    const std::string name = expect(Kind::variable, "a result");
    if (!is(Kind::punctuation, ":")) return mention(name);
    const VarId id = declare(name, region);
    function_->regions[region].variables.push_back(id);
    if (peek().kind == Kind::position)
      function_->variables[id].span = take().span;
    else
      follow_operation.push_back(id);
    return id;
  }

  void callee(Op& op) {
    const std::string name = take().text;
    op.callee = op.kind == OpKind::call_builtin ? find_builtin(name) : function_named(name);
    if (op.callee == none) fail("unknown library function @" + name);
  }

  void nested(Op& op, RegionId around) {
    // the body of a loop sees the variables of its test
    const bool is_loop_body = op.kind == OpKind::loop && op.regions.size() == 1;
    function_->regions.emplace_back().parent = is_loop_body ? op.regions[0] : around;
    const auto id = static_cast<RegionId>(function_->regions.size() - 1);
    op.regions.push_back(id);
    region(id);
  }

  void attribute(Op& op) {
    const std::string word = take().text;
    if (word == "writers" || word == "field" || word == "files")
      op.number = integer();
    else if (word == "mode")
      op.number = update_mode();
    else if (word == "names")
      op.number = 1;
    else if (word == "labels")
      labels(op);
    else if (word == "types")
      operand_types(op);
    else if (word == "prio")
      op.priority = operand();
    else if (word == "test")
      op.condition = operand();
    else if (word == "next")
      op.nexts = operand_list();
    else if (word == "launch")
      op.launch = static_cast<LaunchId>(integer());
    else if (word == "nest")
      op.nest = static_cast<NestId>(integer());
    else if (word == "reduced")
      op.is_reduced = true;
    else if (word == "after")
      op.test_after = true;
    else
      fail("unknown attribute `" + word + "`");
  }

  std::int64_t update_mode() {
    const std::string word = expect(Kind::word, "`incr`, `min` or `scale`");
    for (std::int64_t mode = 0; mode < 3; ++mode)
      if (word == update_modes[mode]) return mode;
    fail("unknown mode `" + word + "`");
  }

  void labels(Op& op) {
    expect('[');
    while (!accept(']')) {
      if (!op.labels.empty()) expect(',');
      op.labels.push_back(integer());
    }
  }

  void operand_types(Op& op) {
    expect('[');
    while (!accept(']')) {
      if (!op.operand_types.empty()) expect(',');
      op.operand_types.push_back(type());
    }
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  TypeStore& types_;
  Module module_;
  Function* function_ = nullptr;
  std::unordered_map<std::string, TypeId> named_types_;
  std::unordered_map<std::string, VarId> variables_;
};

}  // namespace

std::expected<Module, std::string> read_text(std::string_view text, TypeStore& types) {
  std::expected<std::vector<Token>, std::string> tokens = text_tokens(text);
  if (!tokens) return std::unexpected(tokens.error());
  try {
    return Reader(std::move(*tokens), types).run();
  } catch (const Fault& fault) {
    return std::unexpected(fault.text);
  }
}

}  // namespace raddle::ir
