#include "compiler/parse/newcomer_hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "RaddleParser.h"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/foreign_names.hpp"
#include "compiler/parse/expectations.hpp"
#include "compiler/parse/token_hints.hpp"

namespace raddle {

namespace {

using P = RaddleParser;

constexpr std::array operator_words = {
    Word{"and", "`and` is written `&&`"},
    Word{"or", "`or` is written `||`"},
    Word{"is", "`is` is written `==`"},
    Word{"mod", "the remainder is written `%%`"},
    Word{"div", "the quotient of integers is written `%/`"},
    Word{"then", "there is no `then`: a block in braces follows the condition"},
    Word{"do", "there is no `do`: a block in braces follows"},
};

constexpr const char* function_form = "a function is written `(int result) name(int input) { result = ...; }`";
constexpr const char* structure_form = "a structure is written `type name { int field; }`";
constexpr const char* no_modifier = "definitions have no such modifier";
constexpr const char* loop_forms = "`foreach x in a {}` runs over an array, `foreach i in [0:9] {}` over a range";
constexpr const char* import_form = "a module is imported by `import name;`, with all that it has";

struct StatementWord {
  std::string_view word;
  NameUse use;  ///< what the word is taken for, where `help` is empty
  std::string_view help;
  bool has_block;
};
constexpr std::array statement_words = {
    StatementWord{"return", NameUse::function, {}, false},
    StatementWord{"def", {}, function_form, true},
    StatementWord{"function", {}, function_form, true},
    StatementWord{"func", {}, function_form, true},
    StatementWord{"fn", {}, function_form, true},
    StatementWord{"let", NameUse::type, {}, false},
    StatementWord{"var", NameUse::type, {}, false},
    StatementWord{"unsigned", NameUse::type, {}, false},
    StatementWord{"class", {}, structure_form, false},
    StatementWord{"struct", {}, structure_form, false},
    StatementWord{"print", NameUse::function, {}, false},
    StatementWord{"echo", NameUse::function, {}, false},
    StatementWord{"puts", NameUse::function, {}, false},
    StatementWord{"while", NameUse::function, {}, true},
    StatementWord{"elif", NameUse::function, {}, true},
    StatementWord{"elsif", NameUse::function, {}, true},
    StatementWord{"from", {}, import_form, false},
    StatementWord{"include", {}, import_form, false},
    StatementWord{"Foreach", NameUse::function, {}, true},
    StatementWord{"ForEach", NameUse::function, {}, true},
    StatementWord{"forEach", NameUse::function, {}, true},
    StatementWord{"imports", {}, "did you mean `import`?", false},
    StatementWord{"Import", {}, "did you mean `import`?", false},
    StatementWord{"with", NameUse::function, {}, false},
    StatementWord{"raise", NameUse::function, {}, false},
    StatementWord{"throw", NameUse::function, {}, false},
    StatementWord{"assert", NameUse::function, {}, false},
    StatementWord{"public", {}, no_modifier, false},
    StatementWord{"static", {}, no_modifier, false},
};

bool is_sign(std::uint32_t type) { return type == P::PLUS || type == P::MINUS; }
bool is_arithmetic(std::uint32_t type) { return type >= P::PLUS && type <= P::POWER; }

bool ends_factor(std::uint32_t type) {
  return type == P::ID || type == P::INT || type == P::FLOAT || type == P::RPAREN || type == P::RBRACK;
}

/// `int f(` or `int[] f(` from token `start` to `open`.
bool is_function_of_c(TokenList& tokens, std::size_t start, std::size_t open) {
  if (open < start + 2 || tokens.at(start).type != P::ID || tokens.at(open - 1).type != P::ID) return false;
  for (std::size_t i = start + 1; i + 1 < open; ++i)
    if (tokens.at(i).type != P::LBRACK && tokens.at(i).type != P::RBRACK) return false;
  return true;
}

/// `name(int x) {`, `(int o) name(`: token `index` is the name of the first parameter.
bool is_formal(TokenList& tokens, std::size_t index) {
  if (index < 2 || tokens.at(index - 2).type != P::LPAREN) return false;
  const std::uint32_t partner = tokens.at(index - 2).partner;
  if (partner == SourceToken::no_partner) return false;
  const std::uint32_t behind = tokens.at(partner + 1).type;
  return behind == P::LBRACE || behind == P::ID;
}

/// `a.name(`, `np.random.name(`: token `open` is the parenthesis.
std::string hint_for_method(TokenList& tokens, std::size_t open) {
  const std::string_view name = tokens.text(tokens.at(open - 1));
  std::size_t first = open - 3;  // of `a.b` before the last dot
  while (first >= 2 && tokens.at(first).type == P::ID && tokens.at(first - 1).type == P::DOT) first -= 2;
  const std::string_view dotted =
      tokens.text().substr(tokens.at(first).begin, tokens.at(open - 1).end - tokens.at(first).begin);
  if (const std::string_view help = help_for_foreign_name(dotted, NameUse::function); !help.empty())
    return std::string(help);
  if (name == "append" || name == "push" || name == "push_back" || name == "add")
    return "an array is made by its elements, `a[i] = x;`; a bag takes more, `b += x;`";
  if (const std::string_view help = help_for_foreign_name(name, NameUse::function); !help.empty())
    return std::string(help);
  const bool is_module = !help_for_foreign_name(tokens.text(tokens.at(first)), NameUse::variable).empty();
  if (is_module || tokens.at(first).type != P::ID)
    return fmt::format("a function stands without a value or a module before it: `{}(...)`{}", name,
                       is_module ? "" : ", the value is an argument");
  const std::string_view value =
      tokens.text().substr(tokens.at(first).begin, tokens.at(open - 3).end - tokens.at(first).begin);
  return fmt::format("a function stands without a value or a module before it: `{}({}{})`", name, value,
                     tokens.at(open + 1).type == P::RPAREN ? "" : ", ...");
}

/// `(int) x`: the type stands before token `index`; empty if it is something else, as the outputs of a definition.
std::string hint_for_cast(TokenList& tokens, std::size_t index, std::size_t start) {
  const std::uint32_t found = tokens.at(index).type;
  const bool begins_value = found == P::ID || found == P::INT || found == P::FLOAT || found == P::LPAREN;
  if (!begins_value || index < start + 4 || tokens.at(index - 1).type != P::RPAREN) return {};
  if (tokens.at(index - 3).type != P::LPAREN || tokens.at(index - 2).type != P::ID) return {};
  const std::string_view type = tokens.text(tokens.at(index - 2));
  const std::string_view value = tokens.text(tokens.at(index));
  const std::string shown(found == P::LPAREN ? "..." : value);
  if (type == "int" || type == "long") return fmt::format("a `float` becomes an `int` by `toInt({})`, cut off", shown);
  if (type == "float" || type == "double") return "an `int` becomes a `float` by itself where one is needed";
  if (type == "int32" || type == "float32") return fmt::format("write `{}({})`", type, shown);
  if (type == "string") return fmt::format("write `toString({})`", shown);
  return {};
}

/// `f = function(x) x`, as in R: token `index` stands behind the parentheses.
bool follows_function_word(TokenList& tokens, std::size_t index) {
  if (index < 3 || tokens.at(index - 1).type != P::RPAREN) return false;
  const std::uint32_t open = tokens.at(index - 1).partner;
  return open != SourceToken::no_partner && open > 0 && tokens.text(tokens.at(open - 1)) == "function";
}

/// A variable has one value: `x += 1`, `i++`.
std::string hint_for_change(std::string_view sign, std::string_view change, const SourceToken* variable,
                            std::string_view name) {
  std::string help = fmt::format("there is no `{}`; a variable is assigned once", sign);
  if (variable != nullptr && variable->type == P::ID)
    help += fmt::format(": a new value has a name of its own, `next_{0} = {0} {1};`", name, change);
  return help;
}

/// `file f("a.txt")`: the text of the mapping, which stands in other brackets; empty if it is a definition.
std::string_view mapping_text(TokenList& tokens, std::size_t start, std::size_t open) {
  const std::uint32_t partner = tokens.at(open).partner;
  const std::string_view type = tokens.text(tokens.at(start));
  if (partner == SourceToken::no_partner || partner == open + 1 || start + 2 != open) return {};
  if ((type != "file" && type != "url") || tokens.at(partner + 1).type == P::LBRACE) return {};
  return tokens.text().substr(tokens.at(open + 1).begin, tokens.at(partner - 1).end - tokens.at(open + 1).begin);
}

/// What such a statement should look like here.
std::string outputs_first(TokenList& tokens, std::size_t start, std::size_t open) {
  const std::string_view name = tokens.text(tokens.at(open - 1));
  if (const std::string_view mapping = mapping_text(tokens, start, open); !mapping.empty())
    return fmt::format("a file is mapped to its path with `<` and `>`: `{} {} <{}>`", tokens.text(tokens.at(start)),
                       name, mapping);
  const std::string_view type =
      tokens.text().substr(tokens.at(start).begin, tokens.at(open - 2).end - tokens.at(start).begin);
  if (name == "main") return "the main function is written `main() { ... }`; statements at top level do without one";
  if (type == "void") return fmt::format("a function without outputs is written `{}(...) {{ ... }}`", name);
  return fmt::format(
      "outputs have names and stand in parentheses before that of the function: `({} o) {}(...) {{ o = ...; }}`", type,
      name);
}

}  // namespace

constexpr std::string_view product_of_matrices =
    "the product of matrices is `matmul(a, b)`, of vectors, too, after `import arrays;`";

std::string hint_for_unexpected(TokenList& tokens, const Unexpected& at) {
  const std::size_t index = at.found.index;
  const std::uint32_t found = at.found.type;
  if (follows_function_word(tokens, index)) return function_form;
  const std::uint32_t after = tokens.at(index + 1).type;
  const SourceToken* before = index == 0 ? nullptr : &tokens.at(index - 1);
  const std::uint32_t previous = before == nullptr ? 0 : before->type;
  const std::string_view word = previous == P::ID ? tokens.text(*before) : std::string_view();
  if (word == "not") return "`not` is written `!`";
  if (word == "lambda") return "a function has a name: `(float y) f(float x) { y = x + 1.0; }`";
  if (found == P::STRING && word.size() == 1 && before->end == at.found.begin)
    return "a string has no letter before it; values are put into one by `\"x is %i\" % x` or `\"x is \" + x`";
  if (found == P::ID)
    for (const Word& entry : operator_words)
      if (tokens.text(at.found) == entry.word) return entry.help;
  const bool in_update = at.rule == P::RuleFor_update;
  if (is_sign(found) && (previous == found || after == found)) {
    const std::string_view sign = tokens.text(at.found);
    if (in_update && before != nullptr) return fmt::format("write `{0} = {0} {1} 1`", tokens.text(*before), sign);
    const SourceToken* const variable = previous == found && index >= 2 ? &tokens.at(index - 2) : before;
    return hint_for_change(fmt::format("{0}{0}", sign), fmt::format("{} 1", sign), variable,
                           variable == nullptr ? "" : tokens.text(*variable));
  }
  if (in_update && before != nullptr && (found == P::APPEND || is_arithmetic(found))) {
    const std::string_view value = tokens.text(tokens.at(index + (found == P::APPEND ? 1 : 2)));
    return fmt::format("write `{0} = {0} {1} {2}`", tokens.text(*before), tokens.text(at.found).substr(0, 1), value);
  }
  if (found == P::ASSIGN && previous == P::GT && index >= 4 && tokens.at(index - 3).type == P::LT)
    return fmt::format("an update is written `{} <{}> := ...;`", tokens.text(tokens.at(index - 4)),
                       tokens.text(tokens.at(index - 2)));
  if (found == P::UPDATE && previous == P::ID)
    return fmt::format("a variable is assigned with `=`; of an `updateable_float` write `{} <incr> := ...;`",
                       tokens.text(*before));
  if (found == P::COLON && tokens.at(at.start).type == P::FOREACH && after != P::LBRACE &&
      !tokens.at(index + 1).first_on_line)
    return fmt::format("a range stands in brackets, `[{}:{}]`", tokens.text(*before),
                       tokens.text(tokens.at(index + 1)));
  if (is_arithmetic(found) && after == P::ASSIGN)
    return hint_for_change(fmt::format("{}=", tokens.text(at.found)), fmt::format("{} ...", tokens.text(at.found)),
                           before, before == nullptr ? "" : tokens.text(*before));
  if (found == P::ASSIGN && (previous == P::EQ || previous == P::NE))
    return fmt::format("write `{}`", tokens.text(*before));
  if (found == P::ASSIGN && at.closing_due) return "`=` assigns; to compare, write `==`";
  if ((found == P::TIMES || found == P::DIVIDE || found == P::POWER) && previous == P::DOT)
    return fmt::format("operators work element by element on dense arrays: write `{}`", tokens.text(at.found));
  if (found == previous && (found == P::LT || found == P::GT) && before->end == at.found.begin)
    return found == P::LT ? "there are no operators for bits: `x << k` is `x * 2 ** k`, as a `float`"
                          : "there are no operators for bits: `x >> k` is `floor(x / 2 ** k)`, as a `float`";
  if (std::string cast = hint_for_cast(tokens, index, at.start); !cast.empty()) return cast;
  if (found == P::TIMES && after == P::DIVIDE) return "comments do not nest: the comment ended at the first `*/`";
  if (begins_item(found) && at.rule == P::RuleStatements)
    return "definitions and imports stand at top level, outside of functions and blocks";
  if (begins_nested_definition(tokens, at.found))
    return "functions are defined at top level, outside of functions and blocks";
  if ((found == P::STRING || found == P::MULTILINE_STRING) && previous == found && at.rule != P::RuleImport_item)
    return "strings side by side are not joined: put `+` between them";
  if (found == P::BAR) return "`or` is written `||`";
  const bool lacks_dimension =
      (found == P::COMMA && previous == P::LBRACK) || (found == P::RBRACK && previous == P::COMMA);
  if (lacks_dimension && at.rule != P::RuleArray_literal)
    return "a dimension without an index is written `:`, as in `float A[:, :] = ones(3, 4);` and `A[i, :]`";
  if (tokens.text(at.found) == "..." && (previous == P::LBRACK || after == P::RBRACK))
    return "there is no `...`: each dimension has an index or `:`, `A[:, :, 0]`";
  if (found == P::AT && ends_factor(previous) && !at.found.first_on_line) return std::string(product_of_matrices);
  if (found == P::GT && previous == P::LT) return "unequal is written `!=`";
  if (found == P::MINUS && previous == P::LT && before->end == at.found.begin) return "a variable is assigned with `=`";
  if (found == P::TIMES && previous == P::FORMAT && after == P::FORMAT) return std::string(product_of_matrices);
  if (found == P::ASSIGN && previous == P::ID && tokens.at(at.start + 1).type == P::ASSIGN && index > at.start + 1)
    return "each variable has an assignment of its own: `y = 3; x = y;`";
  if (found == P::ASSIGN && previous == P::RPAREN && tokens.at(at.start).partner == index - 1)
    return "several results are taken without types, `(x, y) = f();`: that declares the names which are new";
  if (found == P::LPAREN && is_function_of_c(tokens, at.start, index)) return outputs_first(tokens, at.start, index);
  if (found == P::LPAREN && previous == P::ID && index >= 3 && tokens.at(index - 2).type == P::DOT)
    return hint_for_method(tokens, index);
  if (found == P::ARROW && previous == P::RBRACE)
    return "`=>` follows an assignment or a call; to go on behind a block, assign in it and write `wait (x) {}`";
  if (found == P::COMMA && previous == P::INT && tokens.at(index - 2).type == P::CASE)
    return "a `case` has one value: write a `case` for each, or `if (x == 1 || x == 2) {}`";
  if (index >= 2 && tokens.at(index - 2).type == P::IMPORT && tokens.text(at.found) == "as")
    return fmt::format("a module is imported by `import name;`, its functions are called without its name{}{}",
                       help_for_foreign_name(word, NameUse::module).empty() ? "" : "; ",
                       help_for_foreign_name(word, NameUse::module));
  if (found == P::COMMA && at.rule == P::RuleImport_item)
    return "an `import` for each module: `import io; import files;`";
  if (found == P::LBRACE && previous == P::FOREACH) return loop_forms;
  if (found == P::LPAREN && previous == P::FOREACH) return "`foreach x in a {}` has no parentheses";
  if (found == P::FOR && !at.found.first_on_line)
    return "arrays are filled by loops: `foreach x, i in a { squares[i] = x * x; }`";
  if (found == P::IF && !at.found.first_on_line && previous != P::ELSE) return conditional_values;
  if (found == P::IN) return loop_forms;
  if (found == P::COLON && (previous == P::RPAREN || previous == P::ELSE || tokens.at(at.start).type == P::FOREACH))
    return "a block stands in braces";
  if (at.rule == P::RuleMap_entry)
    return "an array is written `[a, b]`; in braces it has keys, `{\"a\": 1}`; the fields of a structure are assigned "
           "one by one, `s.x = 1;`";
  if (found == P::CONST) return "a constant is written `global const int x = 3;`; no variable can be assigned twice";
  return {};
}

std::string hint_for_word(TokenList& tokens, const SourceToken& found) {
  switch (found.type) {
    case P::STDIN:
    case P::STDOUT:
    case P::STDERR: return fmt::format("a redirection is written `@{}=file`", tokens.text(found));
    case P::ASSIGN: {  // `@stdot=file`
      if (found.index < 2 || tokens.at(found.index - 2).type != P::AT) break;
      const std::string given(tokens.text(tokens.at(found.index - 1)));
      const std::string nearest = nearest_name(given, {"stdin", "stdout", "stderr"});
      return nearest.empty() ? "the redirections are `@stdin=file`, `@stdout=file` and `@stderr=file`"
                             : fmt::format("did you mean `@{}=`?", nearest);
    }
    case P::GT: return "there is no shell: standard output goes to a file by `@stdout=file`, errors by `@stderr=file`";
    case P::LT: return "there is no shell: standard input comes from a file by `@stdin=file`";
    case P::BAR:
      return "there is no shell and so no pipe: write an app for each program, with a file between them, or call a "
             "shell: "
             "`\"sh\" \"-c\" \"a | b\"`";
    default: break;
  }
  return "the words of a command line are strings, variables, or expressions in parentheses";
}

/// `x = @default=0 a[3];`
static std::string hint_for_annotated_expression(TokenList& tokens, std::size_t last) {
  for (std::size_t i = last; i > 0; --i) {
    const std::uint32_t type = tokens.at(i).type;
    if (type == P::SEMI || type == P::LBRACE || type == P::RBRACE) break;
    if (tokens.at(i - 1).type != P::AT) continue;
    const std::string_view name = tokens.text(tokens.at(i));
    if (name != "default") return fmt::format("`@{}` stands before a call", name);
    return "`@default=VALUE` stands before a call, as in `x = @default=0 f(y);`; for what is no call write "
           "`try { x = ...; } else { x = 0; }`";
  }
  return {};
}

std::string hint_for_missing_parenthesis(TokenList& tokens, const SourceToken& keyword) {
  if (keyword.type == P::FOR)
    return "`foreach x in a {}` runs over an array, `foreach i in [0:9] {}` over a range, "
           "`for (int i = 0; i < n; i = i + 1) {}` in order";
  if (keyword.type == P::IF) return "write `if (condition) {}`";
  return hint_for_annotated_expression(tokens, keyword.index);
}

std::string hint_for_comment_behind(TokenList& tokens, const SourceToken& last) {
  const std::string_view text = tokens.text().substr(last.end);
  std::string_view line = text.substr(0, text.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with("//") || line.find(';') == std::string_view::npos) return {};
  return "`//` begins a comment; the quotient of integers is written `%/`";
}

bool begins_nested_definition(TokenList& tokens, const SourceToken& found) {
  return found.type == P::ID && found.index > 0 && tokens.at(found.index - 1).type == P::ID &&
         is_formal(tokens, found.index);
}

std::string_view hint_for_block_after(TokenList& tokens, const SourceToken& name, const SourceToken& brace) {
  constexpr std::string_view no_reason =
      "`else` of a `try` gets no value: `try { ... } else { ... }`; what has failed is told when the run has ended";
  if (follows_function_word(tokens, brace.index)) return function_form;
  if (name.type == P::ELSE || (name.index > 0 && tokens.at(name.index - 1).type == P::ELSE)) return no_reason;
  for (const std::string_view word : {"catch", "except"})
    if (tokens.text(name) == word) return no_reason;
  if (const std::string_view help = help_for_foreign_name(tokens.text(name), NameUse::function); !help.empty())
    return help;
  // `f(x, y) {` at top level
  bool are_names = name.depth == 0 && name.type == P::ID && tokens.at(name.index + 1).type == P::LPAREN &&
                   tokens.at(name.index + 1).partner == brace.index - 1 && name.index + 2 < brace.index - 1;
  for (std::size_t i = name.index + 2; are_names && i < brace.index - 1; ++i)
    are_names = tokens.at(i).type == P::ID || tokens.at(i).type == P::COMMA;
  if (are_names) return "the inputs of a function are declared with their types: `f(int x) { ... }`";
  return "a block can not follow here; functions are defined at top level only";
}

/// `type struct { ... }`: then `struct s;` is a declaration.
static bool is_type_of_script(TokenList& tokens, std::string_view word) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    if ((tokens.at(i).type == P::TYPE || tokens.at(i).type == P::TYPEDEF) && tokens.text(tokens.at(i + 1)) == word)
      return true;
  return false;
}

ForeignStatement foreign_statement(TokenList& tokens, std::size_t at) {
  if (tokens.at(at).type != P::ID) return {};
  const SourceToken& next = tokens.at(at + 1);
  if (next.first_on_line) return {};
  switch (next.type) {
    case P::ID:
    case P::INT:
    case P::FLOAT:
    case P::STRING:
    case P::TRUE:
    case P::FALSE:
    case P::MINUS:
    case P::NOT: break;
    default: return {};
  }
  for (const StatementWord& entry : statement_words)
    if (tokens.text(tokens.at(at)) == entry.word && !is_type_of_script(tokens, entry.word))
      return {entry.help.empty() ? help_for_foreign_name(entry.word, entry.use) : entry.help, entry.has_block};
  return {};
}

}  // namespace raddle
