#include <doctest/doctest.h>

#include <thread>

#include "tests/unit/compiler/codegen/compiled_leaf.hpp"

namespace raddle::codegen {
namespace {

/// (int s) total(int n): adds n, n-1, ..., 1 by recursion. In tail position: with the sum so far as second parameter.
void build_total(LeafBuilder& leaf, bool in_tail_position) {
  const Operand n = leaf.parameter(int_);
  const Operand so_far = in_tail_position ? leaf.parameter(int_) : leaf.number(std::int64_t{0});
  const Operand out = leaf.output(int_);
  leaf.if_(
      leaf.op(OpKind::eq, boolean, {n, leaf.number(std::int64_t{0})}), [&] { leaf.copy(out, so_far); },
      [&] {
        const Operand less = leaf.op(OpKind::sub, int_, {n, leaf.number(std::int64_t{1})});
        if (in_tail_position) {
          leaf.call({out}, leaf.id(), {less, leaf.op(OpKind::add, int_, {so_far, n})});
        } else {
          leaf.add(OpKind::add, {out}, {n, leaf.op(OpKind::call, int_, {less}, leaf.id())});
        }
      });
}

}  // namespace

TEST_CASE("leaves call leaves; a failure keeps the place within the one called, and the call") {
  TestModule test;
  LeafBuilder divide(test, "divide");
  const Operand a = divide.parameter(int_), b = divide.parameter(int_);
  const Operand quotient = divide.output(int_), rest = divide.output(int_);
  divide.add(OpKind::idiv, {quotient}, {a, b}).span = {3, 70, 75};
  divide.add(OpKind::mod, {rest}, {a, b});
  LeafBuilder caller(test, "caller");
  const Operand x = caller.parameter(int_), y = caller.parameter(int_), out = caller.output(int_);
  const Operand q = caller.variable(int_), r = caller.variable(int_);
  caller.call({q, r}, divide.id(), {x, y});
  caller.add(OpKind::add, {out}, {q, r});
  const Compiled code(test, caller);
  CHECK(code({17, 5}).value() == 3 + 2);
  const Outcome failed = code({17, 0});
  CHECK(failed.status == raddle_leaf_division_by_zero);
  CHECK(failed.failure.call_count == 1);
  CHECK(failed.failure.place.file == 3);
  CHECK(failed.failure.place.begin == 70);
  CHECK(failed.failure.place.end == 75);
}

TEST_CASE("calls that need nothing of each other are forked, and joined whoever makes them") {
  TestModule test;
  LeafBuilder divide(test, "divide");  // (int q, boolean exact) divide(int n, float[] a, boolean up, int by): recursive
  const TypeId floats = test.types.array_of(int_, float_);
  const Operand n = divide.parameter(int_), a = divide.parameter(floats), up = divide.parameter(boolean);
  const Operand by = divide.parameter(int_), quotient = divide.output(int_), exact = divide.output(boolean);
  divide.if_(
      divide.op(OpKind::eq, boolean, {n, divide.number(std::int64_t{0})}),
      [&] {
        const Operand size = divide.op(OpKind::call_builtin, int_, {a}, builtin("size"));
        divide.add(OpKind::idiv, {quotient}, {size, by}).span = {3, 70, 75};
        divide.copy(exact, up);
      },
      [&] {
        const Operand less = divide.op(OpKind::sub, int_, {n, divide.number(std::int64_t{1})});
        divide.call({quotient, exact}, divide.id(), {less, a, up, by});
      });
  LeafBuilder caller(test, "caller");  // (int sum, boolean any) caller(float[] a, int x, int y, int z)
  const Operand array = caller.parameter(floats),
                flags[] = {caller.truth(false), caller.truth(true), caller.truth(false)};
  const Operand by_each[] = {caller.parameter(int_), caller.parameter(int_), caller.parameter(int_)};
  const Operand sum = caller.output(int_), any = caller.output(boolean);
  Operands quotients, exacts;
  for (int i = 0; i < 3; ++i) {
    quotients.push_back(caller.variable(int_));
    exacts.push_back(caller.variable(boolean));
    caller.call({quotients[i], exacts[i]}, divide.id(), {caller.number(std::int64_t{5}), array, flags[i], by_each[i]});
  }
  const Operand two = caller.op(OpKind::add, int_, {quotients[0], quotients[1]});
  caller.add(OpKind::add, {sum}, {two, quotients[2]});
  const Operand either = caller.op(OpKind::or_, boolean, {exacts[0], exacts[1]});
  caller.add(OpKind::or_, {any}, {either, exacts[2]});
  const Compiled code(test, caller);

  const std::vector<double> elements(100);
  const auto address = reinterpret_cast<std::intptr_t>(elements.data());
  for (const bool shares : {false, true}) {
    TestWorker worker(shares);
    const Outcome good = code.call(worker, {address, 100, 1, 2, 5});
    CHECK(good.status == raddle_leaf_ok);
    CHECK(good.value() == 170);
    CHECK(good.results[1] == 1);
    CHECK(worker.shared == (shares ? 2 : 0));
    CHECK(worker.abandoned == 0);
    CHECK(worker.newest == &worker.first);
    for (int failing = 0; failing < 3; ++failing) {
      worker.abandoned = 0;
      std::vector<std::int64_t> words = {address, 100, 1, 2, 5};
      words[2 + failing] = 0;
      const Outcome bad = code.call(worker, words);
      CHECK(bad.status == raddle_leaf_division_by_zero);
      CHECK(bad.failure.place.begin == 70);
      CHECK(bad.failure.call_count == 1);
      CHECK(worker.abandoned == 2 - failing);
      CHECK(worker.newest == &worker.first);
    }
  }
}

TEST_CASE("recursion: fib") {
  TestModule test;
  LeafBuilder leaf(test, "fib");
  build_fib(leaf);
  CHECK(Compiled(test, leaf)({27}).value() == 196418);
}

TEST_CASE("recursion without end fails, in any thread; in tail position it is a loop") {
  TestModule test;
  LeafBuilder deep(test, "total"), tail(test, "total.1");
  build_total(deep, /*in_tail_position=*/false);
  build_total(tail, /*in_tail_position=*/true);
  const Compiled total(test, deep);
  CHECK(total({10'000}).value() == 50'005'000);
  CHECK(total({-1}).status == raddle_leaf_recursion_too_deep);
  std::int32_t status = -1;
  std::thread([&] { status = total({-1}).status; }).join();
  CHECK(status == raddle_leaf_recursion_too_deep);
  CHECK(total({10'000}).value() == 50'005'000);
  CHECK(Compiled(test, tail)({50'000'000, 0}).value() == 1'250'000'025'000'000);
}

}  // namespace raddle::codegen
