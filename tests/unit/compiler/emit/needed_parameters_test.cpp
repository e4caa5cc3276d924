#include "compiler/emit/needed_parameters.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "vm/kernel/kernel_text.hpp"

namespace raddle::emit {
namespace {

std::vector<bool> needed_in(const std::string& text) {
  const auto kernels = vm::read_kernels(text);
  REQUIRE_MESSAGE(kernels.has_value(), (kernels ? "" : kernels.error()));
  return needed_parameters(kernels->front().kernel);
}

TEST_CASE("what all outputs need is known through operations and both ways of a branch") {
  CHECK(needed_in(R"(kernel 0 "sums" at 0:0-0 (%0: int, %1: int[], %2: int, %3: int) -> (%5, %6) {
    %4: int = get_int %1 %0 at 0:0-0
    %5: int = add_int %4 %2 at 0:0-0
    %6: int = add_int %4 %3 at 0:0-0
  })") == std::vector<bool>{true, true, false, false});
  CHECK(needed_in(R"(kernel 0 "branch" at 0:0-0 (%0: boolean, %1: int, %2: int) -> (%3) {
    if %0 at 0:0-0 {
      %3: int = add_int %1 %2 at 0:0-0
    } else {
      %3: int = copy %1 at 0:0-0
    }
  })") == std::vector<bool>{true, true, false});
}

TEST_CASE("loops are taken to make a round, and functions to look at what they are given") {
  CHECK(needed_in(R"(kernel 0 "loop" at 0:0-0 (%0: int[], %1: int, %2: int, %3: int) -> (%5) {
    const %4: int = 0
    loop (%5: int, %6: int) = (%4, %4) at 0:0-0 {
      %7: boolean = lt_int %6 %1 at 0:0-0
    } while %7 {
      %8: int = get_int %0 %6 at 0:0-0
      %9: int = add_int %5 %8 at 0:0-0
      %10: int = add_int %6 %2 at 0:0-0
    } next (%9, %10)
  })") == std::vector<bool>{true, true, true, false});
}

}  // namespace
}  // namespace raddle::emit
