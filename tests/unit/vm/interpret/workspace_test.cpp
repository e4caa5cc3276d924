#include "vm/interpret/workspace.hpp"

#include <doctest/doctest.h>

#include "tests/unit/vm/interpret/assembler.hpp"

namespace raddle::vm {

using test::Assembler;
using test::output;
using test::slot;

namespace {

constexpr std::chrono::seconds long_enough(30);

RunOptions options_of(unsigned workers) {
  RunOptions options;
  options.workers = workers;
  options.keep_going = true;
  return options;
}

/// r = x + 1
Program increment() {
  Assembler a;
  const BodyId body = a.body(0, {"x"}, {"r"});
  a.function("main", body, 1);
  a.program.bodies[body].region = a.region(
      body, {{{{slot(0), AwaitMode::set}}, {Assembler::op(Opcode::add_int, output(1), slot(0), a.constant(1))}}});
  return a.program;
}

/// r = a constant
Program constant(int value) {
  Assembler a;
  const BodyId body = a.body(0, {}, {"r"});
  a.function("main", body, 0);
  a.program.bodies[body].region = a.region(body, {{{}, {Assembler::op(Opcode::copy, output(0), a.constant(value))}}});
  return a.program;
}

}  // namespace

TEST_CASE("a program goes on when another one sets what it waits for") {
  for (const unsigned workers : {1u, 2u, 8u}) {
    const RunOptions options = options_of(workers);
    const Program add = increment(), five = constant(5);
    Future x, y, z;
    Workspace workspace(options);
    Workspace::Activity& second = workspace.start(add, options, {&y}, {&z});
    Workspace::Activity& first = workspace.start(add, options, {&x}, {&y});
    REQUIRE(workspace.wait_for_rest(long_enough));
    CHECK(progress_of(z) == Progress::unset);
    CHECK_FALSE(workspace.take_if_ended(second));
    REQUIRE(workspace.stuck(first).size() == 1);
    CHECK(workspace.stuck(first)[0].name == "x");
    Workspace::Activity& third = workspace.start(five, options, {}, {&x});
    REQUIRE(workspace.wait_for_rest(long_enough));
    CHECK(progress_of(z) == Progress::complete);
    CHECK(z.get().as_int() == 7);
    for (Workspace::Activity* activity : {&first, &second, &third}) CHECK(workspace.take_if_ended(*activity));
  }
}

TEST_CASE("many programs, each reading the one before, started while they run") {
  constexpr std::size_t count = 200;
  const RunOptions options = options_of(4);
  const Program add = increment(), zero = constant(0);
  std::vector<Future> chain(count + 1);
  Workspace workspace(options);
  for (std::size_t i = 0; i < count; ++i) {
    if (i == count / 2) workspace.start(zero, options, {}, {&chain[0]});
    workspace.start(add, options, {&chain[i]}, {&chain[i + 1]});
  }
  REQUIRE(workspace.wait_for_rest(long_enough));
  CHECK(chain[count].get().as_int() == count);
}

TEST_CASE("a workspace that is stopped rests, and can be destroyed while programs wait") {
  const RunOptions options = options_of(2);
  const Program add = increment();
  Future x, y;
  Workspace workspace(options);
  workspace.start(add, options, {&x}, {&y});
  CHECK(workspace.stop(std::chrono::milliseconds(long_enough)));
  CHECK(workspace.is_stopped());
  CHECK(progress_of(y) == Progress::unset);
}

TEST_CASE("a failure reaches programs that read it") {
  Assembler a;
  const BodyId body = a.body(0, {}, {"bad"});
  a.function("main", body, 0);
  a.program.bodies[body].region =
      a.region(body, {{{}, {Assembler::op(Opcode::idiv, output(0), a.constant(1), a.constant(0))}}});
  const RunOptions options = options_of(2);
  const Program add = increment();
  Future x, y;
  Workspace workspace(options);
  Workspace::Activity& reader = workspace.start(add, options, {&x}, {&y});
  Workspace::Activity& failing = workspace.start(a.program, options, {}, {&x});
  REQUIRE(workspace.wait_for_rest(long_enough));
  CHECK(progress_of(y) == Progress::failed);
  REQUIRE(workspace.failures(failing).size() == 1);
  CHECK(workspace.failures(failing)[0].message == "division by zero");
  CHECK(workspace.failures(reader).empty());
}

}  // namespace raddle::vm
