// Kernels for many points in lanes: the bits and the failures of calls one by one.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "compiler/codegen/load_plugin.hpp"
#include "compiler/codegen/loaded_leaf.hpp"
#include "tests/unit/compiler/codegen/leaf_builder.hpp"
#include "vm/schedule/stack_limit.hpp"

namespace raddle::codegen {
namespace {

/// The results of one point, and of how many points they are to be found.
struct Columns {
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
  std::vector<std::uint8_t> booleans;
  explicit Columns(std::size_t count) : ints(count), floats(count), booleans(count) {}
};

LoadedLeaf compiled(const TestModule& test, const LeafBuilder& leaf, vm::KernelEntry entry) {
  CodeRequest request = request_of(test, leaf.id());
  request.entry = entry;
  const auto image = Plugin(RADDLE_PLUGIN).compile(request);
  REQUIRE_MESSAGE(image.has_value(), image.error());
  auto loaded = LoadedLeaf::load(*image);
  REQUIRE_MESSAGE(loaded.has_value(), loaded.error());
  return std::move(*loaded);
}

struct LoneWorker : raddle_leaf_worker {
  LoneWorker() : raddle_leaf_worker{} { stack_limit = vm::stack_limit(), idle_workers = &idle, newest = &first; }
  LoneWorker(const LoneWorker&) = delete;
  LoneWorker& operator=(const LoneWorker&) = delete;
  std::int32_t idle = 0;
  raddle_leaf_fork first{};
};

/// A leaf of (int point, int, float, int[], float[], boolean[]) -> (int, float, boolean), with both forms of its code.
class Both {
 public:
  Both(const TestModule& test, const LeafBuilder& leaf)
      : one_(compiled(test, leaf, vm::KernelEntry::call)), many_(compiled(test, leaf, vm::KernelEntry::lanes)) {}

  /// Whether all points end alike. @param captures  words
  bool agree(std::int64_t first, std::int64_t step, std::int64_t count, const std::vector<std::int64_t>& captures) {
    Columns columns(static_cast<std::size_t>(count));
    for (std::int64_t done = 0; done < count;) {
      std::vector<std::int64_t> words = {first + done * step,
                                         step,
                                         count - done,
                                         reinterpret_cast<std::int64_t>(columns.ints.data() + done),
                                         reinterpret_cast<std::int64_t>(columns.floats.data() + done),
                                         reinterpret_cast<std::int64_t>(columns.booleans.data() + done)};
      words.insert(words.end(), captures.begin(), captures.end());
      std::int64_t made = -1;
      raddle_leaf_failure failure = {};
      CHECK(many_.code()(&worker_, words.data(), &made, &failure) == raddle_leaf_ok);
      if (made < 0 || made > count - done) return false;
      for (const std::int64_t end = done + made; done < end; ++done, ++good)
        if (!agrees(first + done * step, captures, columns, static_cast<std::size_t>(done))) return false;
      if (done == count) break;
      if (call(first + done * step, captures)) return false;  // the next one does not end well
      ++done, ++failed;
    }
    return true;
  }
  std::size_t good = 0, failed = 0;

 private:
  struct Results {
    std::int64_t integer;
    double real;
    std::int64_t truth;
  };
  std::optional<Results> call(std::int64_t point, const std::vector<std::int64_t>& captures) {
    std::vector<std::int64_t> words = {point};
    words.insert(words.end(), captures.begin(), captures.end());
    std::int64_t results[3] = {};
    raddle_leaf_failure failure = {};
    if (one_.code()(&worker_, words.data(), results, &failure) != raddle_leaf_ok) return std::nullopt;
    return Results{results[0], std::bit_cast<double>(results[1]), results[2]};
  }
  bool agrees(std::int64_t point, const std::vector<std::int64_t>& captures, const Columns& columns, std::size_t at) {
    const std::optional<Results> one = call(point, captures);
    const double real = columns.floats[at];
    return one && one->integer == columns.ints[at] && one->truth == columns.booleans[at] &&
           (std::isnan(one->real) ? std::isnan(real)
                                  : std::bit_cast<std::int64_t>(one->real) == std::bit_cast<std::int64_t>(real));
  }

