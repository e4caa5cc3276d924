#include "vm/device/near_elements.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace raddle::vm {
namespace {

/// Registers: the point, an array, the constants 3 and 2^40, then what instructions make.
Kernel kernel_of(std::vector<KernelInstruction> instructions) {
  using enum KernelType;
  Kernel kernel;
  kernel.types = {int_, floats, int_, int_};
  kernel.parameter_count = 2;
  kernel.constants = {3, std::int64_t{1} << 40};
  for (const KernelInstruction& instruction : instructions)
    kernel.types.push_back(is_get(instruction.op) ? float_ : int_);
  kernel.outputs = {static_cast<KernelRegister>(kernel.types.size() - 1)};
  kernel.blocks = {std::move(instructions)};
  return kernel;
}
KernelInstruction made(KernelOp op, KernelRegister result, KernelRegister a, KernelRegister b = no_kernel_part) {
  return {.op = op, .result = result, .inputs = {a, b, no_kernel_part}, .index = 0, .place = {}};
}

using Near = std::optional<NearElements>;

TEST_CASE("elements at constant distances of the point are near") {
  CHECK(near_elements(kernel_of({made(KernelOp::get_float, 4, 1, 0)}), 1) == Near({0, 0}));
  const Kernel two = kernel_of({made(KernelOp::add_int, 4, 2, 0), made(KernelOp::get_float, 5, 1, 4),
                                made(KernelOp::sub_int, 6, 0, 2), made(KernelOp::get_float, 7, 1, 6)});
  CHECK(near_elements(two, 1) == Near({-3, 3}));
  const Kernel sized =
      kernel_of({made(KernelOp::size, 4, 1), made(KernelOp::index, 5, 0, 4), made(KernelOp::get_float, 6, 1, 5)});
  CHECK(near_elements(sized, 1) == Near({0, 0}));
}

TEST_CASE("all others may be anywhere") {
  const auto any = Near();
  CHECK(near_elements(kernel_of({made(KernelOp::mul_int, 4, 0, 2), made(KernelOp::get_float, 5, 1, 4)}), 1) == any);
  CHECK(near_elements(kernel_of({made(KernelOp::sub_int, 4, 2, 0), made(KernelOp::get_float, 5, 1, 4)}), 1) == any);
  CHECK(near_elements(kernel_of({made(KernelOp::get_float, 4, 1, 2)}), 1) == any);
  CHECK(near_elements(kernel_of({made(KernelOp::add_int, 4, 0, 3), made(KernelOp::get_float, 5, 1, 4)}), 1) == any);
  Kernel least = kernel_of({made(KernelOp::add_int, 4, 0, 3), made(KernelOp::get_float, 5, 1, 4)});
  least.constants.back() = std::numeric_limits<std::int64_t>::min();
  CHECK(near_elements(least, 1) == any);
  Kernel called = kernel_of({made(KernelOp::get_float, 4, 1, 0)});
  called.calls.push_back({.kernel = 1, .inputs = {1}, .results = {}});
  CHECK(near_elements(called, 1) == any);
  // another branch has another element
  Kernel branches = kernel_of({made(KernelOp::copy, 4, 0), made(KernelOp::get_float, 5, 1, 4)});
  branches.blocks.push_back({made(KernelOp::mul_int, 4, 0, 2)});
  CHECK(near_elements(branches, 1) == any);
}

}  // namespace
}  // namespace raddle::vm
