// Calls of AppKernels on both kinds of devices.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <expected>
#include <future>
#include <string>
#include <vector>

#include "gpu/call_placement.hpp"
#include "gpu/call_queue.hpp"
#include "gpu/cuda/cuda_devices.hpp"
#include "gpu/simulated/simulated_devices.hpp"
#include "tests/unit/gpu/fake_driver.hpp"
#include "vm/value/buffer.hpp"

namespace raddle::gpu {
namespace {

/// y[i] = by * x[i], and their sum. Words: x, its size, by, y, its size, the sum. A negative `by` is refused.
std::int64_t scale(std::uint64_t* words, char*, std::size_t) {
  const auto* const x = reinterpret_cast<const std::int64_t*>(words[0]);
  auto* const y = reinterpret_cast<std::int64_t*>(words[3]);
  const auto by = static_cast<std::int64_t>(words[2]);
  if (by < 0) return 5;
  for (std::uint64_t i = 0; i < words[1]; ++i) words[5] += static_cast<std::uint64_t>(y[i] += by * x[i]);
  return 0;
}

class AppKernelsOfTests final : public vm::AppKernelCompiler {
 public:
  std::expected<vm::AppKernelCode, std::string> load(const vm::ForeignFunction&) override { return scale; }
  void request_ptx(const vm::ForeignFunction&, PtxReceiver done) override {
    if (!why.empty()) return done(std::unexpected(why));
    done("calls " + std::to_string(text_address(&scale)));
  }
  std::string why;  ///< there is no code for GPUs
};

using Prepared = std::expected<std::shared_ptr<const vm::DeviceKernel>, std::string>;

Prepared prepared_calls(vm::Devices& devices, vm::AppKernelCompiler& compiler) {
  static const vm::ForeignFunction function;
  std::promise<Prepared> told;
  devices.prepare_calls(function, compiler, [&](Prepared kernel) { told.set_value(std::move(kernel)); });
  return told.get_future().get();
}

std::shared_ptr<vm::Buffer> numbers(std::size_t count, std::int64_t value) {
  std::shared_ptr<vm::Buffer> made = vm::Buffer::make(vm::ValueKind::int_, count);
  std::fill_n(static_cast<std::int64_t*>(made->at_index(0)), count, value);
  return made;
}

/// A call with its memory.
struct CallOfTests {
  CallOfTests(std::shared_ptr<vm::Buffer> given, std::int64_t by)
      : x(std::move(given)), y(numbers(x->count(), 0)), by(by) {}

  std::future<vm::DeviceOutcome> submit(vm::Devices& devices, std::shared_ptr<const vm::DeviceKernel> kernel) {
    const std::size_t bytes = 8 * x->count();
    words = {reinterpret_cast<std::uint64_t>(x->data()), x->count(), static_cast<std::uint64_t>(by),
             reinterpret_cast<std::uint64_t>(y->data()), y->count(), 0};
    read = {{0, bytes, x.get()}};
    filled = {{3, bytes, y.get()}};
    vm::DeviceCall call;
    call.kernel = std::move(kernel);
    call.words = words;
    call.read = read;
    call.filled = filled;
    call.run = &run;
    const auto receiver = std::make_shared<Receiver>();
    call.receiver = receiver;
    auto outcome = receiver->told.get_future();
    devices.submit(std::move(call));
    return outcome;
  }
  bool is_right() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < y->count(); ++i) {
      if (y->word(i) != by * x->word(i)) return false;
      sum += y->word(i);
    }
    return words[5] == static_cast<std::uint64_t>(sum) && words[0] == reinterpret_cast<std::uint64_t>(x->data());
  }

  struct Receiver final : vm::CallReceiver {
    void ended(std::span<const vm::EndedCall> calls) override { told.set_value(calls.front().outcome); }
    std::promise<vm::DeviceOutcome> told;
  };
  const std::shared_ptr<vm::Buffer> x, y;
  const std::int64_t by;
  std::vector<std::uint64_t> words;
  std::vector<vm::AddressedMemory> read, filled;
  raddle_leaf_worker run{};
};

