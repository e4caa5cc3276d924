#include "vm/interpret/run.hpp"

#include <doctest/doctest.h>

#include "tests/unit/vm/interpret/assembler.hpp"
#include "vm/value/array.hpp"

namespace raddle::vm {

using test::Assembler;
using test::output;
using test::run_everywhere;
using test::slot;

TEST_CASE("a strand waits for its inputs, wherever it stands") {
  Assembler a;
  const BodyId body = a.body(0, {"x", "y"}, {"r"});
  a.function("main", body, 0);
  // r = y * y is looked at before y = x + 1, and that before x = 6
  a.program.bodies[body].region =
      a.region(body, {{{{slot(1), AwaitMode::set}}, {Assembler::op(Opcode::mul_int, output(2), slot(1), slot(1))}},
                      {{{slot(0), AwaitMode::set}}, {Assembler::op(Opcode::add_int, slot(1), slot(0), a.constant(1))}},
                      {{}, {Assembler::op(Opcode::copy, slot(0), a.constant(6))}}});
  run_everywhere(a.program, [](const RunResult& result) {
    CHECK(result.status == RunStatus::ok);
    CHECK(result.results[0].as_int() == 49);
    CHECK(result.counters.strands_armed == 2);
  });
}

TEST_CASE("a variable that is assigned twice fails the run with its name") {
  Assembler a;
  const BodyId body = a.body(0, {"x"});
  a.function("main", body, 0);
  a.program.bodies[body].region = a.region(
      body,
      {{{},
        {Assembler::op(Opcode::copy, slot(0), a.constant(1)), Assembler::op(Opcode::copy, slot(0), a.constant(2))}}});
  run_everywhere(a.program, [](const RunResult& result) {
    CHECK(result.status == RunStatus::failed);
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0].message == "`x` assigned more than once");
  });
}

TEST_CASE("what nobody assigns is named, not what depends on it") {
  Assembler a;
  const BodyId body = a.body(0, {"x", "y"}, {"r"});
  a.function("main", body, 0);
  a.program.bodies[body].region =
      a.region(body, {{{{slot(0), AwaitMode::set}}, {Assembler::op(Opcode::neg_int, slot(1), slot(0))}},
                      {{{slot(1), AwaitMode::set}}, {Assembler::op(Opcode::neg_int, output(2), slot(1))}}});
  run_everywhere(a.program, [](const RunResult& result) {
    CHECK(result.status == RunStatus::stuck);
    REQUIRE(result.stuck.size() == 1);
    CHECK(result.stuck[0].name == "x");
    CHECK(result.stuck[0].awaited.size() == 1);
    CHECK(!result.results[0]);
  });
}

TEST_CASE("with keep_going what does not depend on a failure goes on") {
  Assembler a;
  const BodyId body = a.body(0, {"x"}, {"bad", "good"});
  a.function("main", body, 0);
  a.program.bodies[body].region = a.region(body, {{{},
                                                   {Assembler::op(Opcode::idiv, slot(0), a.constant(1), a.constant(0)),
                                                    Assembler::op(Opcode::add_int, output(1), slot(0), a.constant(1)),
                                                    Assembler::op(Opcode::copy, output(2), a.constant(3))}}});
  run_everywhere(
      a.program,
      [](const RunResult& result) {
        CHECK(result.status == RunStatus::failed);
        REQUIRE(result.failures.size() == 1);
        CHECK(result.failures[0].message == "division by zero");
        CHECK(result.results[0].kind() == ValueKind::failure);
        CHECK(result.results[1].as_int() == 3);
      },
      true);
}

namespace {

/// sum(n): n == 0 ? 0 : n + sum(n - 1)
Program recursive_sum(int n) {
  Assembler a;
  const BodyId main = a.body(0, {}, {"r"});
  a.function("main", main, 0);
  const BodyId sum = a.body(1, {"n", "is_end", "less", "rest"}, {"r"});
  a.function("sum", sum, 1);
  const RegionId end = a.region(sum, {{{}, {Assembler::op(Opcode::copy, output(4), a.constant(0))}}});
  const RegionId more =
      a.region(sum, {{{}, {Assembler::op(Opcode::sub_int, slot(2), slot(0), a.constant(1))}},
                     {{}, {a.call(1, {slot(2)}, {slot(3)})}},
                     {{{slot(3), AwaitMode::set}}, {Assembler::op(Opcode::add_int, output(4), slot(3), slot(0))}}});
  BranchSite site;
  site.arms = {{end, {}}, {more, {}}};
  a.program.branches.push_back(site);
  a.program.bodies[sum].region = a.region(sum, {{{{slot(0), AwaitMode::set}},
                                                 {Assembler::op(Opcode::eq_int, slot(1), slot(0), a.constant(0)),
                                                  Assembler::op(Opcode::branch_if, {}, slot(1))}}});
  a.program.bodies[main].region = a.region(main, {{{}, {a.call(1, {a.constant(n)}, {output(0)})}}});
  return std::move(a.program);
}

}  // namespace

