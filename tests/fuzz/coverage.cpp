// Tells libFuzzer what was reached. It reads arrays of 8-bit counters, which Clang makes; GCC calls a function in every
// block instead (-fsanitize-coverage=trace-pc). The archive has an empty function of that name: the linker is asked to
// take this one for it (--wrap).
#include <array>
#include <cstddef>
#include <cstdint>

extern "C" void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end);

namespace {

/// Blocks share a counter if their addresses are equal modulo this: far more than the compiler has.
constexpr std::size_t counter_count = std::size_t{1} << 20;
std::array<std::uint8_t, counter_count> counters;
std::uint8_t* const first_counter = counters.data();

[[gnu::constructor]] void register_counters() {
  __sanitizer_cov_8bit_counters_init(counters.data(), counters.data() + counters.size());
}

}  // namespace

extern "C" [[gnu::no_sanitize("address", "undefined")]] void __wrap___sanitizer_cov_trace_pc() {
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  ++first_counter[address % counter_count];  // at -Og the index of an array would be a call
}
