#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/print.hpp"
#include "compiler/ir/read_text.hpp"
#include "compiler/ir/verify.hpp"
#include "compiler/opt/bodies/prove_indices.hpp"

namespace raddle::opt {
namespace {

/// Whether `@index KEY, EXTENT` goes, in a loop from `low` to `high`.
bool is_proven(const std::string& low, const std::string& high, const std::string& key, const std::string& extent) {
  TypeStore types;
  const std::string text =
      "entry @f\nfunction @f composite (%n: int, %m: int, %x: float[]) -> () {\n"
      "  %last: int = sub %n, 1\n"
      "  %inner: int = sub %last, 1\n"
      "  %same: int = call_builtin @@extent \"x\", %n types [string, int]\n"
      "  foreach_range " +
      low + ", " + high +
      ", 1 {(%i: int, %k: int)\n"
      "    %before: int = sub %i, 1\n"
      "    %after: int = add 1, %i\n"
      "    %at: int = call_builtin @@index " +
      key + ", " + extent +
      ", \"x\", 0 types [int, int, string, int]\n"
      "    %e: float = array_get %x, %at\n"
      "  }\n}\n";
  auto module = ir::read_text(text, types);
  REQUIRE_MESSAGE(module.has_value(), module.error());
  prove_indices(*module);
  CHECK(ir::verify(*module) == std::vector<std::string>{});
  const std::string after = ir::print(*module);
  const bool is_gone = after.find("@index") == std::string::npos;
  CHECK(is_gone == (after.find("array_get %x, %at") == std::string::npos));
  return is_gone;
}

/// What a bound made of `%n` or `%m` becomes.
std::string bound_after(const std::string& made, const std::string& extents) {
  TypeStore types;
  auto module =
      ir::read_text("entry @f\nfunction @f composite (%n: int, %m: int, %x: float[]) -> () {\n" + extents +
                        "  %bound: int = " + made +
                        "\n  foreach_range 1, %bound, 1 {(%i: int, %k: int)\n    array_insert %x, %i, 0.0\n  }\n}\n",
                    types);
  REQUIRE_MESSAGE(module.has_value(), module.error());
  prove_indices(*module);
  CHECK(ir::verify(*module) == std::vector<std::string>{});
  const std::string after = ir::print(*module);
  const std::size_t at = after.find("%bound: int = ");
  return after.substr(at + 14, after.find('\n', at) - at - 14);
}

}  // namespace

TEST_CASE("prove-indices: bounds of loops that are made of an array's extent can not overflow") {
  const std::string becomes = "  %e: int = call_builtin @@extent \"x\", %n types [string, int]\n";
  const std::string index = "  %at: int = call_builtin @@index 0, %n types [int, int]\n";
  CHECK(bound_after("sub %n, 2", index) == "index_add %n, -2");
  CHECK(bound_after("add 1, %n", index) == "index_add %n, 1");
  CHECK(bound_after("sub %l, 1", index + "  %l: int = sub %n, 1\n") == "index_add %l, -1");
  CHECK(bound_after("sub %n, 2", becomes) == "sub %n, 2");
  CHECK(bound_after("sub %n, 2", "") == "sub %n, 2");
  CHECK(bound_after("sub %m, 2", index) == "sub %m, 2");
  CHECK(bound_after("sub 2, %n", index) == "sub 2, %n");
  CHECK(bound_after("mul %n, 2", index) == "mul %n, 2");
  CHECK(bound_after("add %n, %m", index + "  %f: int = call_builtin @@extent \"x\", %bound types [string, int]\n") ==
        "add %n, %m");
}

TEST_CASE("prove-indices: a check goes where it holds in all iterations") {
  CHECK(is_proven("0", "%last", "%i", "%n"));
  CHECK(is_proven("0", "%last", "%i", "%same"));
  CHECK(is_proven("1", "%inner", "%before", "%n"));
  CHECK(is_proven("1", "%inner", "%after", "%n"));
  CHECK(is_proven("0", "9", "%i", "10"));
  CHECK(is_proven("0", "9", "3", "4"));
}

TEST_CASE("prove-indices: a check that may fail stays") {
  CHECK_FALSE(is_proven("0", "%n", "%i", "%n"));
  CHECK_FALSE(is_proven("0", "%last", "%i", "%m"));
  CHECK_FALSE(is_proven("0", "%last", "%before", "%n"));
  CHECK_FALSE(is_proven("0", "%last", "%after", "%n"));
  CHECK_FALSE(is_proven("-1", "%last", "%i", "%n"));
  CHECK_FALSE(is_proven("%m", "%last", "%i", "%n"));
  CHECK_FALSE(is_proven("0", "10", "%i", "10"));
  CHECK_FALSE(is_proven("0", "9", "4", "4"));
  CHECK_FALSE(is_proven("0", "9", "%m", "%n"));
}

}  // namespace raddle::opt