TEST_CASE("recursion is as deep as memory") {
  const Program program = recursive_sum(50'000);
  run_everywhere(program, [](const RunResult& result) {
    CHECK(result.status == RunStatus::ok);
    CHECK(result.results[0].as_int() == 50'000LL * 50'001 / 2);
  });
}

namespace {

/// Two nested loops that fill an array: A[i * width + j] = i + j, and a result that waits for it to be closed.
Program filled_array(int height, int width) {
  Assembler a;
  const BodyId main = a.body(0, {"A"}, {"out"});
  a.function("main", main, 0);
  const BodyId outer = a.body(0, {"i", "base"}, {}, main);
  const BodyId inner = a.body(0, {"j", "key", "value"}, {}, outer);
  a.program.arrays.push_back({"A", {}});
  const Operand array_from_inner = slot(0, 2);
  a.program.bodies[inner].region = a.region(
      inner, {{{},
               {Assembler::op(Opcode::add_int, slot(1), slot(1, 1), slot(0)),
                Assembler::op(Opcode::add_int, slot(2), slot(0, 1), slot(0)),
                Assembler::op(Opcode::array_insert, array_from_inner, slot(1), slot(2), array_from_inner.bits())}}});
  a.program.foreaches.push_back({inner, 1, {{slot(0, 1), 1}}, {}, {slot(0, 1)}});
  a.program.bodies[outer].region = a.region(
      outer, {{{},
               {Assembler::op(Opcode::mul_int, slot(1), slot(0), a.constant(width)),
                Assembler::op(Opcode::foreach_range, a.constant(0), a.constant(width - 1), a.constant(1), 0)}}});
  a.program.foreaches.push_back({outer, 1, {{slot(0), 1}}, {}, {slot(0)}});
  a.program.bodies[main].region =
      a.region(main, {{{},
                       {Assembler::op(Opcode::array_new, slot(0), Operand::from_bits(0), {}, 1),
                        Assembler::op(Opcode::foreach_range, a.constant(0), a.constant(height - 1), a.constant(1), 1)}},
                      {{{slot(0), AwaitMode::deep}}, {Assembler::op(Opcode::copy, output(1), slot(0))}}});
  return std::move(a.program);
}

}  // namespace

TEST_CASE("nested ranges write each element once and close the array at the end") {
  const Program program = filled_array(60, 50);
  run_everywhere(program, [](const RunResult& result) {
    CHECK(result.status == RunStatus::ok);
    const Array& array = result.results[0].as_array();
    CHECK(array.size() == 3000);
    CHECK(array.get(Value::of(std::int64_t{59 * 50 + 49})).as_int() == 59 + 49);
    CHECK(result.counters.iterations == 60 + 3000);
  });
}

TEST_CASE("a long range takes constant memory: frames are used again") {
  const Program program = filled_array(1, 1'000'000);
  RunOptions options;
  const RunResult result = run(program, options);
  CHECK(result.status == RunStatus::ok);
  CHECK(result.counters.cells.peak_bytes < 1 << 20);
}

namespace {

std::expected<void, std::string> cancel_now(const BuiltinCall&, std::span<const Value> arguments, std::span<Value>) {
  reinterpret_cast<CancelHook*>(arguments[0].as_int())->cancel();
  return {};
}

}  // namespace

TEST_CASE("a cancelled run ends early and frees what it had begun") {
  CancelHook hook;
  Assembler a;
  const BodyId main = a.body(0, {});
  a.function("main", main, 0);
  const BodyId iteration = a.body(0, {"i"}, {}, main);
  a.program.builtins.push_back(
      {"cancel", cancel_now, 0, {a.constant(Value::of(reinterpret_cast<std::int64_t>(&hook)))}, {}, {}});
  a.program.bodies[iteration].region = a.region(iteration, {{{}, {Assembler::op(Opcode::call_builtin, {})}}});
  a.program.foreaches.push_back({iteration, 1, {}, {}, {}});
  a.program.bodies[main].region = a.region(
      main, {{{}, {Assembler::op(Opcode::foreach_range, a.constant(0), a.constant(1'000'000'000), a.constant(1), 0)}}});
  RunOptions options;
  options.workers = 2;
  options.cancel = &hook;
  CHECK(run(a.program, options).status == RunStatus::cancelled);
}

}  // namespace raddle::vm
