#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "vm/kernel/kernel_bytes.hpp"
#include "vm/kernel/kernel_text.hpp"
#include "vm/kernel/lane_code.hpp"
#include "vm/kernel/scalar_code.hpp"

namespace raddle::vm {
namespace {

/// A point writes a row of twice its number, and the last element of an own array.
constexpr std::string_view own_arrays = R"(kernel 0 "rows" at 0:0-1 (%0: int, %1: int[], %2: int) rows 1 -> (%7) {
  const %3: int = 2
  %4: int[] = new_ints %2 at 0:2-3
  each %5: int of %2 at 0:4-5 {
    %6: int = mul_int %0 %3 at 0:6-7
    put_int %4 %5 %6 at 0:8-9
    put_int %1 %5 %6 at 0:8-9
  }
  %7: int = get_int %4 %3 at 0:10-11
}
)";

std::string fault_of(std::string_view text) {
  const auto read = read_kernels(text);
  return read ? "" : read.error();
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(own_arrays);
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST_CASE("kernels with own arrays are printed, read and written to bytes") {
  const auto read = read_kernels(own_arrays);
  REQUIRE(read);
  const Kernel& kernel = read->front().kernel;
  CHECK(kernel.row_count == 1);
  CHECK(print_kernel(kernel, 0) == own_arrays);
  const auto again = read_kernel_bytes(write_kernels({kernel}));
  REQUIRE(again);
  CHECK(again->front() == kernel);
}

TEST_CASE("only machine code runs them") {
  const auto read = read_kernels(own_arrays);
  REQUIRE(read);
  CHECK_FALSE(assemble(read->front().kernel).exists());
  CHECK_FALSE(plan_lanes(std::vector{read->front().kernel}).front().exists());
}

TEST_CASE("an array is made outside of loops, and a kernel writes its own ones only") {
  CHECK(fault_of(own_arrays) == "");
  CHECK(fault_of(replaced("rows 1 ", "")).ends_with("an array that is not the kernel's own is written"));
  CHECK(fault_of(replaced("rows 1 ", "rows 2 ")).ends_with("a row is no array"));
  CHECK(fault_of(replaced("rows 1 ", "rows 3 ")).ends_with("a row is no parameter"));
  CHECK(fault_of(replaced("    put_int %1", "    %8: int[] = new_ints %2 at 0:2-3\n    put_int %1"))
            .ends_with("an array is made in a loop"));
  CHECK(fault_of(replaced("get_int %4 %3", "get_int %4 %6")).ends_with("%6 is read before it is assigned"));
}

/// Two arrays that take turns, and a parameter that the loop carries on beside them.
constexpr std::string_view taking_turns = R"(kernel 0 "turns" at 0:0-1 (%0: int, %1: int[]) -> (%15) {
  const %2: int = 0
  const %3: int = 2
  %4: int[] = new_ints %3 at 0:2-3
  %5: int[] = new_ints %3 at 0:2-3
  loop (%6: int, %7: int[], %8: int[], %9: int[]) = (%2, %4, %5, %1) at 0:4-5 {
    %10: boolean = lt_int %6 %0 at 0:6-7
  } while %10 {
    put_int %7 %2 %6 at 0:8-9
    %11: int[] = first %7 %3 at 0:8-9
    %12: int = get_int %11 %2 at 0:8-9
    %13: int = add_int %12 %3 at 0:8-9
  } next (%13, %8, %7, %9)
  %14: int[] = first %8 %2 at 0:10-11
  %15: int = size %14 at 0:10-11
}
)";

std::string turns_with(std::string_view from, std::string_view to) {
  std::string text(taking_turns);
  text.replace(text.find(from), from.size(), to);
  return fault_of(text);
}

TEST_CASE("a loop writes variables that are own arrays in every round") {
  const auto read = read_kernels(taking_turns);
  REQUIRE_MESSAGE(read.has_value(), read.error());
  CHECK(print_kernel(read->front().kernel, 0) == taking_turns);
  const std::string fault = "an array that is not the kernel's own is written";
  CHECK(turns_with("put_int %7", "put_int %8") == "");
  CHECK(turns_with("put_int %7", "put_int %9").ends_with(fault));
  CHECK(turns_with("next (%13, %8, %7, %9)", "next (%13, %9, %7, %9)").ends_with(fault));
  CHECK(turns_with("next (%13, %8, %7, %9)", "next (%13, %8, %9, %9)").ends_with(fault));  // in the round after
  CHECK(turns_with("(%2, %4, %5, %1)", "(%2, %1, %5, %1)").ends_with(fault));
  CHECK(turns_with("put_int %7 %2 %6", "put_int %11 %2 %6").ends_with("%11 is read before it is assigned"));
  CHECK(turns_with("%12: int = get_int %11 %2 at 0:8-9",
                   "%12: int = get_int %11 %2 at 0:8-9\n    put_int %11 %2 %6 at 0:8-9")
            .ends_with(fault));
  CHECK(turns_with("%11: int[] = first %7", "%11: float[] = first %7").ends_with("`first` gives no float[]"));
}

}  // namespace
}  // namespace raddle::vm
