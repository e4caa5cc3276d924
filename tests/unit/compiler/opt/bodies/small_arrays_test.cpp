#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/print.hpp"
#include "compiler/ir/read_text.hpp"
#include "compiler/ir/verify.hpp"
#include "compiler/opt/bodies/dead_code.hpp"
#include "compiler/opt/bodies/fold_constants.hpp"
#include "compiler/opt/bodies/small_arrays.hpp"

namespace raddle::opt {
namespace {

std::string after_replacing(const std::string& text) {
  TypeStore types;
  std::expected<ir::Module, std::string> module = ir::read_text("entry @f\n" + text, types);
  REQUIRE_MESSAGE(module.has_value(), module.error());
  REQUIRE(ir::verify(*module) == std::vector<std::string>{});
  replace_small_arrays(*module);
  fold_constants(*module);
  remove_dead_code(*module);
  CHECK(ir::verify(*module) == std::vector<std::string>{});
  return ir::print(*module, module->functions[module->find("f")]);
}

TEST_CASE("a loop carries the elements of a small array, and its body is arithmetic") {
  CHECK(after_replacing("function @f composite (%n: int) -> (%r: float) {\n"
                        "  %0: float[] = array_list 1.0, 2.0\n"
                        "  %1: float[:] = struct_make %0, 2\n"
                        "  %y: float[:], %2: int = loop %1, 0 test %3 next %z, %9 {(%x: float[:], %t: int)\n"
                        "    %3: boolean = lt %t, %n\n"
                        "    %4: float[] = struct_get %x field 0\n"
                        "    %5: int = struct_get %x field 1\n"
                        "  } {\n"
                        "    %6: float[] = array_new %5 writers 1\n"
                        "    %7: int = index_add %5, -1\n"
                        "    foreach_range 0, %7, 1 {(%i: int, %k: int)\n"
                        "      %a: float = array_get %4, %i\n"
                        "      %b: float = mul %a, 0.5\n"
                        "      array_insert %6, %i, %b\n"
                        "    }\n"
                        "    %z: float[:] = struct_make %6, %5\n"
                        "    %9: int = add %t, 1\n"
                        "  }\n"
                        "  %8: float[] = struct_get %y field 0\n"
                        "  %r = array_get %8, 1\n"
                        "}\n") ==
        "function @f composite (%n: int) -> (%r: float) {\n"
        "  %0: float, %1: float, %2: int = loop 1.0, 2.0, 0 test %5 next %b, %b.1, %6 "
        "{(%3: float, %4: float, %t: int)\n"
        "    %5: boolean = lt %t, %n\n"
        "  } {\n"
        "    %b: float = mul %3, 0.5\n"
        "    %b.1: float = mul %4, 0.5\n"
        "    %6: int = add %t, 1\n"
        "  }\n"
        "  %r = copy %1\n"
        "}\n");
}

TEST_CASE("an array that grows in a loop, or lacks an element, stays an array") {
  const std::string grows =
      "function @f composite (%n: int) -> (%r: int) {\n"
      "  %0: float[] = array_list 1.0\n"
      "  %1: float[:] = struct_make %0, 1\n"
      "  %y: float[:], %2: int = loop %1, 0 test %3 next %z, %6 {(%x: float[:], %t: int)\n"
      "    %3: boolean = lt %t, %n\n"
      "    %4: float[] = struct_get %x field 0\n"
      "  } {\n"
      "    %5: float[] = array_list 1.0, 2.0\n"
      "    %z: float[:] = struct_make %5, 2\n"
      "    %6: int = add %t, 1\n"
      "  }\n"
      "  %r = struct_get %y field 1\n"
      "}\n";
  CHECK(after_replacing(grows).find("(%x: float[:], %t: int)") != std::string::npos);
  const std::string lacks =
      "function @f composite (%n: float) -> (%r: float) {\n"
      "  %0: float[] = array_new 2 writers 1\n"
      "  array_insert %0, 0, %n\n"
      "  %1: float[:] = struct_make %0, 2\n"
      "  %2: float[] = struct_get %1 field 0\n"
      "  %r = array_get %2, 1\n"
      "}\n";
  CHECK(after_replacing(lacks).find("array_new 2") != std::string::npos);
}

TEST_CASE("a small function is what its call does") {
  CHECK(after_replacing("function @f composite (%n: float) -> (%r: float) {\n"
                        "  %0: float[] = array_list %n, 2.0\n"
                        "  %1: float[:] = struct_make %0, 2\n"
                        "  %r = call @second %0, 2\n"
                        "}\n"
                        "function @second composite (%a: float[], %n: int) -> (%r: float) {\n"
                        "  %0: int = call_builtin @@index 1, %n, \"a\", 0 types [int, int, string, int]\n"
                        "  %r = array_get %a, %0\n"
                        "}\n") ==
        "function @f composite (%n: float) -> (%r: float) {\n"
        "  %r = copy 2.0\n"
        "}\n");
}

}  // namespace
}  // namespace raddle::opt
