#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/print.hpp"
#include "compiler/ir/read_text.hpp"
#include "compiler/ir/verify.hpp"
#include "compiler/opt/launches/outline_loops.hpp"

namespace raddle::opt {
namespace {

std::string after_outlining(const std::string& text) {
  TypeStore types;
  std::expected<ir::Module, std::string> module = ir::read_text("entry @f\n\n" + text, types);
  REQUIRE_MESSAGE(module.has_value(), module.error());
  REQUIRE(ir::verify(*module) == std::vector<std::string>{});
  outline_loops(*module);
  CHECK(ir::verify(*module) == std::vector<std::string>{});
  const std::string printed = ir::print(*module);
  TypeStore other_types;
  CHECK(ir::print(*ir::read_text(printed, other_types)) == printed);
  return printed.substr(printed.find("function"));
}

TEST_CASE("a loop of numbers is a leaf of its own, and what it reads its parameters") {
  const std::string loop =
      "  %x, %i: int = loop 1.0, 0 test %0 next %1, %2 {(%a: float, %k: int)\n"
      "    %0: boolean = lt %k, %n\n"
      "  } {\n"
      "    %1: float = mul %a, %by\n"
      "    %2: int = add %k, 1\n"
      "  }\n";
  const std::string outlined =
      after_outlining("function @f composite (%n: int, %by: float) -> (%x: float) {\n" + loop + "}\n");
  CHECK(outlined.find("%x, %i: int = call @f.loop.1 %n, %by\n") != std::string::npos);
  CHECK(outlined.find("function @f.loop.1 outlined (%n: int, %by: float) -> (%x: float, %i: int) {\n") !=
        std::string::npos);
}

TEST_CASE("a loop that prints, or reads what may come after it has begun to give something, stays") {
  const std::string prints =
      "function @f composite (%n: int) -> () {\n"
      "  %i: int = loop 0 test %0 next %2 {(%k: int)\n"
      "    %0: boolean = lt %k, %n\n"
      "  } {\n"
      "    %1: void = call_builtin @trace %k types [int]\n"
      "    %2: int = add %k, 1\n"
      "  }\n"
      "}\n";
  CHECK(after_outlining(prints) == prints);
  const std::string circle =
      "function @f composite (%n: int) -> (%b: int) {\n"
      "  %a: int, %b, %i: int = loop 0, 0, 0 test %0 next %1, %2, %3 {(%x: int, %y: int, %k: int)\n"
      "    %0: boolean = lt %k, %n\n"
      "  } {\n"
      "    %1: int = add %x, 1\n"
      "    %2: int = add %y, %c\n"
      "    %3: int = add %k, 1\n"
      "  }\n"
      "  %c: int = mul %a, 10\n"
      "}\n";
  CHECK(after_outlining(circle).find("loop") != std::string::npos);
  CHECK(after_outlining(circle).find("outlined") == std::string::npos);
}

}  // namespace
}  // namespace raddle::opt
