// Eight lanes and one give the same bits, with whatever instructions a processor has.
#include <doctest/doctest.h>

#include "tests/unit/vm/math/functions.hpp"
#include "vm/math/lane_functions.hpp"

namespace raddle::vm::math::test {
namespace {

constexpr std::size_t block_size = 64;
struct alignas(64) Block {
  double x[block_size], y[block_size], result[block_size];
};

/// @return how many lanes have other bits than one number
std::size_t differing(const Function& function, const LaneFunction& lanes, Block& block) {
  lanes.compute(block.x, block.y, block.result, block_size);
  std::size_t found = 0;
  for (std::size_t i = 0; i < block_size; ++i) {
    const double expected = function.scalar(block.x[i], block.y[i]);
    if (std::bit_cast<std::uint64_t>(block.result[i]) == std::bit_cast<std::uint64_t>(expected)) continue;
    ++found;
    CAPTURE(block.x[i]);
    CAPTURE(block.y[i]);
    CHECK(block.result[i] == expected);
  }
  return found;
}

/// Of all processors whose versions can run here.
template <typename Test>
void on_each_processor(const Test& test) {
  for (const Processor processor : processors) {
    if (!can_run(processor)) continue;
    CAPTURE(static_cast<int>(processor));
    test(lane_functions(processor));
  }
}

TEST_CASE("mathematics: eight lanes give the bits of one, whatever a processor can do") {
  on_each_processor([](std::span<const LaneFunction> all) {
    const std::size_t count = argument_count(1'000'000);
    REQUIRE(all.size() == std::size(functions));
    for (std::size_t place_of = 0; place_of < all.size(); ++place_of) {
      const Function& function = functions[place_of];
      CAPTURE(function.name);
      const LaneFunction* lanes = &all[place_of];
      REQUIRE(lanes->name == function.name);
      Block block;
      std::size_t place = 0, found = 0, blocks = 0;
      const auto add = [&](double x, double y) {
        block.x[place] = x, block.y[place] = y;
        if (++place < block_size) return;
        place = 0, ++blocks;
        found += differing(function, *lanes, block);
      };
      for (const double x : hard_numbers_of(function))
        for (const double y : hard_numbers_of(function)) add(x, y);
      Arguments arguments(function);
      for (std::size_t i = 0; i < count; ++i) {
        const Arguments::Pair at = arguments.next();
        add(at.x, at.y);
      }
      CHECK(found == 0);
      CHECK(blocks * block_size >= count);
    }
  });
}

TEST_CASE("mathematics: functions of lanes are found by name and number of arguments") {
  const auto place = [](LaneFunctionId id) { return &lane_functions()[static_cast<std::size_t>(id)]; };
  CHECK(lane_function("sqrt", 1) == place(LaneFunctionId::sqrt));
  CHECK(lane_function("pow", 2) == place(LaneFunctionId::pow));
  CHECK(lane_function("pow_32", 2) == place(LaneFunctionId::pow_32));
  CHECK(!lane_function("log", 2));
  CHECK(!lane_function("floor", 1));
}

}  // namespace
}  // namespace raddle::vm::math::test
