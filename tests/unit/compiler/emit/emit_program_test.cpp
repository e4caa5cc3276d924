#include "compiler/emit/emit_program.hpp"

#include <doctest/doctest.h>

#include "compiler/ir/read_text.hpp"
#include "vm/interpret/run.hpp"
#include "vm/program/disassemble.hpp"
#include "vm/value/text.hpp"

namespace raddle {

namespace {

vm::Program emitted(std::string_view text, TypeStore& types) {
  const std::expected<ir::Module, std::string> module = ir::read_text(text, types);
  REQUIRE_MESSAGE(module.has_value(), (module ? "" : module.error()));
  return emit_program(*module);
}

/// Runs on 1, 2 and 8 workers, in several orders. @return the results' text, the same everywhere; or the failure
std::string outcome(std::string_view text) {
  TypeStore types;
  const vm::Program program = emitted(text, types);
  std::string first;
  for (const unsigned workers : {1u, 2u, 8u}) {
    for (const std::uint64_t seed : {0u, 1u, 2u}) {
      vm::RunOptions options;
      options.workers = workers;
      options.scheduler_seed = seed;
      const vm::RunResult result = vm::run(program, options);
      std::string own;
      if (result.status == vm::RunStatus::stuck) own = "stuck: " + result.stuck.at(0).name;
      if (result.status == vm::RunStatus::failed) own = "failed: " + result.failures.at(0).message;
      for (const vm::Value& value : result.results) {
        if (result.status == vm::RunStatus::ok) own += (own.empty() ? "" : " ") + vm::to_text(value);
      }
      if (first.empty()) first = own;
      CHECK(own == first);
    }
  }
  return first;
}

}  // namespace

TEST_CASE("the program reads as text") {
  TypeStore types;
  const vm::Program program = emitted(R"(
    entry @main
    function @main composite () -> (%r: int) {
      %a: int = copy 3
      %r = add %a, 1
    })",
                                      types);
  CHECK(vm::disassemble(program) ==
        "body 0 of @main: 1 futures, 1 outputs, 0 strand states\n"
        "  strand\n"
        "    a.0! = copy 3 0\n"
        "    *r.1 = add_int a.0, 1\n");
}

TEST_CASE("loop variables are carried, the last values come out") {
  CHECK(outcome(R"(
    entry @main
    function @main composite () -> (%s: int, %i: int) {
      %i, %s = loop 0, 0 test %c next %k1, %t1 {
        (%k: int, %t: int)
        %c: boolean = lt %k, 1000
      } {
        %k1: int = add %k, 1
        %t1: int = add %t, %k
      }
    })") == "499500 1000");
}

TEST_CASE("a loop whose variables come late overlaps its iterations") {
  CHECK(outcome(R"(
    entry @main
    function @slow composite (%x: int) -> (%r: int) {
      %r = add %x, 2
    }
    function @main composite () -> (%s: int) {
      %i: int, %s = loop 0, 0 test %c next %k1, %t1 {
        (%k: int, %t: int)
        %c: boolean = lt %k, 100
      } {
        %k1: int = add %k, 1
        %t1: int = call @slow %t
      }
    })") == "200");
}

TEST_CASE("an array is closed when its last writer is done, wherever that is") {
  CHECK(outcome(R"(
    entry @main
    function @main composite () -> (%n: int, %v: int) {
      %A: int[] = array_new writers 2
      %c: boolean = lt %x, 5
      if %c {
        array_insert %A, 100, %x
      } {
        array_insert %A, 200, %x
        array_insert %A, 201, %x
      }
      foreach_range 0, 49, 1 {
        (%i: int, %k: int)
        %odd: int = mod %i, 2
        %is: boolean = eq %odd, 1
        if %is {
          array_insert %A, %i, %k
        } {
        }
      }
      %x: int = copy 3
      %n = call_builtin @size %A
      %v = array_get %A, 100
    })") == "26 3");
}

TEST_CASE("rows close with their array") {
  CHECK(outcome(R"(
    entry @main
    function @main composite () -> (%n: int, %m: int, %v: int) {
      %A: int[][] = array_new writers 1
      foreach_range 0, 9, 1 {
        (%i: int, %k: int)
        foreach_range 0, 4, 1 {
          (%j: int, %l: int)
          %row: int[] = array_row %A, %i
          %p: int = mul %i, %j
          array_insert %row, %j, %p
        }
      }
      %n = call_builtin @size %A
      %last: int[] = array_get %A, 9
      %m = call_builtin @size %last
      %v = array_get %last, 4
    })") == "10 5 36");
}

TEST_CASE("functions do not wait for arguments that they do not need") {
  CHECK(outcome(R"(
    entry @main
    function @f composite (%a: int, %b: int) -> (%x: int, %y: int) {
      %x = add %a, 1
      %y = add %b, 1
    }
    function @main composite () -> (%x: int, %y: int) {
      %x, %y = call @f 1, %x
    })") == "2 3");
}

TEST_CASE("leaf functions without code behave as composite ones") {
  CHECK(outcome(R"(
    entry @main
    function @f leaf (%a: int, %b: int) -> (%x: int, %y: int) {
      %x = add %a, 1
      %y = add %b, 1
    }
    function @main composite () -> (%x: int, %y: int) {
      %x, %y = call @f 1, %x
    })") == "2 3");
}

TEST_CASE("an element that nobody writes fails its reader, not others") {
  CHECK(outcome(R"(
    entry @main
    function @main composite () -> (%v: int) {
      %A: int[] = array_new writers 1
      array_insert %A, 1, 5
      %v = array_get %A, 7
    })") == "failed: `A` has no element 7: it has 1 element: 1");
}

TEST_CASE("a branch that is not taken leaves its variable unset: the run says so") {
  CHECK(outcome(R"(
    entry @main
    function @main composite () -> (%y: int) {
      var %x: int
      %c: boolean = lt 2, 1
      if %c {
        %x = copy 1
      } {
      }
      %y = add %x, 1
    })") == "stuck: x");
}

}  // namespace raddle
