// Mathematics in machine code, for one call and for many, in lanes: the bits of vm/math/scalar.
#include <doctest/doctest.h>

#include "compiler/codegen/load_plugin.hpp"
#include "compiler/codegen/loaded_leaf.hpp"
#include "tests/unit/compiler/codegen/leaf_builder.hpp"
#include "tests/unit/vm/math/functions.hpp"
#include "vm/program/leaf_abi.hpp"
#include "vm/schedule/stack_limit.hpp"

namespace raddle::codegen {
namespace {

namespace math = vm::math::test;

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

LoadedLeaf compiled(const TestModule& test, const LeafBuilder& leaf) {
  const auto image = Plugin(RADDLE_PLUGIN).compile(request_of(test, leaf.id()));
  REQUIRE_MESSAGE(image.has_value(), image.error());
  auto loaded = LoadedLeaf::load(*image);
  REQUIRE_MESSAGE(loaded.has_value(), loaded.error());
  return std::move(*loaded);
}

/// @return the leaf's status, or of a stretch how many points it has done
std::int64_t call(const LoadedLeaf& leaf, std::vector<std::int64_t> words, std::int64_t& result) {
  raddle_leaf_worker worker{};
  raddle_leaf_fork first{};
  std::int32_t idle = 0;
  worker.stack_limit = vm::stack_limit(), worker.idle_workers = &idle, worker.newest = &first;
  raddle_leaf_failure failure = {};
  return leaf.code()(&worker, words.data(), &result, &failure);
}

TypeId result_type(const math::Function& function) { return function.is_float32 ? TypeStore::float32 : float_; }
std::string builtin_name(const math::Function& function) {
  return (function.is_float32 ? "@" : "") + std::string(function.name == "pow_32" ? "pow_float_32" : function.name);
}

/// f(x, y), or f(x).
LoadedLeaf one_call(const math::Function& function) {
  TestModule test;
  LeafBuilder leaf(test, "one");
  const Operand x = leaf.parameter(float_), y = leaf.parameter(float_), out = leaf.output(result_type(function));
  leaf.add(OpKind::call_builtin, {out}, function.count == 1 ? std::vector{x} : std::vector{x, y}).callee =
      builtin(builtin_name(function));
  return compiled(test, leaf);
}

/// f(x[i], y[i]) for many i.
LoadedLeaf stretch(const math::Function& function) {
  TestModule test;
  LeafBuilder leaf(test, "many");
  const TypeId floats = test.types.array_of(int_, float_);
  const Operand i = leaf.parameter(int_), xs = leaf.parameter(floats), ys = leaf.parameter(floats),
                out = leaf.output(result_type(function));
  const Operand x = leaf.op(OpKind::array_get, float_, {xs, i}), y = leaf.op(OpKind::array_get, float_, {ys, i});
  leaf.add(OpKind::call_builtin, {out}, function.count == 1 ? std::vector{x} : std::vector{x, y}).callee =
      builtin(builtin_name(function));
  test.entries[leaf.id()] = vm::KernelEntry::lanes;
  return compiled(test, leaf);
}

TEST_CASE("mathematics: machine code, for one call and for many, gives the bits of the interpreter") {
  const std::size_t count = math::argument_count(1'000'000);
  for (const math::Function& function : math::functions) {
    CAPTURE(function.name);
    const LoadedLeaf one = one_call(function), many = stretch(function);
    std::vector<double> xs, ys, expected;
    std::size_t differing = 0;
    const auto add = [&](double x, double y) {
      if (function.count == 1) y = 0;
      const double value = function.scalar(x, y);
      std::int64_t found = 0;
      const std::int64_t status = call(one, {std::bit_cast<std::int64_t>(x), std::bit_cast<std::int64_t>(y)}, found);
      if (status != raddle_leaf_ok) {  // fails where there is no number
        differing += status != raddle_leaf_domain_error || !std::isnan(value) || std::isnan(x) || std::isnan(y);
        return;
      }
      const double number = std::bit_cast<double>(found);
      differing += std::isnan(value) ? !std::isnan(number) : bits(number) != bits(value);
      xs.push_back(x), ys.push_back(y), expected.push_back(value);
    };
    for (const double x : math::hard_numbers_of(function))
      for (const double y : math::hard_numbers_of(function)) add(x, y);
    math::Arguments arguments(function);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [x, y] = arguments.next();
      add(x, y);
    }
    CHECK(differing == 0);
    CHECK(xs.size() > count / 3);  // those of acosh below 1 fail

    std::vector<double> results(xs.size());
    std::vector<float> floats(xs.size());
    const auto address = [](auto& numbers) { return reinterpret_cast<std::int64_t>(numbers.data()); };
    const auto points = static_cast<std::int64_t>(xs.size());
    std::int64_t reached = 0;
    const std::int64_t to = function.is_float32 ? address(floats) : address(results);
    call(many, {0, 1, points, to, address(xs), points, address(ys), points}, reached);
    REQUIRE(reached == points);
    if (function.is_float32) results.assign(floats.begin(), floats.end());
    for (std::size_t i = 0; i < results.size(); ++i)
      differing += std::isnan(expected[i]) ? !std::isnan(results[i]) : bits(results[i]) != bits(expected[i]);
    CHECK(differing == 0);
  }
}

}  // namespace
}  // namespace raddle::codegen
