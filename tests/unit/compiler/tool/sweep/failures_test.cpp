#include "compiler/tool/sweep/failures.hpp"

#include <doctest/doctest.h>

using namespace raddle::sweep;

namespace {

void fail(Failures& failures, std::vector<std::string> values, std::string message) {
  static std::uint64_t number = 0;
  Attempt attempt;
  attempt.outcome = raddle::vm::PointOutcome::exit_code;
  attempt.exit_code = 3;
  attempt.stderr_end = std::move(message);
  failures.add({.number = ++number, .values = std::move(values)}, attempt);
}

}  // namespace

TEST_CASE("numbers of a message are left out, with their signs and exponents") {
  const std::vector<std::string> none;
  for (const char* text : {"x = 17 is bad", "x = -0.3 is bad", "x = +4.5e-05 is bad", "x = 1E9 is bad"})
    CHECK(message_form(text, none) == "x = # is bad");
  CHECK(message_form("-1,-2(-3)", none) == "#,#(#)");
  CHECK(message_form("a-3, 4-5, out_17.csv, 1.2.3, 3em", none) == "a-#, #-#, out_#.csv, #, #em");
  CHECK(message_form("at 3.5. - . e5", none) == "at #. - . e#");
}

TEST_CASE("values of the point are left out where they stand as words") {
  const std::vector<std::string> values = {"iron", "iron-b", "3", ""};
  CHECK(message_form("no such material: iron", values) == "no such material: {}");
  CHECK(message_form("iron.dat, iron-b, environment, iron2", values) == "{}.dat, {}, environment, iron#");
  CHECK(message_form("`iron`iron iron", values) == "`{}`{} {}");
}

TEST_CASE("failures that say the same of different points are one group") {
  Failures failures;
  fail(failures, {"iron", "-1"}, "no such material: iron at -1");
  fail(failures, {"zinc", "2.5"}, "no such material: zinc at 2.5");
  fail(failures, {"tin", "3"}, "no room");
  const std::vector<FailureGroup> groups = failures.groups();
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].count == 2);
  CHECK(groups[0].line == "no such material: iron at -1");
}
