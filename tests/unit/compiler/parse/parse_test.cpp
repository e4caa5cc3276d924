#include "compiler/parse/parse.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compiler/ast/print.hpp"
#include "compiler/parse/tokenize.hpp"

namespace raddle {

namespace {

struct Parsed {
  explicit Parsed(std::string text) : file(sources.add("t.df", std::move(text))) {
    module = parse(file, sources, diagnostics);
  }
  std::string tree() const { return ast::print(*module); }
  /// One line each: `line:col message`.
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    for (const Diagnostic& one : diagnostics.all()) {
      const LineColumn at = sources.position(one.span);
      out.push_back(fmt::format("{}:{} {}", at.line, at.column, one.message));
    }
    return out;
  }
  std::string text_at(Span span) const { return sources.at(file).text().substr(span.begin, span.end - span.begin); }

  SourceMap sources;
  Diagnostics diagnostics;
  std::uint32_t file;
  std::unique_ptr<ast::Module> module;
};

std::string expression(const std::string& text) {
  const Parsed parsed("x = " + text + ";");
  REQUIRE_FALSE(parsed.diagnostics.has_errors());
  return ast::print(*ast::as<ast::Assign>(*parsed.module->statements.statements.at(0)).values.at(0));
}
std::string only_error(const std::string& text) {
  const Parsed parsed(text);
  REQUIRE(parsed.errors().size() == 1);
  return parsed.errors()[0];
}
std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("operators bind as the precedence table says, all to the left") {
  CHECK(expression("a || b && c == d < e + f * g ** h") == "(a || (b && (c == (d < (e + (f * (g ** h)))))))");
  CHECK(expression("2 ** 3 ** 2") == "((2 ** 3) ** 2)");
  CHECK(expression("a - b - c") == "((a - b) - c)");
  CHECK(expression("-x ** 2") == "((-x) ** 2)");
  CHECK(expression("!a == b") == "((!a) == b)");
  CHECK(expression("\"%i\" % 3 + 1") == "((\"%i\" % 3) + 1)");
  CHECK(expression("a %/ b %% c / d") == "(((a %/ b) %% c) / d)");
}

TEST_CASE("literals have their values") {
  CHECK(expression("[0x1F, 0o17, 010]") == "[31, 15, 10]");
  CHECK(expression("-9223372036854775808") == "-9223372036854775808");
  CHECK(expression("[1.5, 1e3, 2.5E-3, NaN, inf]") == "[1.5, 1000.0, 0.0025, NaN, inf]");
  CHECK(expression(R"("\x41\101\\\"\n")") == R"("AA\\\"\n")");
  CHECK(expression("\"\"\"\na \"b\"\n\"\"\"") == R"("\na \"b\"\n")");
  CHECK(expression("----\na--b\n----") == R"("\na--b\n")");
}

TEST_CASE("what an item is follows from its brackets") {
  CHECK(Parsed("(int o) f(int a) { o = a; }").module->functions.size() == 1);
  CHECK(Parsed("f(int a, float b[]) { }").module->functions.size() == 1);
  CHECK(Parsed("() main () { }").module->functions.at(0)->is_main);
  CHECK(Parsed("main { }").module->functions.at(0)->is_main);
  CHECK(Parsed("f(a, b);").module->statements.statements.size() == 1);
  CHECK(Parsed("(a, b) = f(x);").module->statements.statements.size() == 1);
  CHECK(Parsed("@library=\"libm.so.6\" (float y) lgamma(float x);").module->functions.at(0)->body_kind ==
        ast::BodyKind::library);
}

TEST_CASE("the value of an annotation ends before a parenthesis behind a blank") {
  const Parsed parsed("@dispatch=WORKER (int o) f(int i) \"pkg\" \"1.0\" [ \"set <<o>> <<i>>\" ];");
  CHECK(parsed.errors().empty());
  CHECK(parsed.tree() ==
        "module\n  @dispatch=WORKER function (int o) f(int i)\n    tcl \"pkg\" \"1.0\" [\"set <<o>> <<i>>\"]\n");
  CHECK(Parsed("@location=rank2location(2) f(x);").tree() == "module\n  @location=rank2location(2) f(x)\n");
}

TEST_CASE("a command line is cut into words by blanks") {
  const Parsed parsed("app (file o) f(int a[]) { \"cat\" a[0] a [1, 2] (1 + 2) @o @stdout=o }");
  CHECK(parsed.errors().empty());
  CHECK(parsed.tree() ==
        "module\n  app (file o) f(int a[])\n    command \"cat\" a[0] a [1, 2] (1 + 2) @o\n      stdout o\n");
}

TEST_CASE("statements of all forms") {
  CHECK(Parsed("int a, b[] = [1]; file f<\"x\" + i> = g();").tree() ==
        "module\n  declare int a, b[] = [1]\n  declare file f <(\"x\" + i)> = g()\n");
  CHECK(Parsed("u <incr> := 3; bag<int> b; b += 1;").tree() ==
        "module\n  u <incr> := 3\n  declare bag<int> b\n  b += 1\n");
  CHECK(Parsed("f() => int x = g() => foreach v in A { }").tree() ==
        "module\n  chain\n    f()\n    declare int x = g()\n    foreach v in A\n");
  CHECK(Parsed("for (n = 0, float x = 0.0; n < 3; n = n + 1, x = y) { }").tree() ==
        "module\n  for\n    initial n = 0\n    initial float x = 0.0\n    while (n < 3)\n    next n = (n + 1)\n"
        "    next x = y\n");
  CHECK(Parsed("x = A[1:n, :, i];").tree() == "module\n  x = A[1:n, :, i]\n");
}

TEST_CASE("the comment above a parameter is kept for its help") {
  const Parsed parsed("int x = 1;\n// The temperature\n// in Kelvin\n@param float T = 300.0;\n");
  CHECK(ast::as<ast::Declaration>(*parsed.module->statements.statements.at(1)).comment == "The temperature\nin Kelvin");
}

TEST_CASE("spans are byte ranges, behind multi-byte characters too") {
  const Parsed parsed("string s = \"é\" + name;");
  const auto& declaration = ast::as<ast::Declaration>(*parsed.module->statements.statements.at(0));
  const auto& sum = ast::as<ast::Binary>(*declaration.declarators.at(0).value);
  CHECK(parsed.text_at(sum.span) == "\"é\" + name");
  CHECK(parsed.text_at(sum.op_span) == "+");
  CHECK(parsed.text_at(sum.right->span) == "name");
  CHECK(parsed.text_at(declaration.declarators[0].name.span) == "s");
  CHECK(parsed.text_at(declaration.type.span) == "string");
}

TEST_CASE("a missing token is reported behind the token before") {
  CHECK(only_error("int x = 1\nint y = 2;") == "1:10 expected `;` after the statement");
  CHECK(only_error("int x = (1 + 2;\ny = 2;") == "1:15 expected `)`");
  CHECK(only_error("f() {\n  trace(1);\n") == "2:12 expected `}`");
  CHECK(only_error("if x > 3 { } else { }") == "1:3 expected `(` after `if`");
}

TEST_CASE("one mistake gives one error") {
  CHECK(only_error("x = f(a, +);") == "1:10 unexpected `+`, expected an expression");
  CHECK(only_error("q = f(a b);") == "1:9 unexpected `b`, expected `,` or `)`");
  CHECK(only_error("int in = 3;") == "1:5 `in` is a reserved word");
  CHECK(only_error("else { }") == "1:1 `else` without `if`");
  CHECK(only_error("if (a) x = 1;") == "1:8 the body of `if` needs braces");
  CHECK(only_error("file f<\"x\">=g();") == "1:11 unexpected `>=`, expected `>`");
  CHECK(only_error("x = \"a\\q\";") == "1:7 unknown escape `\\q` in a string");
  CHECK(only_error("x = 9223372036854775808;") == "1:5 the integer `9223372036854775808` does not fit in 64 bits");
  CHECK(only_error("printf(\"hello);\ntrace(\"x\");") == "1:8 unterminated string");
}

TEST_CASE("statements behind an error are still read") {
  const Parsed parsed("(int o) f(int in) {\n  o = ;\n  foreach i in A {\n    trace(i)\n  }\n}\ny = 3 +;\ntrace(1);\n");
  CHECK(parsed.errors() == std::vector<std::string>{
                               "1:15 `in` is a reserved word", "2:7 unexpected `;`, expected an expression",
                               "4:13 expected `;` after the statement", "7:8 unexpected `;`, expected an expression"});
  CHECK(parsed.module->statements.statements.size() == 1);
}

TEST_CASE("deep nesting is refused, not followed until the stack ends") {
  for (const char* opening : {"(", "[", "{", "f(", "- ", "bag<", "@a=(", "if (a) { ", "1 + "}) {
    CAPTURE(opening);
    const Parsed parsed("x = " + repeated(opening, 100'000));
    CHECK(!parsed.errors().empty());
  }
  CHECK(Parsed("x = " + repeated("(", 300) + "1" + repeated(")", 300) + ";").errors().empty());
}

TEST_CASE("bytes that are no text do not stop the parser") {
  const Parsed parsed(std::string("x = \0 1;\xFF\xFE \"\xC3\" \x1B[;\ny = 2;", 27));
  CHECK(!parsed.errors().empty());
  CHECK(Parsed("").errors().empty());
  CHECK(Parsed("\xEF\xBB\xBFx = 1;").errors().empty());
}

TEST_CASE("tokens print one a line") {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::uint32_t file = sources.add("t.df", "x = \"é\" +\n 1.5;");
  CHECK(print_tokens(file, sources, diagnostics) ==
        "1:1 ID x\n1:3 ASSIGN =\n1:5 STRING \"é\"\n1:9 PLUS +\n2:2 FLOAT 1.5\n2:5 SEMI ;\n2:6 END_OF_FILE\n");
}

}  // namespace raddle