/// Of many sizes, none among them; several read the same array.
void check_calls(vm::Devices& devices) {
  AppKernelsOfTests compiler;
  const Prepared kernel = prepared_calls(devices, compiler);
  REQUIRE(kernel);
  REQUIRE((*kernel)->lanes >= 32);
  std::deque<CallOfTests> calls;
  std::vector<std::future<vm::DeviceOutcome>> outcomes;
  const auto shared = numbers(500, 7);
  for (int i = 0; i < 600; ++i) {
    const auto x = i % 3 == 0 ? shared : numbers(static_cast<std::size_t>(i % 50), i);
    outcomes.push_back(calls.emplace_back(x, i % 7 == 0 ? -1 : i).submit(devices, *kernel));
  }
  for (int i = 0; i < 600; ++i) {
    const vm::DeviceOutcome outcome = outcomes[static_cast<std::size_t>(i)].get();
    CHECK(outcome.made == (i % 7 == 0 ? 0 : 1));
    CHECK_FALSE(outcome.is_lost);
    if (outcome.made == 1) CHECK(calls[static_cast<std::size_t>(i)].is_right());
  }
}

}  // namespace

TEST_CASE("calls of AppKernels: simulated devices") {
  for (const unsigned warps : {1U, 2U, 8U}) {
    SimulatedDevices devices(warps, {});
    check_calls(devices);
  }
}

TEST_CASE("a bundle that lies side by side is waited for once") {
  FakeDriver& driver = fake_driver();
  CudaDevices devices(1, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY);
  AppKernelsOfTests compiler;
  const Prepared kernel = prepared_calls(devices, compiler);
  REQUIRE(kernel);
  CallOfTests first(numbers(50, 7), 2), second(numbers(70, 8), 3), large(numbers(1 << 18, 9), 4);
  CHECK(first.submit(devices, *kernel).get().made == 1);  // the card's memory is asked for
  driver.waits = 0;
  CHECK(second.submit(devices, *kernel).get().made == 1);
  CHECK(driver.waits == 1);
  CHECK(second.is_right());
  CHECK(large.submit(devices, *kernel).get().made == 1);
  CHECK(large.is_right());
}

TEST_CASE("calls of AppKernels: cards; all is given back") {
  FakeDriver& driver = fake_driver();
  driver.devices = 2;
  {
    CudaDevices devices(9, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY);
    check_calls(devices);
  }
  CHECK(driver.contexts == 0);
  CHECK(driver.modules == 0);
  CHECK(driver.allocations == 0);
}

TEST_CASE("calls of AppKernels: a card in a process of its own, which is ended again and again") {
  FakeDriver& driver = fake_driver();
  CudaDevices devices(1, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY, {},
                      {"/proc/self/exe"});
  check_calls(devices);
  CHECK(devices.problem().empty());
  driver.deadly_launches = 1;
  check_calls(devices);
  driver.launch_error = 700;
  check_calls(devices);
  CHECK(driver.processes == 3);
}

TEST_CASE("calls that wait for a card are launched together, and a large array that they read is copied once") {
  FakeDriver& driver = fake_driver();
  CudaDevices devices(1, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY);
  AppKernelsOfTests compiler;
  const Prepared kernel = prepared_calls(devices, compiler);
  REQUIRE(kernel);
  driver.is_held = true;
  const auto large = numbers(1 << 18, 2);
  std::deque<CallOfTests> calls;
  std::vector<std::future<vm::DeviceOutcome>> outcomes;
  for (int i = 0; i < 200; ++i) outcomes.push_back(calls.emplace_back(large, i).submit(devices, *kernel));
  driver.is_held = false;
  for (auto& outcome : outcomes) CHECK(outcome.get().made == 1);
  for (const CallOfTests& call : calls) CHECK(call.is_right());
  CHECK(driver.bytes_in < (std::size_t{3} << 20));
  CHECK(driver.launches < 200);
}

