#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/print.hpp"
#include "compiler/ir/read_text.hpp"
#include "compiler/ir/verify.hpp"
#include "compiler/ir/writers.hpp"

namespace raddle::ir {
namespace {

/// Every form that the text has, in the printer's own layout.
const std::string module_text = R"(type metres = float
struct point { float x; int[] marks; }
entry @main

function @main composite () -> () {
  var %late: int
  var %late.1: metres !0:7-8
  %0: float, %1: float = call @both 1, 2.0 prio 3 !0:4-9
  %x: float !1:2-3 = add %0, -inf !0:4-9
  %not_a_number: float = add %0, -nan
  %flag: boolean = eq "a\"\n\\", "\x01"
  %list: int[string][] = array_new writers 2
  %cells: float[] = array_new 3, 2 writers 0
  %grid: float[:, :] = struct_make %cells, 3, 2
  %grids: float[][:, :] = array_list %grid
  %2: int[] = array_row %list, "k"
  array_insert %2, 0, 7
  %p: point = struct_new
  struct_set %p, %x field 0
  %p.x: float = struct_get %p field 0
  %sums: bag<metres> = bag_new writers 1
  bag_append %sums, %late.1
  %u: updateable_float = update_new 1e+20
  %3: void = update %u, %x mode scale
  if %flag {
    %late = copy 1
    %late.1 = copy nan
  } {
    %late = copy 2
  }
  switch %late labels [1, 5] {
  } {
    %4: string = call_builtin @toString.1 %x types [float]
  } {
  } !0:10-20
  foreach_range 1, %late, 2 {(%i: int, %5: int !0:1-2)
    wait %i, %list {
    }
  }
  foreach_range 0, 9, 1 whole swallowed 3 behind space {(%j: int, %m: int)
  }
  %6: int = loop 0 test %7 next %8 {(%n: int)
    %7: boolean = lt %n, 10
  } {
    %8: int = add %n, 1
  }
  loop 0 test %stop next %9 after {(%k: int)
  } {
    %stop: boolean = ge %k, 3
    %9: int = add %k, 1
  }
  %out: file = file_new "out.txt"
  %done: void = call_app @run %out, "text"
}

function @both composite not_leaf "it calls \"x\"" (%a: int, %b: float) -> (%c: float !0:1-2, %d: float) !0:0-9 {
  %c = int_to_float %a
  %d = copy %b
}

function @run app files 1 (%o: file, %text: string) -> (%v: void) {
  %0: string = concat "--", %text
  command "tool", %0, %o stdout %o
}

function @touch foreign files 1 not_leaf "it is code outside of the script" (%f: file) -> (%n: int) {
  code 3 "procedures" "0.1" "touch" "n f" ""
}

function @twice leaf demands_leaf (%a: int) -> (%b: int) {
  %b = mul 2, %a
}
)";

Module read(std::string_view text, TypeStore& types) {
  std::expected<Module, std::string> module = read_text(text, types);
  REQUIRE_MESSAGE(module.has_value(), module.error());
  return std::move(*module);
}

TEST_CASE("text is read back exactly") {
  TypeStore types;
  const Module module = read(module_text, types);
  CHECK(print(module) == module_text);
  for (const std::string& problem : verify(module)) FAIL_CHECK(problem);
}

TEST_CASE("what is wrong with a text is told with its line") {
  TypeStore types;
  CHECK(read_text("function @f composite () -> () {\n  nothing %x\n}\n", types).error() ==
        "line 2: unknown operation `nothing`");
  CHECK(read_text("function @f composite () -> () {\n  copy %x\n}\n", types).error() == "@f: %x is not declared");
  CHECK(read_text("function @f composite (%x: many) -> () {\n}\n", types).error() == "line 1: unknown type `many`");
  CHECK(read_text("entry @f\n", types).error() == "line 2: unknown function @f");
}

std::vector<std::string> problems(const std::string& body) {
  TypeStore types;
  return verify(read("entry @f\nfunction @f composite (%x: int) -> (%y: int) {\n" + body + "}\n", types));
}

TEST_CASE("verify finds broken rules") {
  using Problems = std::vector<std::string>;
  CHECK(problems("%y = copy %x\n") == Problems{});
  CHECK(problems("%y = copy 1.0\n") == Problems{"@f: copy: expected int, found float"});
  CHECK(problems("%y = add %x\n") == Problems{"@f: add: wrong number of operands"});
  CHECK(problems("%y = copy 1\n%y = copy 2\n") == Problems{"@f: copy: y is assigned twice"});
  CHECK(problems("%x = copy 1\n") == Problems{"@f: copy: x is a parameter"});
  CHECK(problems("wait %x {\n%z: int = copy 1\n}\n%y = copy %z\n") == Problems{"@f: copy: z is not visible"});
  CHECK(problems("%a: int[] = array_new writers 1\n") == Problems{"@f: array_new: the number of writers is wrong"});
  CHECK(problems("if %x {\n}\n") == Problems{"@f: if: expected boolean, found int"});
}

TEST_CASE("writers: direct operations and those that hold a write, rows for the array they lie in") {
  TypeStore types;
  const Module module = read(R"(entry @f
function @f composite (%c: boolean) -> () {
  %a: int[][] = array_new writers 4
  %row: int[] = array_row %a, 1
  array_insert %row, 0, 7
  if %c {
    foreach_range 1, 3, 1 {(%i: int)
      %inner: int[] = array_row %a, %i
      array_insert %inner, 0, %i
      %own: int[] = array_new writers 1
      array_insert %own, 0, 1
    }
  } {
  }
  wait %a {
    %b: int[] = array_get %a, 1
  }
  foreach_range 1, 3, 1 {(%k: int)
    array_insert %a, %k, %row
  }
}
)",
                             types);
  CHECK(verify(module) == std::vector<std::string>{});
  const Function& function = module.functions[0];
  const auto named = [&function](std::string_view name) {
    VarId id = 0;
    while (function.variables[id].name != name) ++id;
    return id;
  };
  const std::vector<Op>& ops = function.regions[0].ops;
  const Writers writers(function);
  CHECK(writers.root(named("inner")) == named("a"));
  CHECK(writers.held_by(ops[3]) == std::vector<VarId>{named("a")});
  CHECK(writers.held_by(ops[4]).empty());
  const RegionId foreach_body = function.regions[ops[3].regions[0]].ops[0].regions[0];
  CHECK(writers.written_in(foreach_body) == std::vector<VarId>{named("a")});
  CHECK(writers.written_in(ops[3].regions[1]).empty());
}

}  // namespace
}  // namespace raddle::ir
