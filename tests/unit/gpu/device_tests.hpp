#pragma once
// A kernel for tests of devices: y = 10 x + a[x % size], which does not end well for x = bad.
#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/gpu/fake_driver.hpp"
#include "vm/device/devices.hpp"
#include "vm/value/buffer.hpp"

namespace raddle::gpu {

/// Points of batches that nobody expects to end, in this process.
inline std::atomic<bool> points_hang{false};

/// Words: first, step, count, results, elements, their number, bad.
inline std::int32_t range_of_tests(raddle_leaf_worker*, const std::int64_t* words, std::int64_t* results,
                                   raddle_leaf_failure*) {
  while (points_hang) std::this_thread::yield();
  const std::int64_t count = words[2];
  auto* const to = reinterpret_cast<std::int64_t*>(words[3]);
  const auto* const elements = reinterpret_cast<const std::int64_t*>(words[4]);
  for (std::int64_t number = results[0]; number < count; number += results[1]) {
    const std::int64_t x = words[0] + number * words[1];
    if (x == words[6]) return results[0] = number, raddle_leaf_ok;
    to[number] = 10 * x + elements[x % words[5]];
  }
  return results[0] = count, raddle_leaf_ok;
}
inline constexpr int words_of_tests = 7;

/// For the fake driver.
inline std::string code_of_tests() {
  return std::to_string(text_address(&range_of_tests)) + " " + std::to_string(words_of_tests);
}

/// Gives that kernel for everything, at once.
class CompilerOfTests final : public vm::KernelCompiler {
 public:
  void request(const vm::KernelGroup&, vm::KernelEntry, std::function<void(raddle_leaf_function)> done) override {
    done(range_of_tests);
  }
  void request_ptx(const vm::KernelGroup&, vm::KernelEntry, std::function<void(std::string)> done) override {
    done(ptx.empty() ? "host " + code_of_tests() : ptx);
  }
  void request_super_ptx(const std::vector<vm::RangeKernel>& ranges, std::function<void(std::string)> done) override {
    functions = ranges.size();
    std::string text = "super";
    for (const vm::RangeKernel& range : ranges) text += range.entry.reads == unfit ? " unfit" : " " + code_of_tests();
    done(text);
  }
  static constexpr std::uint8_t unfit = 77;  ///< `reads` of a kernel that no super kernel takes
  std::string ptx;                           ///< "": what the fake driver takes
  std::size_t functions = 0;                 ///< of the last super kernel
};

/// Elements that devices may know again.
using Elements = std::shared_ptr<vm::Buffer>;
inline Elements elements_of(std::size_t count, std::int64_t (*element)(std::size_t)) {
  Elements elements = vm::Buffer::make(vm::ValueKind::int_, count);
  for (std::size_t i = 0; i < count; ++i) static_cast<std::int64_t*>(elements->at_index(0))[i] = element(i);
  return elements;
}

/// A batch with its memory.
struct BatchOfTests {
  BatchOfTests(std::int64_t first, std::int64_t step, std::int64_t count, std::int64_t bad, Elements elements)
      : first(first),
        step(step),
        results(elements_of(static_cast<std::size_t>(count), [](std::size_t) { return std::int64_t{-1}; })),
        elements(std::move(elements)),
        bad(bad) {}

  std::future<vm::DeviceOutcome> submit(vm::Devices& devices, std::shared_ptr<const vm::DeviceKernel> kernel) {
    vm::DeviceBatch batch;
    batch.kernel = std::move(kernel);
    batch.words = {first,
                   step,
                   static_cast<std::int64_t>(results->count()),
                   reinterpret_cast<std::int64_t>(results->at_index(0)),
                   reinterpret_cast<std::int64_t>(elements->data()),
                   static_cast<std::int64_t>(elements->count()),
                   bad};
    batch.results = {{3, 8 * results->count(), results.get()}};
    batch.arrays = {{4, 8 * elements->count(), elements.get()}};
    batch.run = &run;
    batch.done = [this](const vm::DeviceOutcome& outcome) { told.set_value(outcome); };
    auto outcome = told.get_future();
    devices.submit(std::move(batch));
    return outcome;
  }
  /// Of how many points, from the first one on.
  bool is_right(std::int64_t made) const {
    for (std::int64_t i = 0; i < made; ++i) {
      const std::int64_t x = first + i * step;
      if (results->word(static_cast<std::size_t>(i)) !=
          10 * x + elements->word(static_cast<std::size_t>(x) % elements->count()))
        return false;
    }
    return true;
  }

  const std::int64_t first, step;
  Elements results, elements;
  const std::int64_t bad;
  raddle_leaf_worker run{};
  std::promise<vm::DeviceOutcome> told;
};

using PreparedKernel = std::expected<std::shared_ptr<const vm::DeviceKernel>, std::string>;
inline PreparedKernel asked(vm::Devices& devices, CompilerOfTests& compiler, std::uint8_t reads = 0) {
  std::promise<PreparedKernel> told;
  devices.prepare({}, {vm::KernelEntry::range, reads}, std::make_shared<vm::CompilerLink>(compiler),
                  [&](PreparedKernel kernel) { told.set_value(std::move(kernel)); });
  return told.get_future().get();
}
/// Null: there is none.
inline std::shared_ptr<const vm::DeviceKernel> prepared(vm::Devices& devices, CompilerOfTests& compiler,
                                                        std::uint8_t reads = 0) {
  return asked(devices, compiler, reads).value_or(nullptr);
}

}  // namespace raddle::gpu