TEST_CASE("a large array that a call has filled the next one finds on the card") {
  FakeDriver& driver = fake_driver();
  CudaDevices devices(1, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY);
  AppKernelsOfTests compiler;
  const Prepared kernel = prepared_calls(devices, compiler);
  REQUIRE(kernel);
  auto x = numbers(1 << 17, 2);
  for (int i = 0; i < 4; ++i) {
    CallOfTests call(x, 3);
    const vm::DeviceOutcome outcome = call.submit(devices, *kernel).get();
    CHECK(outcome.made == 1);
    CHECK(call.is_right());
    CHECK(outcome.traffic.bytes_up >= (i == 0 ? std::size_t{1} << 20 : 0));
    CHECK(outcome.traffic.bytes_up < (i == 0 ? std::size_t{1} << 21 : 1000));
    CHECK(outcome.traffic.bytes_kept == (i == 0 ? 0 : std::size_t{1} << 20));
    x = call.y;
  }
  CHECK(driver.bytes_in < (std::size_t{1} << 21));
}

TEST_CASE("a card without room for a bundle gets halves of it, and what it has no room for at all workers run") {
  FakeDriver& driver = fake_driver();
  driver.memory = 70'000;
  CudaDevices devices(1, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY);
  AppKernelsOfTests compiler;
  const Prepared kernel = prepared_calls(devices, compiler);
  REQUIRE(kernel);

  std::deque<CallOfTests> calls;
  std::vector<std::future<vm::DeviceOutcome>> outcomes;
  for (int i = 0; i < 300; ++i) outcomes.push_back(calls.emplace_back(numbers(1'000, i), i).submit(devices, *kernel));
  for (auto& outcome : outcomes) CHECK(outcome.get().made == 1);
  for (const CallOfTests& call : calls) CHECK(call.is_right());
  auto& too_large = calls.emplace_back(numbers(10'000, 1), 1);
  const vm::DeviceOutcome none = too_large.submit(devices, *kernel).get();
  CHECK(none.has_no_room);
  CHECK(none.made == 0);
  CHECK_FALSE(none.is_lost);
  CHECK(devices.problem().find("no room") != std::string::npos);
  CHECK(calls.emplace_back(numbers(1'000, 1), 1).submit(devices, *kernel).get().made == 1);
}

TEST_CASE("what a run does not want any more is dropped, and after a fault of the card all is lost") {
  FakeDriver& driver = fake_driver();
  CudaDevices devices(1, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY);
  AppKernelsOfTests compiler;
  const Prepared kernel = prepared_calls(devices, compiler);
  REQUIRE(kernel);
  CallOfTests unwanted(numbers(3, 1), 1), broken(numbers(3, 1), 1), after(numbers(3, 1), 1);
  unwanted.run.stack_limit = reinterpret_cast<const void*>(~std::uintptr_t{0});
  CHECK(unwanted.submit(devices, *kernel).get().made == 0);
  CHECK(driver.launches == 0);
  driver.launch_error = 700;
  CHECK(broken.submit(devices, *kernel).get().is_lost);
  CHECK(after.submit(devices, *kernel).get().is_lost);
  CHECK(devices.problem().find("ILLEGAL_ADDRESS") != std::string::npos);
}

TEST_CASE("a bundle of which some calls were taken has room for as many others") {
  const auto kernel = std::make_shared<vm::DeviceKernel>(32);
  std::vector<std::uint64_t> words = {0};
  const std::vector<vm::AddressedMemory> filled = {{0, CallQueue::most_bytes / 4}};
  const auto call = [&] {
    vm::DeviceCall made;
    made.kernel = kernel;
    made.words = words;
    made.filled = filled;
    return made;
  };
  CallQueue queue;
  const std::stop_source stop;
  const auto askers = [] { return std::vector{0u}; };
  for (int i = 0; i < 4; ++i) queue.push(call(), 0);
  CHECK(queue.take(stop.get_token(), askers, 3).calls.size() == 3);
  for (int i = 0; i < 3; ++i) queue.push(call(), 0);
  CHECK(queue.take(stop.get_token(), askers).calls.size() == 4);
  queue.push(call(), 0);
  CHECK(queue.take_all().size() == 1);
}

/// Each of some large arrays is read by several calls, whose results the next calls read. @return what crossed the bus
vm::DeviceTraffic check_large(vm::Devices& devices) {
  AppKernelsOfTests compiler;
  const Prepared kernel = prepared_calls(devices, compiler);
  REQUIRE(kernel);
  std::vector<std::shared_ptr<vm::Buffer>> arrays;
  for (int i = 0; i < 12; ++i) arrays.push_back(numbers(1 << 17, i));
  vm::DeviceTraffic all;
  for (int round = 0; round < 2; ++round) {
    std::deque<CallOfTests> calls;
    std::vector<std::future<vm::DeviceOutcome>> outcomes;
    for (int i = 0; i < 48; ++i)
      outcomes.push_back(
          calls.emplace_back(arrays[static_cast<std::size_t>(i % 12)], i % 5 + 1).submit(devices, *kernel));
    for (auto& outcome : outcomes) {
      const vm::DeviceOutcome ended = outcome.get();
      CHECK(ended.made == 1);
      all += ended.traffic;
    }
    for (std::size_t i = 0; i < 48; ++i) {
      CHECK(calls[i].is_right());
      if (i < 12) arrays[i] = calls[i].y;
    }
  }
  return all;
}

TEST_CASE("calls with large arrays: cards that have less memory than these take, by every policy") {
  FakeDriver& driver = fake_driver();
  driver.devices = 2;
  for (const vm::PolicyName& policy : vm::policy_names()) {
    CAPTURE(policy.name);
    const std::string name(policy.name);
    CudaDevices cards(2, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY,
                      {.memory = std::size_t{8} << 20}, {}, name);
    CHECK(check_large(cards).evictions != 0);
    CHECK(cards.problem().empty());
    SimulatedDevices models(4, {}, std::size_t{8} << 20, {*card_model("h200"), 3, true}, name);
    const vm::DeviceTraffic traffic = check_large(models);
    CHECK(traffic.evictions != 0);
    CHECK(traffic.bytes_down >= std::uint64_t{96} << 20);
    CHECK(models.problem().empty());
  }
  SimulatedDevices roomy(4, {}, std::size_t{256} << 20, {*card_model("h200"), 1});
  const vm::DeviceTraffic traffic = check_large(roomy);
  CHECK(traffic.evictions == 0);
  CHECK(traffic.bytes_up >= std::uint64_t{12} << 20);  // once each; results are there
  CHECK(traffic.bytes_up < std::uint64_t{13} << 20);
}

TEST_CASE("calls with large arrays: their cards are ended again and again") {
  FakeDriver& driver = fake_driver();
  driver.devices = 2;
  CudaDevices devices(2, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY,
                      {.memory = std::size_t{8} << 20}, {"/proc/self/exe"});
  check_large(devices);
  for (int i = 0; i < 2; ++i) {
    driver.deadly_launches = 1;
    check_large(devices);
    driver.launch_error = 700;
    check_large(devices);
  }
}

TEST_CASE("calls with large arrays: a model has no room for one, and says so") {
  SimulatedDevices devices(2, {}, std::size_t{1} << 20, {*card_model("h200"), 1});
  AppKernelsOfTests compiler;
  const Prepared kernel = prepared_calls(devices, compiler);
  REQUIRE(kernel);
  CallOfTests call(numbers(1 << 18, 1), 1), small(numbers(10, 1), 1);
  const vm::DeviceOutcome none = call.submit(devices, *kernel).get();
  CHECK(none.has_no_room);
  CHECK(none.made == 0);
  CHECK(devices.problem().find("no room for what the AppKernel") != std::string::npos);
  CHECK(small.submit(devices, *kernel).get().made == 1);
}

TEST_CASE("why a kernel runs on no GPU is told") {
  FakeDriver& driver = fake_driver();
  AppKernelsOfTests compiler;
  compiler.why = "it needs `fmod`, which GPUs do not have";
  {
    CudaDevices devices(1, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY);
    CHECK(prepared_calls(devices, compiler).error() == compiler.why);
  }
  driver.devices = 0;
  compiler.why.clear();
  CudaDevices none(1, vm::DeviceTakes::what_is_worth_while, CudaDevices::Way::launches, RADDLE_FAKE_CUDA_LIBRARY);
  CHECK_FALSE(prepared_calls(none, compiler));
}

}  // namespace raddle::gpu
