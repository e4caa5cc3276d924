#include "vm/kernel/reduce_points.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "vm/kernel/kernel_bytes.hpp"
#include "vm/kernel/kernel_text.hpp"
#include "vm/kernel/verify_kernel.hpp"
#include "vm/value/array.hpp"

namespace raddle::vm {
namespace {

double number_at(std::int64_t point) {
  return 0.1 * static_cast<double>(point % 97) - 1e3 / static_cast<double>(point + 1);
}

/// As a compiled launch: its capture is a point that does not end well.
std::int32_t compute(raddle_leaf_worker*, const std::int64_t* words, std::int64_t* results, raddle_leaf_failure*) {
  auto* const numbers = reinterpret_cast<double*>(words[3]);
  std::int64_t made = 0;
  for (; made < words[2] && words[0] + made != words[4]; ++made) numbers[made] = number_at(words[0] + made * words[1]);
  results[0] = made;
  return raddle_leaf_ok;
}

std::int32_t largest_ints(raddle_leaf_worker*, const std::int64_t* words, std::int64_t* results, raddle_leaf_failure*) {
  std::fill_n(reinterpret_cast<std::int64_t*>(words[3]), words[2], std::numeric_limits<std::int64_t>::max());
  results[0] = words[2];
  return raddle_leaf_ok;
}

constexpr std::int64_t nowhere = -1;

struct Reduced {
  std::int32_t status;
  std::int64_t word;
};

Reduced reduced(KernelReducer reducer, std::int64_t count, std::int64_t fails_at = nowhere,
                raddle_leaf_function points = compute, bool is_float = true, const void* stack_limit = nullptr) {
  raddle_leaf_worker worker{};
  worker.stack_limit = stack_limit;
  const raddle_leaf_reduction what{points, static_cast<std::uint8_t>(reducer), static_cast<std::uint8_t>(is_float), 0};
  std::int64_t words[5] = {0, 0, 0, 0, fails_at};
  raddle_leaf_failure failure{};
  Reduced made{0, 0};
  made.status = reduce_points(&worker, &what, count, words, &made.word, &failure);
  return made;
}

TEST_CASE("numbers that are computed and reduced have the bits of an array's") {
  for (const std::int64_t count : {1, 7, 8, 255, 256, 257, 512, 1000, 70'000}) {
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = number_at(i);
    const Ref<Array> array = Array::packed_of(std::move(numbers));
    const Reduction<double> all = array->reduce<double>();
    const auto check = [&](KernelReducer reducer, double expected) {
      const Reduced found = reduced(reducer, count);
      CHECK(found.status == raddle_leaf_ok);
      CHECK(found.word == std::bit_cast<std::int64_t>(expected));
    };
    check(KernelReducer::sum, all.total());
    check(KernelReducer::mean, all.mean());
    check(KernelReducer::deviation, all.deviation(count));
    check(KernelReducer::greatest, all.greatest);
    check(KernelReducer::least, all.least);
  }
}

TEST_CASE("of no numbers there is a sum only") {
  const Reduced sum = reduced(KernelReducer::sum, 0);
  CHECK(sum.status == raddle_leaf_ok);
  CHECK(std::bit_cast<double>(sum.word) == 0.0);
  for (const KernelReducer reducer :
       {KernelReducer::mean, KernelReducer::deviation, KernelReducer::greatest, KernelReducer::least})
    CHECK(reduced(reducer, 0).status == raddle_leaf_domain_error);
}

TEST_CASE("a number that can not be computed, a sum beyond the ints, and the end of the run are no results") {
  for (const std::int64_t at : {0, 1, 255, 256, 999})
    CHECK(reduced(KernelReducer::sum, 1000, at).status != raddle_leaf_ok);
  CHECK(reduced(KernelReducer::sum, 1000, 1000).status == raddle_leaf_ok);
  CHECK(reduced(KernelReducer::sum, 1, nowhere, largest_ints, false).status == raddle_leaf_ok);
  CHECK(reduced(KernelReducer::sum, 2, nowhere, largest_ints, false).status == raddle_leaf_domain_error);
  CHECK(reduced(KernelReducer::greatest, 2, nowhere, largest_ints, false).word ==
        std::numeric_limits<std::int64_t>::max());
  const void* const interrupted = reinterpret_cast<const void*>(~std::uintptr_t{0});
  CHECK(reduced(KernelReducer::sum, 10, nowhere, compute, true, interrupted).status == raddle_leaf_interrupted);
}

TEST_CASE("many numbers are left to all workers if some have nothing to do, and the call may begin anew") {
  constexpr std::int64_t many = 1 << 14;
  const auto status_of = [](std::int64_t count, std::int32_t idle_workers, bool may_share) {
    raddle_leaf_worker worker{};
    worker.idle_workers = &idle_workers;
    const raddle_leaf_reduction what{compute, static_cast<std::uint8_t>(KernelReducer::sum), 1,
                                     static_cast<std::uint8_t>(may_share)};
    std::int64_t words[5] = {0, 0, 0, 0, nowhere}, result = 0;
    raddle_leaf_failure failure{};
    return reduce_points(&worker, &what, count, words, &result, &failure);
  };
  CHECK(status_of(many, 1, true) == raddle_leaf_shareable);
  CHECK(status_of(many - 1, 1, true) == raddle_leaf_ok);
  CHECK(status_of(many, 0, true) == raddle_leaf_ok);
  CHECK(status_of(many, 1, false) == raddle_leaf_ok);
}

const std::string reducing_kernels = R"(kernel 0 "norm" at 0:1-5 (%0: float[], %1: int) -> (%2) {
  %2: float = reduce mean 1 %1 (%0) at 0:7-9
}
kernel 1 "square" at 0:2-3 (%0: int, %1: float[]) -> (%3) {
  %2: float = get_float %1 %0 at 0:2-3
  %3: float = mul_float %2 %2 at 0:2-3
}
)";

KernelGroup read_group(const std::string& text) {
  const auto read = read_kernels(text);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error()));
  KernelGroup group;
  for (const NumberedKernel& each : *read) group.push_back(each.kernel);
  return group;
}

TEST_CASE("kernels that reduce are written, read and verified") {
  const KernelGroup group = read_group(reducing_kernels);
  REQUIRE(group.size() == 2);
  CHECK(verify_kernels(group) == "");
  CHECK(print_kernel(group[0], 0) + print_kernel(group[1], 1) == reducing_kernels);
  const auto bytes = read_kernel_bytes(write_kernels(group));
  REQUIRE(bytes.has_value());
  CHECK(*bytes == group);

  const auto fault_of = [](std::string_view what, std::string_view instead) {
    std::string text = reducing_kernels;
    text.replace(text.find(what), what.size(), instead);
    return verify_kernels(read_group(text));
  };
  CHECK(fault_of("mean 1", "mean 0") == "kernel `norm`: it reduces itself");
  CHECK(fault_of("mean 1", "mean 7") == "kernel `norm`: it reduces what is no kernel");
  CHECK(fault_of("(%0) at 0:7", "(%0, %1) at 0:7") == "kernel `norm`: a reduction with other types");
  CHECK(fault_of("%2: float = reduce", "%2: int = reduce") == "kernel `norm`: a reduction with another result");
  CHECK(fault_of("-> (%3) {\n  %2", "-> (%3, %2) {\n  %2") == "kernel `norm`: a reduction of other than one number");
}

}  // namespace
}  // namespace raddle::vm
