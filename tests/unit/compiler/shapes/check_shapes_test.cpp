#include "compiler/shapes/check_shapes.hpp"

#include <doctest/doctest.h>

#include "compiler/check/check.hpp"
#include "compiler/parse/parse.hpp"

using namespace raddle;

namespace {

/// Names of the kinds reported, in the order of the text.
std::string findings_of(std::string text) {
  SourceMap sources;
  Diagnostics diagnostics;
  std::vector<std::unique_ptr<ast::Module>> modules;
  modules.push_back(parse(sources.add("test.df", std::move(text)), sources, diagnostics));
  check(std::move(modules), sources, diagnostics, {});
  std::string names;
  for (const Diagnostic& diagnostic : diagnostics.all())
    names += (names.empty() ? "" : " ") + std::string(name_of(diagnostic.kind));
  return names;
}

}  // namespace

TEST_CASE("extents are followed through variables that are assigned at one place") {
  const std::string declared = "int n = 2; int m; m = n * 3 - 1; float a[m] = [1, 2, 3, 4, 5]; float b[:] = a[1:];";
  CHECK(findings_of(declared + "trace(a[n + 2], b[3], a[1:4] + b);").empty());
  CHECK(findings_of(declared + "trace(a[n + 3], b[0]);") == "index_outside");
  CHECK(findings_of(declared + "trace(b[end + 1]);") == "index_outside");
  CHECK(findings_of(declared + "trace(a + b);") == "shape_mismatch");
}

TEST_CASE("an int that may be several numbers, or comes from the command line, is not known") {
  const std::string end =
      " float a[n] = [1, 2, 3]; float b[n]; foreach i in [0 : n - 1] { b[i] = a[i]; } trace(b[2], b[5]);";
  CHECK(findings_of("int n = 3;" + end) == "index_outside");
  CHECK(findings_of("@param int n = 3;" + end).empty());
  CHECK(findings_of("@param boolean c = true; int n; if (c) { n = 3; } else { n = 4; }" + end).empty());
}

TEST_CASE("ints that are computed from very many others, the last one first, take no stack") {
  std::string chain = "int v0;";
  for (int i = 1; i <= 3000; ++i) chain += "int v" + std::to_string(i) + ";";
  for (int i = 3000; i > 0; --i) chain += "v" + std::to_string(i) + " = v" + std::to_string(i - 1) + " + 1;";
  CHECK(findings_of(chain + "v0 = 1; float a[2] = [1, 2]; trace(a[v150], v3000);") == "index_outside");
  CHECK(findings_of(chain + "v0 = 1; float a[2] = [1, 2]; trace(a[v3000]);").empty());
}

TEST_CASE("what is under a condition is a warning, of a known condition only what is taken counts") {
  const std::string array = "float a[2] = [1, 2]; @param int k = 0;";
  CHECK(findings_of(array + "if (k > 0) { trace(a[2]); } trace(k);") == "would_fail");
  CHECK(findings_of(array + "if (size(a) > 2) { trace(a[2]); } trace(k);").empty());
  CHECK(findings_of(array + "if (size(a) == 2) { trace(a[2]); } trace(k);") == "index_outside");
  CHECK(findings_of(array + "foreach i in [0:k] { trace(a[2], i); }") == "would_fail");
  CHECK(findings_of(array + "foreach i in [0:1] { trace(a[2], i, k); }") == "index_outside");
  CHECK(findings_of(array + "try { trace(a[2], k); } else { trace(a[1]); }").empty());
}

TEST_CASE("a function is surely done if what is surely done calls it") {
  const std::string function = "float a[2] = [1, 2]; (float y) f() { y = a[3]; } @param int k = 0;";
  CHECK(findings_of(function + "trace(f(), k);") == "index_outside");
  CHECK(findings_of(function + "if (k > 0) { trace(f()); }") == "would_fail");
  CHECK(
      findings_of("(float y[n]) g(float x[n], float z[n + 1]) { y = x + z[1:]; } trace(g([1.0, 2.0], [1.0, 2.0]));") ==
      "shape_mismatch");
}
