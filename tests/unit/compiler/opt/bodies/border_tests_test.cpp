#include "compiler/opt/bodies/border_tests.hpp"

#include <doctest/doctest.h>

namespace raddle::opt {
namespace {

using ir::OpKind;

constexpr std::int64_t far = 1'000'000;

/// How many iterations at its end a test tells from the others; 0: none.
std::int64_t border_length(const BorderTest& test) {
  const auto border = border_of(test);
  return border ? border->count() : 0;
}

TEST_CASE("borders: iterations at one end for which a test gives something else") {
  CHECK(border_length({OpKind::eq, true, 0}) == 1);
  CHECK(border_length({OpKind::ne, false, 0}) == 1);
  CHECK(border_length({OpKind::lt, true, 1}) == 1);
  CHECK(border_length({OpKind::gt, true, 0}) == 1);
  CHECK(border_length({OpKind::le, true, 1}) == 2);
  CHECK(border_length({OpKind::ge, false, 0}) == 1);
  CHECK(border_length({OpKind::lt, false, 1}) == 2);
  CHECK(border_length({OpKind::gt, false, 2}) == 2);
  // what holds for all or none
  CHECK(border_length({OpKind::lt, true, 0}) == 0);
  CHECK(border_length({OpKind::ge, true, 0}) == 0);
  CHECK(border_length({OpKind::gt, false, 0}) == 0);
  CHECK(border_length({OpKind::eq, true, -1}) == 0);
  // many
  CHECK(border_length({OpKind::lt, true, 3}) == 0);
}

TEST_CASE("borders: each test gives one thing in its border and the other behind it") {
  for (const bool is_at_low : {true, false}) {
    for (const OpKind kind : {OpKind::eq, OpKind::ne, OpKind::lt, OpKind::le, OpKind::gt, OpKind::ge}) {
      for (const std::int64_t distance : {0, 1, 2}) {
        const BorderTest test{kind, is_at_low, distance};
        const auto border = border_of(test);
        const bool is_equality = kind == OpKind::eq || kind == OpKind::ne;
        if (!border || (is_equality && distance != 0)) continue;
        const auto inside = outcome(test, *border), outside = outcome(test, all_but(*border));
        REQUIRE(inside.has_value());
        REQUIRE(outside.has_value());
        CHECK(*inside != *outside);
      }
    }
  }
}

TEST_CASE("borders: what is not known") {
  CHECK(!outcome({OpKind::lt, true, 1}, {true, 0, 1}));
  CHECK(!outcome({OpKind::eq, true, 1}, {true, 0, far}));
  CHECK(!outcome({OpKind::lt, true, 1}, {false, 0, 0}));
  CHECK(outcome({OpKind::eq, true, 2}, {true, 0, 1}) == false);
}

}  // namespace
}  // namespace raddle::opt