  LoadedLeaf one_, many_;
  LoneWorker worker_;
};

/// Leaves of random operations, branches in branches, loops in loops, and calls of other leaves.
class RandomLeaf {
 public:
  RandomLeaf(TestModule& test, unsigned seed, std::string name, const LeafBuilder* callee = nullptr)
      : leaf(test, std::move(name)), random_(seed), callee_(callee) {
    ints_ = {leaf.parameter(int_), leaf.parameter(int_)};
    floats_ = {leaf.parameter(float_)};
    arrays_ = {leaf.parameter(test.types.array_of(int_, int_)), leaf.parameter(test.types.array_of(int_, float_)),
               leaf.parameter(test.types.array_of(int_, boolean))};
    for (const std::int64_t number : {0, 1, -1, 3, 1000}) ints_.push_back(leaf.number(number));
    for (const double number : {0.0, -1.5, 1e300}) floats_.push_back(leaf.number(number));
    booleans_ = {leaf.truth(true), leaf.op(OpKind::lt, boolean, {ints_[0], ints_[1]})};
    const Operand outputs[] = {leaf.output(int_), leaf.output(float_), leaf.output(boolean)};
    block(8, 2);
    leaf.copy(outputs[0], ints_.back());
    leaf.copy(outputs[1], floats_.back());
    leaf.copy(outputs[2], booleans_.back());
  }
  LeafBuilder leaf;

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  /// Mostly one of the latest.
  Operand pick(const Operands& from) {
    const std::size_t last = std::min<std::size_t>(from.size(), 5);
    return from[below(3) == 0 ? below(from.size()) : from.size() - 1 - below(last)];
  }
  Operand pick(std::initializer_list<OpKind> kinds, TypeId type, const Operands& from) {
    return leaf.op(kinds.begin()[below(kinds.size())], type, {pick(from), pick(from)});
  }
  Operand call(std::initializer_list<const char*> names, TypeId type, Operands inputs) {
    return leaf.op(OpKind::call_builtin, type, std::move(inputs), builtin(names.begin()[below(names.size())]));
  }

  void block(std::size_t statements, std::size_t depth) {
    for (std::size_t i = 0; i < statements; ++i) statement(depth);
  }
  void statement(std::size_t depth) {
    switch (below(depth == 0 ? 12 : 15)) {
      case 0:
      case 1: return ints_.push_back(pick({OpKind::add, OpKind::sub, OpKind::mul}, int_, ints_));
      case 2: return ints_.push_back(pick({OpKind::idiv, OpKind::mod}, int_, ints_));
      case 3: return ints_.push_back(call({"max", "min"}, int_, {pick(ints_), pick(ints_)}));
      case 4: return ints_.push_back(leaf.op(OpKind::mod, int_, {pick(ints_), leaf.number(std::int64_t{97})}));
      case 5:
      case 6: return floats_.push_back(pick({OpKind::add, OpKind::sub, OpKind::mul, OpKind::div}, float_, floats_));
      case 7:
        return floats_.push_back(call({"sqrt", "exp", "log", "sin", "floor", "abs_float"}, float_, {pick(floats_)}));
      case 8: return floats_.push_back(leaf.op(OpKind::int_to_float, float_, {pick(ints_)}));
      case 9: return booleans_.push_back(pick({OpKind::lt, OpKind::le, OpKind::eq, OpKind::ne}, boolean, ints_));
      case 10:
        if (below(2) == 0)
          return booleans_.push_back(pick({OpKind::and_, OpKind::or_, OpKind::ne}, boolean, booleans_));
        return booleans_.push_back(pick({OpKind::lt, OpKind::gt, OpKind::ne}, boolean, floats_));
      case 11: return element();
      case 12: return branch(depth - 1);
      case 13: return loop(depth - 1);
      default: return call_other();
    }
  }
  void element() {
    Operand index = pick(ints_);
    if (below(3) != 0) {
      const Operand size = call({"size"}, int_, {arrays_[0]});
      index = leaf.op(OpKind::mod, int_, {call({"abs"}, int_, {index}), size});
    }
    const std::size_t which = below(3);
    const Operand value = leaf.op(OpKind::array_get, std::array{int_, float_, boolean}[which], {arrays_[which], index});
    (which == 0 ? ints_ : which == 1 ? floats_ : booleans_).push_back(value);
  }
  /// What is made inside is not seen behind it but for what each arm assigns.
  void inside(const std::function<void()>& body) {
    const auto ints = ints_, floats = floats_, booleans = booleans_;
    body();
    ints_ = ints, floats_ = floats, booleans_ = booleans;
  }
  void branch(std::size_t depth) {
    const Operand integer = leaf.variable(int_), real = leaf.variable(float_);
    const auto arm = [&] {
      inside([&] {
        block(below(5), depth);
        leaf.copy(integer, pick(ints_));
        leaf.copy(real, pick(floats_));
      });
    };
    leaf.if_(pick(booleans_), arm, arm);
    ints_.push_back(integer);
    floats_.push_back(real);
  }
  /// Up to so many rounds, which are not the same for all points mostly; may end before.
  void loop(std::size_t depth) {
    const Operand zero = leaf.number(std::int64_t{0}), one = leaf.number(std::int64_t{1});
    const Operand rounds = leaf.op(OpKind::mod, int_, {pick(ints_), leaf.number(std::int64_t{9})});
    const Operand counter = leaf.variable(int_), integer = leaf.variable(int_), real = leaf.variable(float_);
    const bool test_after = below(4) == 0;
    const auto outer_ints = ints_, outer_floats = floats_, outer_booleans = booleans_;
    leaf.loop(
        {counter, integer, real}, {int_, int_, float_}, {zero, pick(ints_), pick(floats_)},
        [&](const Operands& v) -> Operand {
          if (test_after) return leaf.op(OpKind::ge, boolean, {v[0], rounds});
          const Operand counts = leaf.op(OpKind::lt, boolean, {v[0], rounds});
          const Operand holds = leaf.op(OpKind::ne, boolean, {v[1], leaf.number(std::int64_t{5})});
          return below(2) == 0 ? counts : leaf.op(OpKind::and_, boolean, {counts, holds});
        },
        [&](const Operands& v) -> Operands {
          ints_.insert(ints_.end(), {v[0], v[1]});
          floats_.push_back(v[2]);
          block(1 + below(4), depth);
          const Operand next = leaf.op(OpKind::mod, int_, {pick(ints_), leaf.number(std::int64_t{1009})});
          return {leaf.op(OpKind::add, int_, {v[0], one}), next, pick(floats_)};
        },
        test_after);
    ints_ = outer_ints, floats_ = outer_floats, booleans_ = outer_booleans;
    ints_.insert(ints_.end(), {counter, integer});
    floats_.push_back(real);
  }
  void call_other() {
    if (callee_ == nullptr) return ints_.push_back(leaf.op(OpKind::neg, int_, {pick(ints_)}));
    const Operand results[] = {leaf.variable(int_), leaf.variable(float_), leaf.variable(boolean)};
    leaf.call({results[0], results[1], results[2]}, callee_->id(),
              {pick(ints_), pick(ints_), pick(floats_), arrays_[0], arrays_[1], arrays_[2]});
    ints_.push_back(results[0]), floats_.push_back(results[1]), booleans_.push_back(results[2]);
  }

