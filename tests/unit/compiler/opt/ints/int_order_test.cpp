#include <doctest/doctest.h>

#include <string>

#include "compiler/opt/ints/int_order.hpp"
#include "compiler/ir/read_text.hpp"

namespace raddle::ints {
namespace {

/// Whether `%at` is known to be an index of what has `%n` elements, where `%at` is copied, in `foreach i in [0:n-1]`.
/// @param text  of the loop's body
bool is_index_in(const std::string& text) {
  TypeStore types;
  const auto module = ir::read_text(
      "entry @f\nfunction @f composite (%n: int, %m: int) -> () {\n  %last: int = sub %n, 1\n"
      "  foreach_range 0, %last, 1 {(%i: int, %k: int)\n" +
          text + "  }\n}\n",
      types);
  REQUIRE_MESSAGE(module.has_value(), module.error());
  const ir::Function& function = module->functions[0];
  IntOrder order(*module, function);
  for (ir::RegionId region = 0; region < function.regions.size(); ++region)
    for (const ir::Op& op : function.regions[region].ops)
      if (!op.results.empty() && function.variables[op.results[0]].name == "here")
        return order.is_index(op.operands[0], ir::Operand::variable(function.parameters[0]), region);
  FAIL("nothing is copied to %here");
  return false;
}

/// In an arm of an `if`. @param made  what the condition and the index are made of
bool is_index_if(const std::string& made, const std::string& index, bool is_else = false) {
  const std::string use = "      %here: int = copy " + index + "\n";
  return is_index_in(made + (is_else ? "    if %c {\n    } {\n" + use + "    }\n" : "    if %c {\n" + use + "    }\n"));
}

const std::string around = "    %before: int = sub %i, 1\n    %after: int = add %i, 1\n";

}  // namespace

TEST_CASE("the order of ints: what a condition says is known in its arms") {
  const std::string inside = around + "    %a: boolean = gt %i, 0\n    %b: boolean = lt %i, %last\n";
  CHECK(is_index_if(inside + "    %c: boolean = and %a, %b\n", "%before"));
  CHECK(is_index_if(inside + "    %c: boolean = and %a, %b\n", "%after"));
  CHECK_FALSE(is_index_if(inside + "    %c: boolean = or %a, %b\n", "%before"));
  CHECK_FALSE(is_index_if(inside + "    %c: boolean = and %a, %b\n", "%before", true));
  CHECK_FALSE(is_index_if(inside + "    %c: boolean = copy %b\n", "%before"));
  CHECK(is_index_if(around + "    %c: boolean = le 1, %i\n", "%before"));
  CHECK(is_index_if(around + "    %c: boolean = ge %after, 2\n", "%before"));
  CHECK_FALSE(is_index_if(around + "    %c: boolean = ge %i, 0\n", "%before"));
  CHECK(is_index_if(around + "    %c: boolean = lt %after, %n\n", "%after"));
  CHECK_FALSE(is_index_if(around + "    %c: boolean = le %after, %n\n", "%after"));
  CHECK_FALSE(is_index_if(around + "    %c: boolean = lt %after, %m\n", "%after"));
}

TEST_CASE("the order of ints: in the other arm it is not so") {
  CHECK(is_index_if(around + "    %c: boolean = eq %i, 0\n", "%before", true));
  CHECK_FALSE(is_index_if(around + "    %c: boolean = eq %i, 1\n", "%before", true));
  CHECK(is_index_if(around + "    %c: boolean = eq %last, %i\n", "%after", true));
  CHECK(is_index_if(around + "    %c: boolean = ne %i, %last\n", "%after"));
  CHECK(is_index_if(around + "    %c: boolean = lt %i, 1\n", "%before", true));
  const std::string border =
      "    %a: boolean = eq %i, 0\n    %b: boolean = eq %i, %last\n    %c: boolean = or %a, %b\n";
  CHECK(is_index_if(around + border, "%before", true));
  CHECK(is_index_if(around + border, "%after", true));
  CHECK_FALSE(is_index_if(around + border, "%before"));
  const std::string inverse = "    %a: boolean = gt %i, 0\n    %c: boolean = not %a\n";
  CHECK(is_index_if(around + inverse, "%before", true));
}

TEST_CASE("the order of ints: a condition whose second part is only asked if the first one holds") {
  const std::string lazy =
      around +
      "    var %c: boolean\n    %a: boolean = gt %i, 0\n    if %a {\n"
      "      %b: boolean = lt %before, %m\n      %c = copy %b\n    } {\n      %c = copy false\n    }\n";
  CHECK(is_index_if(lazy, "%before"));
  CHECK_FALSE(is_index_if(lazy, "%before", true));
}

TEST_CASE("the order of ints: what both arms assign is what is true of each") {
  const auto joined = [](const std::string& condition, const std::string& one, const std::string& other) {
    return is_index_in(around + "    var %at: int\n    %c: boolean = " + condition +
                       "\n    if %c {\n      %at = copy " + one + "\n    } {\n      %at = copy " + other +
                       "\n    }\n    %here: int = copy %at\n");
  };
  CHECK(joined("gt %i, 0", "%before", "%last"));
  CHECK(joined("lt %i, %last", "%after", "0"));
  CHECK_FALSE(joined("gt %i, 0", "%before", "%n"));
  CHECK_FALSE(joined("gt %i, 0", "%after", "%last"));
  CHECK_FALSE(joined("ge %i, 0", "%before", "%last"));
}

TEST_CASE("the order of ints: the least, the greatest, and what is left of a division") {
  const auto made = [](const std::string& ops) { return is_index_in(around + ops + "    %here: int = copy %at\n"); };
  CHECK(made("    %a: int = call_builtin @max %before, 0\n    %at: int = call_builtin @min %a, %last\n"));
  CHECK(made("    %a: int = call_builtin @min %after, %last\n    %at: int = call_builtin @max 0, %a\n"));
  CHECK_FALSE(made("    %at: int = call_builtin @min %before, %last\n"));
  CHECK_FALSE(made("    %at: int = call_builtin @max %after, 0\n"));
  CHECK(made("    %at: int = mod %after, %n\n"));
  CHECK(made("    %a: int = add %before, %n\n    %at: int = mod %a, %n\n"));
  CHECK_FALSE(made("    %at: int = mod %before, %n\n"));
  CHECK_FALSE(made("    %at: int = mod %after, %m\n"));
}

TEST_CASE("the order of ints: loops in loops") {
  CHECK(
      is_index_in("    %low: int = add %i, 1\n    foreach_range %low, %last, 1 {(%j: int, %l: int)\n"
                  "      %here: int = copy %j\n    }\n"));
  CHECK(is_index_in("    foreach_range 0, %i, 1 {(%j: int, %l: int)\n      %here: int = copy %j\n    }\n"));
  CHECK_FALSE(is_index_in("    foreach_range 0, %m, 1 {(%j: int, %l: int)\n      %here: int = copy %j\n    }\n"));
}

}  // namespace raddle::ints
