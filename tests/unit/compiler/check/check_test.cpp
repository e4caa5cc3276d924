#include "compiler/check/check.hpp"

#include <doctest/doctest.h>

#include "compiler/parse/parse.hpp"

using namespace raddle;

namespace {

/// A checked script with all that its tree refers to.
struct Checked {
  SourceMap sources;
  Diagnostics diagnostics;
  CheckedProgram program;

  explicit Checked(std::string text, std::string imported = "") {
    std::vector<std::unique_ptr<ast::Module>> modules;
    if (!imported.empty()) modules.push_back(parse(sources.add("module.df", imported), sources, diagnostics));
    modules.push_back(parse(sources.add("test.df", std::move(text)), sources, diagnostics));
    program = check(std::move(modules), sources, diagnostics, {});
  }

  /// Names of the kinds reported, in order: "cannot_assign unused_variable".
  std::string kinds() const {
    std::string names;
    for (const Diagnostic& diagnostic : diagnostics.all())
      names += (names.empty() ? "" : " ") + std::string(name_of(diagnostic.kind));
    return names;
  }
  const Variable& variable(const std::string& name) const {
    for (const Variable& variable : program.variables)
      if (variable.name == name) return variable;
    FAIL("no variable ", name);
    return program.variables.front();
  }
  std::string type(const std::string& name) const { return program.types.name(variable(name).type); }
  const ast::Stmt& statement(std::size_t index) const {
    return *program.modules.back()->statements.statements.at(index);
  }
};

std::string kinds(std::string text) { return Checked(std::move(text)).kinds(); }

const ast::Declarator& declarator(const ast::Stmt& statement) {
  return ast::as<const ast::Declaration>(statement).declarators.front();
}

}  // namespace

TEST_CASE("int literals become float where one is wanted, other ints are marked to be widened") {
  const Checked checked("int i = 1; float a = 3; float b = i; float c = -2; trace(i, a, b, c);");
  CHECK(checked.kinds().empty());
  CHECK(declarator(checked.statement(1)).value->type == TypeStore::float_);
  CHECK_FALSE(declarator(checked.statement(1)).value->conversion == ast::Conversion::to_float);
  CHECK(declarator(checked.statement(2)).value->type == TypeStore::int_);
  CHECK(declarator(checked.statement(2)).value->conversion == ast::Conversion::to_float);
  CHECK(declarator(checked.statement(3)).value->type == TypeStore::float_);
}

TEST_CASE("the types that operators give") {
  const Checked checked(
      "i = 7; a = i / 2; b = 2 ** 3; c = i %/ 2; d = i + 1.5; e = \"x\" + i; f = \"a\" / \"b\"; g = \"%i\" % (i);"
      "h = i < 2.5 && true; trace(a, b, c, d, e, f, g, h);");
  CHECK(checked.kinds().empty());
  CHECK(checked.type("a") == "float");
  CHECK(checked.type("b") == "float");
  CHECK(checked.type("c") == "int");
  CHECK(checked.type("d") == "float");
  CHECK(checked.type("e") == "string");
  CHECK(checked.type("f") == "string");
  CHECK(checked.type("g") == "string");
  CHECK(checked.type("h") == "boolean");
  CHECK(kinds("trace(\"a\" + true);") == "bad_operands");
  CHECK(kinds("trace(\"a\" < \"b\");") == "bad_operands");
  CHECK(kinds("trace(true == 1);") == "bad_operands");
}

TEST_CASE("array literals have one element type") {
  const Checked checked(
      "float a[] = [1, 2, 3.5]; float b[] = [0:1:1]; int c[][] = [[1], []];"
      "trace(a[0], b[0], c[0][0]);");
  CHECK(checked.kinds().empty());
  CHECK(kinds("int a[] = [1, \"x\"]; trace(a[0]);") == "mixed_elements");
  CHECK(kinds("a = [];") == "untyped_literal");
  CHECK(kinds("int a[string]; a[1] = 2; trace(a[\"x\"]);") == "wrong_key_type");
}

TEST_CASE("assignment declares; the type is the value's") {
  const Checked checked("(int q, int r) f() { q = 1; r = 2; } (x, y) = f(); B[0] = \"s\"; trace(x, y, B[0]);");
  CHECK(checked.kinds().empty());
  CHECK(checked.type("x") == "int");
  CHECK(checked.type("B") == "string[]");
  CHECK(checked.variable("B").written_by_element);
  CHECK(checked.variable("x").role == VariableRole::global);
}

