#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/print.hpp"
#include "compiler/ir/read_text.hpp"
#include "compiler/ir/verify.hpp"

namespace raddle::ir {
namespace {

/// A launch of each sort and a nest.
const std::string launching_module = R"(entry @main

function @main composite (%n: int, %shift: float) -> () {
  %a: float[] = array_new writers 1
  %b: float[] = array_new writers 1
  %rows: float[][] = array_new writers 1
  %u: updateable_float = update_new 0.0
  foreach_range 0, %n, 1 launch 0 {(%i: int)
    %x: float = int_to_float %i
    %y: float = add %x, %shift
    array_insert %a, %i, %x
    array_insert %b, %i, %y
    %0: void = update %u, %y mode min
  }
  foreach_range 1, %n, 1 nest 0 {(%t: int)
    %before: int = sub %t, 1
    %s: float = int_to_float %t
    foreach_range 0, %n, 1 launch 1 {(%k: int)
      %1: float[] = array_get %rows, %before
      %2: float = array_get %1, %k
      %3: float = array_get %a, %k
      %4: float = add %2, %3
      %5: float = add %4, %s
      %6: float[] = array_row %rows, %t
      array_insert %6, %k, %5
    }
  }
  launch @both captures %shift
    write %a[point]
    write %b[point]
    min %u
  launch @next captures %s projection @keys projected %before
    read %rows[#0, point]
    read %a[#1]
    write %rows[%t, point]
  nest 1 @prelude values %s, %before, %t
}

function @both launched (%i: int, %shift: float) -> (%0: float, %1: float, %2: float) {
  %0 = int_to_float %i
  %1 = add %0, %shift
  %2 = copy %1
}

function @next launched (%k: int, %0: float, %1: float, %s: float) -> (%2: float) {
  %3: float = add %0, %1
  %2 = add %3, %s
}

function @keys launched (%k: int, %before: int) -> (%0: int, %1: int) {
  %0 = copy %before
  %1 = copy %k
}

function @prelude launched (%t: int) -> (%0: float, %1: int, %2: int) {
  %0 = int_to_float %t
  %1 = sub %t, 1
  %2 = copy %t
}
)";

/// What verify says first of this module with `from` replaced; "" if it is well. As it is it prints as it was read.
std::string problem_in(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  TypeStore types;
  const auto module = read_text(text, types);
  REQUIRE_MESSAGE(module, module.error());
  if (from.empty()) CHECK(print(*module) == text);
  const std::vector<std::string> problems = verify(*module);
  return problems.empty() ? "" : problems[0];
}

std::string problem_with(const std::string& from, const std::string& to) {
  return problem_in(launching_module, from, to);
}

TEST_CASE("launches and nests are verified, printed and read back") {
  TypeStore types;
  const auto module = read_text(launching_module, types);
  REQUIRE_MESSAGE(module, module.error());
  CHECK(verify(*module) == std::vector<std::string>{});
  CHECK(print(*module) == launching_module);
}

TEST_CASE("accesses are those of the loop's body: swapped ones are found") {
  CHECK(problem_with("write %a[point]\n    write %b[point]", "write %b[point]\n    write %a[point]") ==
        "@main: foreach_range: access 0 is not that of the body");
  CHECK(problem_with("read %rows[#0, point]\n    read %a[#1]", "read %a[#0]\n    read %rows[#1, point]") ==
        "@main: foreach_range: access 0 is not that of the body");
  CHECK(problem_with("[#0, point]", "[#1, point]") == "@main: foreach_range: access 0 is not that of the body");
  CHECK(problem_with("write %rows[%t, point]", "write %rows[%before, point]") ==
        "@main: foreach_range: access 2 is not that of the body");
  CHECK(problem_with("min %u", "incr %u") == "@main: foreach_range: access 2 is not that of the body");
  CHECK(problem_with("    min %u\n", "") == "@main: foreach_range: the loop's body has another number of accesses");
  CHECK(problem_with("array_insert %b, %i, %y", "array_insert %b, 0, %y") ==
        "@main: foreach_range: access 1 is not that of the body");
}

TEST_CASE("keys that are affine in the point are those that the body computes") {
  const std::string text = R"(entry @main

function @main composite (%n: int) -> () {
  %a: int[] = array_new writers 0
  %b: int[] = array_new writers 1
  foreach_range 0, %n, 1 launch 0 {(%i: int)
    %0: int = mul %i, 2
    %1: int = add %n, %0
    %2: int = sub %1, 1
    %3: int = array_get %a, %2
    %4: int = sub %n, 1
    %5: int = array_get %a, %4
    %6: int = add %3, %5
    array_insert %b, %i, %6
  }
  launch @sum
    read %a[point times 2 plus %n plus -1]
    read %a[%n plus -1]
    write %b[point]
}

function @sum launched (%i: int, %0: int, %1: int) -> (%2: int) {
  %2 = add %0, %1
}
)";
  const auto problem = [&](const std::string& from, const std::string& to) { return problem_in(text, from, to); };
  CHECK(problem("", "") == "");
  const std::string found = "@main: foreach_range: access 0 is not that of the body";
  CHECK(problem("times 2", "times 3") == found);
  CHECK(problem("plus %n plus -1", "plus %n plus 1") == found);
  CHECK(problem("plus %n plus -1", "plus -1") == found);
  CHECK(problem("[point times 2 plus %n plus -1]", "[point]") == found);
  CHECK(problem("read %a[%n plus -1]", "read %a[%n]") == "@main: foreach_range: access 1 is not that of the body");
  CHECK(problem("mul %i, 2", "idiv %i, 2") == found);
}

TEST_CASE("functions of a launch take and give what the launch says") {
  CHECK(problem_with("@both captures %shift", "@both") == "@main: foreach_range: a launched leaf has other parameters");
  CHECK(problem_with("projected %before", "projected %s") ==
        "@main: foreach_range: a launched leaf has other parameters");
  CHECK(problem_with("launch @both", "launch @next") == "@main: foreach_range: a launched leaf has other parameters");
  CHECK(problem_with("values %s, %before, %t", "values %before, %s, %t") ==
        "@main: foreach_range: a nest computes what its launch takes");
  CHECK(problem_with("nest 1 @prelude", "nest 0 @prelude") == "@main: foreach_range: a nest is around its launch");
}

TEST_CASE("each entry is one operation's") {
  CHECK(problem_with("1, %n, 1 nest 0", "1, %n, 1") == "@main: an index launch that is no operation's");
  CHECK(problem_with("launch 1", "launch 0") ==
        "@main: foreach_range: an index launch that is not there, or not this operation's");
  CHECK(problem_with("launch 1", "launch 7") ==
        "@main: foreach_range: an index launch that is not there, or not this operation's");
  CHECK(problem_with("captures %shift\n", "captures %t\n") == "@main: foreach_range: t is not visible");
  CHECK(problem_with("function @prelude", "function @other launched (%i: int) -> () {\n}\n\nfunction @prelude") ==
        "@other: it is launched 0 times");
  CHECK(problem_with("function @both launched", "function @both leaf") ==
        "@main: foreach_range: a launched leaf is needed");
}

TEST_CASE("kernels of loops are verified: their sinks are those of the body") {
  const std::string text = R"(entry @main

function @main composite (%n: int) -> () {
  %a: int[] = array_new writers 1
  %b: int[] = array_new writers 1
  loop 0 test %0 next %2 kernel 0 {(%t: int)
    %0: boolean = lt %t, %n
  } {
    array_insert %a, %t, %n
    %1: boolean = lt %t, 5
    if %1 {
      array_insert %b, %t, %t
    }
    %2: int = add %t, 1
  }
  kernel @many captures %n
    always %a back 1 times 1
    sometimes %b
}

function @many launched (%most: int, %t: int, %n: int, %there: int) -> (%next: int, %count: int, %first: int, %ka: int[], %a: int[], %kb: int[], %b: int[]) {
  %next = copy %t
  %count = copy %n
  %first = copy %t
  %ka = array_new %most writers 0
  %a = array_new %most writers 0
  %kb = array_new %most writers 0
  %b = array_new %most writers 0
}
)";
  const auto problem = [&](const std::string& from, const std::string& to) { return problem_in(text, from, to); };
  CHECK(problem("", "").empty());
  const std::string other_sink = "@main: loop: a sink is not that of the body";
  CHECK(problem("always %a back 1 times 1\n    sometimes %b", "sometimes %b\n    always %a back 1 times 1") ==
        other_sink);
  CHECK(problem("sometimes %b", "always %b") == other_sink);
  CHECK(problem("    sometimes %b\n", "") == other_sink);
  CHECK(problem("sometimes %b", "sometimes %b back 1 times 1") ==
        "@main: loop: a sink with a history is not always written");
  CHECK(problem(" back 1 times 1", "") == "@main: loop: a loop's kernel has other outputs");
  CHECK(problem("%there: int", "%there: float") == "@main: loop: a loop's kernel has other parameters");
  CHECK(problem(" captures %n", " captures %a") == "@main: loop: a loop's kernel has other parameters");
  CHECK(problem("%kb: int[]", "%kb: float[]") == "@main: loop: rows of keys");
  CHECK(problem("%b: int[]) {", "%b: float[]) {") == "@main: loop: rows of what is inserted");
  CHECK(problem(" kernel 0", "") == "@main: a kernel that is no loop's");
}

}  // namespace
}  // namespace raddle::ir
