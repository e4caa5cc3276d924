#include "compiler/emit/partition_strands.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "compiler/ir/read_text.hpp"

namespace raddle::emit {

namespace {

/// The strands of a region as text: `[awaited..] operations | ...`.
std::string strands_of(const FunctionPlan& plan, PlanId id = 0) {
  const auto name = [&plan](ir::VarId variable) { return plan.function->variables[variable].name; };
  std::string text;
  for (const StrandPlan& strand : plan.regions[id].strands) {
    if (!text.empty()) text += " | ";
    text += "[";
    for (const Awaited& input : strand.awaited) {
      text += name(input.variable) + (input.mode == vm::AwaitMode::set ? "" : vm::text_of(input.mode)) + " ";
    }
    text += "]";
    for (const std::uint32_t step : strand.steps) {
      const Step& each = plan.regions[id].steps[step];
      text += each.results.empty() ? " -" : " " + name(each.results[0]);
    }
  }
  return text;
}

struct Planned {
  TypeStore types;
  ir::Module module;
  FunctionPlan plan;
};

/// Plans the last function of the text.
std::unique_ptr<Planned> planned(std::string_view text) {
  auto result = std::make_unique<Planned>();
  std::expected<ir::Module, std::string> module = ir::read_text(text, result->types);
  REQUIRE_MESSAGE(module.has_value(), (module ? "" : module.error()));
  result->module = std::move(*module);
  result->plan = plan_function(result->module, result->module.functions.back());
  partition_strands(result->plan);
  return result;
}

}  // namespace

TEST_CASE("operations that await the same variables form one strand, in the order of their operands") {
  const auto p = planned(R"(
    function @f composite (%x: int, %y: int) -> (%r: int) {
      %c: int = add %b, %y
      %b: int = mul %a, %a
      %a: int = add %x, 1
      %r = add %c, %x
    })");
  CHECK(strands_of(p->plan) == "[x ] a b | [b y x ] c r");
  CHECK(p->plan.variables[p->module.functions[0].regions[0].ops[2].results[0]].is_private);  // a
  CHECK(!p->plan.variables[p->module.functions[0].regions[0].ops[1].results[0]]
             .is_private);  // b: another strand reads it
}

TEST_CASE("calls go at once, their results are waited for") {
  const auto p = planned(R"(
    function @g composite (%x: int) -> (%r: int) {
      %r = copy %x
    }
    function @f composite (%x: int) -> (%r: int) {
      %b: int = add %a, 1
      %a: int = call @g %x
      %r = call @g %b
    })");
  CHECK(strands_of(p->plan) == "[] a | [a ] b | [] r");
}

TEST_CASE("in a branch nothing is waited for that came before it") {
  const auto p = planned(R"(
    function @f composite (%x: int, %y: int) -> (%r: int) {
      %c: boolean = lt %x, 10
      if %c {
        %t: int = mul %x, 2
        %r = add %t, 1
      } {
        %r = copy %y
      }
    })");
  CHECK(strands_of(p->plan) == "[x ] c -");
  CHECK(strands_of(p->plan, 1) == "[] t r");
  CHECK(strands_of(p->plan, 2) == "[y ] r");
}

TEST_CASE("a closed array is another thing to wait for than its reference") {
  const auto p = planned(R"(
    function @f composite (%x: int) -> (%r: int) {
      %A: int[] = array_new writers 1
      array_insert %A, 0, %x
      %n: int = call_builtin @size %A
      %r = copy %n
    })");
  CHECK(strands_of(p->plan) == "[] A - | [Aclosed ] n r");
}

TEST_CASE("variables that wait for each other do not make the cut go wrong") {
  const auto p = planned(R"(
    function @f composite () -> (%r: int) {
      %a: int = add %b, 1
      %b: int = add %a, 1
      %r = copy %a
    })");
  std::size_t awaiting = 0;
  for (const StrandPlan& strand : p->plan.regions[0].strands) awaiting += !strand.awaited.empty();
  CHECK(awaiting == p->plan.regions[0].strands.size());
}

}  // namespace raddle::emit