TEST_CASE("names") {
  CHECK(kinds("trace(x); int x = 4;") == "not_yet_declared");
  CHECK(kinds("int x = 1; { int x = 2; trace(x); } trace(x);") == "hides_local");
  CHECK(kinds("int x = 1; int x = 2;") == "redeclared");
  CHECK(kinds("f() {} int f = 1; f();") == "name_is_function");
  CHECK(kinds("int size = 1; trace(size);").empty());  // a name of the library may be the script's
  CHECK(kinds("f() { trace(late); } f(); int late = 1;").empty());
  CHECK(kinds("int x = 2; f() { int x = 1; trace(x); } f(); trace(x);") == "hides_global");
  CHECK(kinds("int x = 2; f(int x) { trace(x); } f(1); trace(x);").empty());
  CHECK(kinds("f(int x) { int y = x; trace(y); } f(1); int x = 2, y = x; trace(y);").empty());
  CHECK(kinds("f() { x = 3; } f(); int x; trace(x);") == "not_assignable");
  CHECK(kinds("strlen(\"x\");") == "unknown_function");
  CHECK(kinds("import string; n = strlen(\"x\"); trace(n);").empty());
}

TEST_CASE("a suggestion names the nearest name or the module to import") {
  const Checked near("trase(1);");
  REQUIRE(near.diagnostics.all().size() == 1);
  CHECK(near.diagnostics.all()[0].help.at(0) == "did you mean `trace`?");
  const Checked hidden("printf(\"x\");");
  REQUIRE(hidden.diagnostics.all().size() == 1);
  CHECK(hidden.diagnostics.all()[0].help.at(0) == "add `import io;`");
}

TEST_CASE("an exact overload wins over a widening one") {
  const Checked checked(
      "(int o) f(int x) { o = x; } (string o) f(float x) { o = \"\" + x; } a = f(1); b = f(1.5); trace(a, b);");
  CHECK(checked.kinds().empty());
  CHECK(checked.type("a") == "int");
  CHECK(checked.type("b") == "string");
  CHECK(kinds("(int o) g(int x, float y) { o = x; trace(y); } (int o) g(float x, int y) { o = y; trace(x); }"
              "trace(g(1, 2));") == "ambiguous_call");
}

TEST_CASE("arguments are put in the order of the formals, with defaults") {
  const Checked checked("(string o) f(string a, int b=1, int c=2) { o = a + b + c; } s = f(\"x\", c=5); trace(s);");
  CHECK(checked.kinds().empty());
  const auto& call = ast::as<const ast::Call>(*ast::as<const ast::Assign>(checked.statement(0)).values[0]);
  REQUIRE(call.resolved_arguments.size() == 3);
  CHECK(call.resolved_arguments[0] == call.arguments[0].value.get());
  CHECK(ast::as<const ast::IntLiteral>(*call.resolved_arguments[1]).value == 1);
  CHECK(call.resolved_arguments[2] == call.arguments[1].value.get());
  CHECK(kinds("f(int a, int b=1) { trace(a, b); } f(1, d=2);") == "unknown_keyword");
  CHECK(kinds("f(int a) { trace(a); } f(1, 2);") == "wrong_argument_count");
}

TEST_CASE("a variable of `for` that is declared outside has an inner copy") {
  const Checked checked("int n; for (n = 0, int s = 0; n < 3; n = n + 1, s = s + n) { trace(s); } trace(n);");
  CHECK(checked.kinds().empty());
  const auto& loop = ast::as<const ast::For>(checked.statement(1));
  CHECK(loop.variables[0].outer != ast::no_variable);
  CHECK(loop.variables[0].outer != loop.variables[0].variable);
  CHECK(loop.variables[1].outer == ast::no_variable);
  CHECK(loop.variables[0].update != nullptr);
  CHECK(kinds("for (int i = 0, int j = 0; i < 3; i = i + 1) { trace(j); }") == "never_updated");
}

