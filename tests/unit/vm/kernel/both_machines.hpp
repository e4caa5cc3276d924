#pragma once
// Kernels run by lanes and point by point.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "vm/kernel/kernel_text.hpp"
#include "vm/kernel/lane_machine.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/kernel/scalar_machine.hpp"
#include "vm/kernel/verify_kernel.hpp"

namespace raddle::vm::test {

using Numbers = std::vector<std::int64_t>;
inline constexpr std::size_t size = LaneMachine::most_points;

/// Kernels of (point, a[], b[], c[]).
struct BothMachines {
  /// @param text  of kernels, numbered from 0 on; number 0 is run
  explicit BothMachines(const std::string& text) {
    const auto read = read_kernels(text);
    REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error()), " in\n", text);
    for (const NumberedKernel& one : *read) program.kernels.push_back(one.kernel);
    REQUIRE(verify_kernels(program.kernels) == "");
    const std::vector<LaneCode> lanes = plan_lanes(program.kernels);
    program.functions.resize(program.kernels.size());
    for (std::size_t i = 0; i < program.kernels.size(); ++i) {
      program.functions[i].scalar_code = assemble(program.kernels[i]);
      program.functions[i].lane_code = lanes[i];
    }
    REQUIRE(lanes[0].exists());
  }

  /// Both ways. @return whether all points of the lanes end well
  bool agree(const Numbers& a, const Numbers& b, const Numbers& c, std::int64_t first, std::int64_t step,
             std::int64_t count) {
    const auto word = [](const Numbers& numbers) { return reinterpret_cast<std::int64_t>(numbers.data()); };
    Numbers arguments{0, word(a), size, word(b), size, word(c), size};
    ScalarMachine single(program, foreigns);
    LaneMachine lanes(program);
    lanes.prepare(0, arguments);
    const Kernel& kernel = program.kernels[0];
    std::vector<Numbers> results(kernel.outputs.size(), Numbers(size, 77));
    std::vector<void*> places;
    for (Numbers& numbers : results) places.push_back(numbers.data());
    const bool is_well = lanes.run(first, step, count, places, [] { return true; }) == LaneMachine::Outcome::done;
    bool all_well = true;
    for (std::int64_t i = 0; i < count; ++i) {
      arguments[0] = first + i * step;
      Numbers expected(results.size());
      const auto outcome = single.run(0, arguments, expected.data(), [] { return true; });
      all_well = all_well && outcome == ScalarMachine::Outcome::done;
      if (!is_well || outcome != ScalarMachine::Outcome::done) continue;
      for (std::size_t k = 0; k < results.size(); ++k) {
        const KernelType type = kernel.types[kernel.outputs[k]];
        const std::int64_t got = number_at(results[k].data(), kind_of(type), static_cast<std::size_t>(i));
        const bool both_nan = (type == KernelType::float_ || type == KernelType::float32) &&
                              std::isnan(std::bit_cast<double>(got)) && std::isnan(std::bit_cast<double>(expected[k]));
        if (got == expected[k] || both_nan) continue;
        FAIL_CHECK("point ", i, ", result ", k, ": ", got, " is not ", expected[k], " of ",
                   a[static_cast<std::size_t>(arguments[0])], ", ", b[static_cast<std::size_t>(arguments[0])]);
      }
    }
    CHECK(is_well == all_well);
    return is_well;
  }

  Program program;
  ScalarMachine::Foreigns foreigns;
};

}  // namespace raddle::vm::test