  std::minstd_rand random_;
  const LeafBuilder* callee_;
  Operands ints_, floats_, booleans_, arrays_;
};

/// Arrays to be captured.
struct Captured {
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
  std::vector<std::uint8_t> booleans;
  std::vector<std::int64_t> words(std::int64_t integer, double real) const {
    const auto size = static_cast<std::int64_t>(ints.size());
    return {integer,
            std::bit_cast<std::int64_t>(real),
            reinterpret_cast<std::int64_t>(ints.data()),
            size,
            reinterpret_cast<std::int64_t>(floats.data()),
            size,
            reinterpret_cast<std::int64_t>(booleans.data()),
            size};
  }
};

Captured some_arrays() {
  Captured arrays;
  for (int i = 0; i < 50; ++i) {
    arrays.ints.push_back(i * 37 % 41 - 20);
    arrays.floats.push_back(std::sin(i) * i);
    arrays.booleans.push_back(i % 3 == 0 ? 1 : 0);
  }
  return arrays;
}

}  // namespace

TEST_CASE("random kernels: lanes give the bits of single calls, and stop at the points that fail") {
  const Captured arrays = some_arrays();
  std::size_t good = 0, failed = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    TestModule test;
    RandomLeaf callee(test, seed + 1000, "callee"), leaf(test, seed, "random", &callee.leaf);
    Both both(test, leaf.leaf);
    CHECK(both.agree(-20, 1, 150, arrays.words(7, 0.25)));
    CHECK(both.agree(300, -3, 100, arrays.words(-2, -3e5)));
    CHECK(both.agree(most - 80, 1, 70, arrays.words(least, 1e300)));
    good += both.good, failed += both.failed;
  }
  CHECK(good > 2000);
  CHECK(failed > 2000);
}