TEST_CASE("single assignment") {
  CHECK(kinds("int x = 1; x = 2; trace(x);") == "assigned_twice");
  CHECK(kinds("int x; if (1) { x = 1; } else { x = 2; } trace(x);").empty());
  CHECK(kinds("int x; if (1) { x = 1; } trace(x);") == "may_be_unassigned");
  CHECK(kinds("int x; if (1) { x = 1; } x = 2; trace(x);") == "may_be_assigned_twice");
  CHECK(kinds("int x; foreach i in [1:3] { x = i; } trace(x);") == "may_be_assigned_twice");
  CHECK(kinds("int x; trace(x);") == "never_assigned");
  CHECK(kinds("int x; trace(x, x);") == "never_assigned");
  CHECK(kinds("int x;") == "unused_variable");
  CHECK(kinds("int _x;").empty());
  CHECK(kinds("int a[]; a[0] = 1; a = [2]; trace(a[0]);") == "assigned_whole_and_in_parts");
  CHECK(kinds("int a[]; a[0] = 1; a[0] = 2; trace(a[0]);") == "element_assigned_twice");
  CHECK(kinds("int a[]; foreach i in [1:3] { a[i] = i; } trace(a[0]);").empty());
  CHECK(kinds("(int o) f() { } trace(f());") == "output_never_assigned");
}

TEST_CASE("a statement that waits for what it assigns") {
  CHECK(kinds("int x; if (x > 1) { x = 2; }") == "deadlock");
  CHECK(kinds("int x; x = x + 1; trace(x);") == "deadlock");
  CHECK(kinds("int a[]; wait (a) { a[0] = 1; } trace(a[0]);") == "deadlock");
  CHECK(kinds("int a[]; a[0] = 1; if (a[0] == 1) { a[1] = 2; } trace(a[1]);").empty());
}

TEST_CASE("structures are made by a constructor or field by field") {
  const std::string type = "type pt { int x; int y; } ";
  CHECK(kinds(type + "pt p = pt(1, 2); trace(p.x);").empty());
  const Checked fields(type + "pt p; p.x = 1; p.y = 2; trace(p.x, p.y);");
  CHECK(fields.kinds().empty());
  CHECK(fields.variable("p").written_by_element);
  CHECK(kinds(type + "pt p; p.x = 1; trace(p.x);") == "field_never_assigned");
  CHECK(kinds(type + "pt p; p.x = 1; trace(p.y);") == "never_assigned");
  CHECK(kinds(type + "pt p = pt(1, 2); trace(p.z);") == "unknown_field");
  CHECK(kinds(type + "pt a[]; a[0].x = 1;") == "field_in_array");
  CHECK(kinds("type t { t inner; }") == "endless_type");
}

TEST_CASE("app functions") {
  CHECK(kinds("app (file o) f(string s) { \"echo\" s @stdout=o } file g<\"x\"> = f(\"a\");").empty());
  CHECK(kinds("app (string o) f() { \"true\" }") == "bad_app_output");
  CHECK(kinds("app (file o) f() { \"true\" }") == "unused_app_output");
  CHECK(kinds("@suppress=unused_output app (file o) f() { \"true\" }").empty());
  CHECK(kinds("app (file o) f(string s) { s o @stdin=\"x\" }") == "bad_redirection");
  CHECK(kinds("app (file o) f(int n) { n o }") == "bad_command");
}

TEST_CASE("parameters and results of the script") {
  const Checked checked("// degrees\n@param float T = 300;\n@result float e = T * 2;");
  CHECK(checked.kinds().empty());
  REQUIRE(checked.program.parameters.size() == 1);
  CHECK(checked.program.parameters[0].default_value->type == TypeStore::float_);
  CHECK(checked.program.results.size() == 1);
  CHECK(kinds("@param int a = 1 + 2; trace(a);") == "bad_parameter");
  CHECK(kinds("{ @param int a = 1; trace(a); }") == "bad_parameter");
  CHECK(kinds("@parm int a = 1; trace(a);") == "unknown_annotation");
}

TEST_CASE("chains") {
  CHECK(kinds("trace(1) => trace(2) => { trace(3); }").empty());
  CHECK(kinds("int x = 1 => trace(x);").empty());
  CHECK(kinds("f() { trace(1); } f() => trace(2);") == "not_chainable");
}

TEST_CASE("named types convert to their base, not back") {
  CHECK(kinds("type t int; t a = t(3); int b = a; float c = a; trace(b, c);").empty());
  CHECK(kinds("type t int; t a = 3; trace(a + 1);") == "cannot_assign");
}

TEST_CASE("an imported module's names are the importer's, too") {
  CHECK(Checked("trace(f(shared));", "(int o) f(int x) { o = x; } int shared = 1;").kinds().empty());
  CHECK(Checked("trace(N);", "global const int N = 3;").kinds().empty());
}

TEST_CASE("one cause, one finding") {
  CHECK(kinds("int x = nothing; trace(x + 1, nothing);") == "unknown_variable");
  CHECK(kinds("bogus a, b; trace(a);") == "unknown_type");
  CHECK(kinds("trace(nothing(1) + \"a\");") == "unknown_function");
}
