#include "stdlib/definitions.hpp"

#include <doctest/doctest.h>

#include "stdlib/module_sources.hpp"

using raddle::stdlib::Definition;
using raddle::stdlib::definitions_of;

TEST_CASE("functions, types, constants and variables with their comments") {
  const std::vector<Definition> all = definitions_of(
      "// The module.\nimport io;\n\n// ---- first\n\n// A sum.\n//     f(1) -> 1\n(int y) f(int x) {\n  y = x;\n}\n"
      "@pure (int y) g_(int x) { y = x; }\ntype pair {\n  int a;\n}\nglobal const float PI = 3.1;\nstring EMPTY[][] = "
      "[];\n");
  REQUIRE(all.size() == 5);
  CHECK(all[0].name == "f");
  CHECK(all[0].head == "(int y) f(int x)");
  CHECK(all[0].comment == "// A sum.\n//     f(1) -> 1\n");
  CHECK(all[0].text == "(int y) f(int x) {\n  y = x;\n}\n");
  CHECK(all[1].name == "g_");
  CHECK(all[1].comment.empty());
  CHECK(all[2].name == "pair");
  CHECK_FALSE(all[2].is_function);
  CHECK(all[3].name == "PI");
  CHECK(all[4].name == "EMPTY");
}

TEST_CASE("definitions with a type variable") {
  const std::vector<Definition> all =
      definitions_of("<W> (W b[n]) f(W a[n]) { b = a; }\n(int y) g(int x) { y = x; }\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "f");
  CHECK(all[0].is_function);
  CHECK(all[0].type_variable == 'W');
  CHECK(all[1].type_variable == '\0');
  CHECK(raddle::stdlib::element_types('T').size() == 5);
  CHECK(raddle::stdlib::element_types('W').size() == 2);
  CHECK(raddle::stdlib::element_types('F').size() == 2);
  CHECK(raddle::stdlib::element_types('F').back() == "float32");
}

TEST_CASE("definitions with a rank variable, and parentheses among their inputs") {
  const std::vector<Definition> all = definitions_of(
      "<T, R> (T b[R]) f(T a[EACH(nK, R)], int axis) { b = a; }\n<Q> (float b[Q]) g(float a[Q]) { b = a; }\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "f");
  CHECK(all[0].type_variable == 'T');
  CHECK(all[0].rank_variable == 'R');
  CHECK(all[1].name == "g");
  CHECK(all[1].type_variable == '\0');
  CHECK(all[1].rank_variable == 'Q');
}

TEST_CASE("all of the library's have names") {
  for (const auto& source : raddle::stdlib::module_sources())
    for (const Definition& definition : definitions_of(source.text)) CHECK_FALSE(definition.name.empty());
}