TEST_CASE("lanes divide as single calls do, whatever the numbers") {
  TestModule test;
  LeafBuilder leaf(test, "divisions");
  const Operand i = leaf.parameter(int_), by = leaf.parameter(int_), unused = leaf.parameter(float_);
  const Operand dividends = leaf.parameter(test.types.array_of(int_, int_));
  leaf.parameter(test.types.array_of(int_, float_)), leaf.parameter(test.types.array_of(int_, boolean));
  const Operand quotient = leaf.output(int_), rest = leaf.output(float_), is_less = leaf.output(boolean);
  const Operand dividend = leaf.op(OpKind::array_get, int_, {dividends, i});
  leaf.add(OpKind::idiv, {quotient}, {dividend, by});
  const Operand mod = leaf.op(OpKind::mod, int_, {dividend, by});
  leaf.add(OpKind::int_to_float, {rest}, {mod});
  leaf.add(OpKind::lt, {is_less}, {mod, quotient});
  static_cast<void>(unused);
  Captured arrays;
  std::minstd_rand random(7);
  for (const std::int64_t near : {std::int64_t{0}, std::int64_t{1} << 31, std::int64_t{1} << 52, std::int64_t{1} << 53,
                                  std::int64_t{1} << 62, most - 3, least + 3, -(std::int64_t{1} << 53)})
    for (std::int64_t distance = -3; distance <= 3; ++distance) arrays.ints.push_back(near + distance);
  for (int k = 0; k < 200; ++k)
    arrays.ints.push_back(
        static_cast<std::int64_t>((std::uint64_t{random()} << 33 ^ std::uint64_t{random()} << 8 ^ random()) >> k % 60));
  arrays.floats.resize(arrays.ints.size());
  arrays.booleans.resize(arrays.ints.size());
  Both both(test, leaf);
  for (const std::int64_t divisor : arrays.ints) {
    CAPTURE(divisor);
    REQUIRE(both.agree(0, 1, static_cast<std::int64_t>(arrays.ints.size()), arrays.words(divisor, 0.0)));
  }
  CHECK(both.good > 50'000);
}

TEST_CASE("lanes divide by constants as single calls do") {
  std::vector<std::int64_t> dividends;
  for (const std::int64_t near : {std::int64_t{0}, std::int64_t{1} << 32, most - 9, least + 9})
    for (std::int64_t distance = -9; distance <= 9; ++distance) dividends.push_back(near + distance);
  for (const std::int64_t divisor : {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, std::int64_t{1} << 40,
                                     std::int64_t{1} << 62, std::int64_t{3}, std::int64_t{10}, std::int64_t{0},
                                     std::int64_t{-1}, std::int64_t{-2}, std::int64_t{-7}, most, least}) {
    CAPTURE(divisor);
    TestModule test;
    LeafBuilder leaf(test, "divisions_by_one");
    const Operand i = leaf.parameter(int_);
    leaf.parameter(int_), leaf.parameter(float_);
    const Operand read = leaf.parameter(test.types.array_of(int_, int_));
    leaf.parameter(test.types.array_of(int_, float_)), leaf.parameter(test.types.array_of(int_, boolean));
    const Operand quotient = leaf.output(int_), rest = leaf.output(float_), is_less = leaf.output(boolean);
    const Operand dividend = leaf.op(OpKind::array_get, int_, {read, i}), by = leaf.number(divisor);
    leaf.add(OpKind::idiv, {quotient}, {dividend, by});
    const Operand mod = leaf.op(OpKind::mod, int_, {dividend, by});
    leaf.add(OpKind::int_to_float, {rest}, {mod});
    leaf.add(OpKind::lt, {is_less}, {mod, quotient});
    Captured arrays;
    arrays.ints = dividends;
    arrays.floats.resize(dividends.size());
    arrays.booleans.resize(dividends.size());
    Both both(test, leaf);
    REQUIRE(both.agree(0, 1, static_cast<std::int64_t>(dividends.size()), arrays.words(0, 0.0)));
    CHECK((divisor == 0 ? both.failed : both.good) > 0);
  }
}

TEST_CASE("lanes in a loop without end stop when the run is to end") {
  TestModule test;
  LeafBuilder leaf(test, "endless");
  const Operand point = leaf.parameter(int_), out = leaf.output(int_);
  const auto is_odd = [&](const Operands& v) {
    const Operand rest = leaf.op(OpKind::mod, int_, {v[0], leaf.number(std::int64_t{2})});
    return leaf.op(OpKind::ne, boolean, {rest, leaf.number(std::int64_t{0})});
  };
  leaf.loop({out}, {int_}, {point}, is_odd, [](const Operands& v) { return v; });
  const LoadedLeaf code = compiled(test, leaf, vm::KernelEntry::lanes);
  LoneWorker worker;
  std::vector<std::int64_t> results(100);
  raddle_leaf_failure failure = {};
  std::int64_t made = -1;
  std::int64_t words[] = {0, 2, 100, reinterpret_cast<std::int64_t>(results.data())};
  code.code()(&worker, words, &made, &failure);
  CHECK(made == 100);
  words[0] = 1;
  worker.stack_limit = reinterpret_cast<const void*>(~std::uintptr_t{0});
  code.code()(&worker, words, &made, &failure);
  CHECK(made == 0);
}

}  // namespace raddle::codegen
