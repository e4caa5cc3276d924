#include "compiler/opt/launches/loop_kernels.hpp"

#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/print.hpp"
#include "compiler/ir/read_text.hpp"
#include "compiler/ir/verify.hpp"

namespace raddle::opt {
namespace {

/// A loop over %t from 1 to %n - 1 with this body, which may name %a and %b, arrays of floats, and %x, one that is
/// there; %next is its variable %m in the next iteration.
std::string with_body(const std::string& body, int writers_of_a, int writers_of_b) {
  return "entry @f\n\nfunction @f composite (%n: int, %x: float[]) -> () {\n  %a: float[] = array_new writers " +
         std::to_string(writers_of_a) + "\n  %b: float[] = array_new writers " + std::to_string(writers_of_b) +
         "\n  loop 0.5, 1 test %0 next %next, %1 {(%m: float, %t: int)\n    %0: boolean = lt %t, %n\n  } {\n" + body +
         "    %1: int = add %t, 1\n  }\n}\n";
}

ir::Module module_with(const std::string& text, TypeStore& types) {
  std::expected<ir::Module, std::string> module = ir::read_text(text, types);
  REQUIRE_MESSAGE(module.has_value(), module.error());
  REQUIRE(ir::verify(*module) == std::vector<std::string>{});
  find_loop_kernels(*module);
  CHECK(ir::verify(*module) == std::vector<std::string>{});
  const std::string printed = ir::print(*module);
  TypeStore other_types;
  CHECK(ir::print(*ir::read_text(printed, other_types)) == printed);
  return std::move(*module);
}

/// What the loop's kernel is said to be; "" if it has none.
std::string kernel_of(const std::string& body, int writers_of_a = 1, int writers_of_b = 0) {
  TypeStore types;
  const std::string printed = ir::print(module_with(with_body(body, writers_of_a, writers_of_b), types));
  const std::size_t begin = printed.find("  kernel @");
  if (begin == std::string::npos) return "";
  return printed.substr(begin, printed.find("}\n", begin) - begin);
}

TEST_CASE("loops that fill arrays have kernels") {
  CHECK(
      kernel_of("    %2: float = array_get %x, %t\n    %next: float = add %m, %2\n    array_insert %a, %t, %next\n") ==
      "  kernel @f.loop.1 captures %n, %x\n    always %a\n");
  // in branches, several, also by keys that are computed
  CHECK(kernel_of("    %next: float = mul %m, 0.5\n"
                  "    %2: int = mod %t, 10\n"
                  "    %3: boolean = eq %2, 0\n"
                  "    if %3 {\n"
                  "      array_insert %a, %2, %next\n"
                  "    }\n"
                  "    array_insert %b, %t, %m\n",
                  1, 1) == "  kernel @f.loop.1 captures %n\n    sometimes %a\n    always %b\n");
}

TEST_CASE("iterations read what those before them have inserted") {
  const std::string back = "    %2: int = sub %t, 3\n    %3: float = array_get %a, %2\n    %next: float = add %m, %3\n";
  CHECK(kernel_of(back + "    array_insert %a, %t, %next\n") ==
        "  kernel @f.loop.1 captures %n\n    always %a back 3 times 1\n");
  const std::string twice = "    %4: int = mul %t, 2\n    %5: int = sub %4, 4\n    %6: float = array_get %a, %5\n";
  CHECK(kernel_of(twice + "    %next: float = add %m, %6\n    array_insert %a, %4, %next\n") ==
        "  kernel @f.loop.1 captures %n\n    always %a back 2 times 2\n");
  // that of the iteration itself, of one that comes, of an iteration that may have inserted none
  CHECK(kernel_of("    %3: float = array_get %a, %t\n    %next: float = add %m, %3\n    array_insert %a, %t, %m\n")
            .empty());
  const std::string ahead =
      "    %2: int = add %t, 1\n    %3: float = array_get %a, %2\n    %next: float = add %m, %3\n";
  CHECK(kernel_of(ahead + "    array_insert %a, %t, %next\n").empty());
  CHECK(kernel_of(back + "    %4: boolean = lt %t, 9\n    if %4 {\n      array_insert %a, %t, %m\n    }\n").empty());
  // between two others
  CHECK(kernel_of("    %4: int = mul %t, 2\n    %5: int = sub %4, 1\n    %6: float = array_get %a, %5\n"
                  "    %next: float = add %m, %6\n    array_insert %a, %4, %next\n")
            .empty());
}

TEST_CASE("loops that do anything else have none") {
  CHECK(kernel_of("    %next: float = mul %m, 0.5\n    array_insert %a, %t, %next\n"
                  "    %2: void = call_builtin @trace %t types [int]\n")
            .empty());
  CHECK(kernel_of("    %next: float = mul %m, 0.5\n    array_insert %a, %t, %next\n"
                  "    %2: int = call_builtin @size %a types [float[]]\n")
            .empty());
}

TEST_CASE("what a loop around it writes is not waited for as a whole") {
  const auto text = [](const std::string& read) {
    return "entry @f\n\nfunction @f composite (%n: int, %x: float[]) -> () {\n"
           "  %a: float[] = array_new writers 1\n"
           "  %b: float[] = array_new writers 1\n"
           "  foreach_range 0, %n, 1 {(%i: int)\n"
           "    array_insert %b, %i, 1.0\n"
           "    loop 1 test %0 next %1 {(%t: int)\n"
           "      %0: boolean = lt %t, %n\n"
           "    } {\n"
           "      %2: float = array_get " +
           read +
           ", %i\n"
           "      array_insert %a, %t, %2\n"
           "      %1: int = add %t, 1\n"
           "    }\n"
           "  }\n}\n";
  };
  TypeStore types;
  CHECK(module_with(text("%x"), types).functions[0].kernels.size() == 1);
  CHECK(module_with(text("%b"), types).functions[0].kernels.empty());
}

}  // namespace
}  // namespace raddle::opt
