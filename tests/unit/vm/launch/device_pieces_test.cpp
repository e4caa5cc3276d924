// Launches whose points a simulated device computes, with many orders of tasks.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/simulated/simulated_devices.hpp"
#include "tests/unit/vm/interpret/assembler.hpp"
#include "vm/kernel/kernel_text.hpp"
#include "vm/value/array.hpp"

namespace raddle::vm {

using test::Assembler;
using test::slot;

namespace {

constexpr std::int64_t dividend = 1'000'000;
std::atomic<std::int64_t> bad_point{-1};  ///< of range(): the point that does not end well
std::atomic<bool> is_endless{false};      ///< of range(): it ends when nobody wants it any more

std::int32_t range(raddle_leaf_worker* run, const std::int64_t* words, std::int64_t* results, raddle_leaf_failure*) {
  auto* const to = reinterpret_cast<std::int64_t*>(words[3]);
  const std::int64_t bad = bad_point, count = words[2];
  while (is_endless && std::atomic_ref<const void*>(run->stack_limit).load(std::memory_order_relaxed) == nullptr)
    std::this_thread::yield();
  for (std::int64_t number = results[0]; number < count; number += results[1]) {
    const std::int64_t x = words[0] + number * words[1];
    if (x == bad) return results[0] = number, raddle_leaf_ok;
    to[number] = dividend / (x - bad);
  }
  return results[0] = count, raddle_leaf_ok;
}

/// Answers from a thread of its own, after a while. Only devices get code.
class SlowCompiler final : public KernelCompiler {
 public:
  void request(const KernelGroup&, KernelEntry entry, std::function<void(raddle_leaf_function)> done) override {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([entry, done = std::move(done)] {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      done(entry.kind == KernelEntry::range ? range : nullptr);
    });
  }
  void request_ptx(const KernelGroup&, KernelEntry, std::function<void(std::string)> done) override { done(""); }
  void request_super_ptx(const std::vector<RangeKernel>&, std::function<void(std::string)> done) override { done(""); }

 private:
  std::mutex mutex_;
  std::vector<std::jthread> threads_;
};

/// Loops that fill arrays a0, a1, ...: a[i + offset] = 1000000 / (i - bad) for i from 0 to count - 1.
/// @param offset  not 0: by keys of their own
Program loops(int arrays, int count, std::int64_t bad, int offset) {
  Assembler a;
  std::vector<std::string> names, outputs;
  for (int i = 0; i < arrays; ++i) {
    names.push_back(fmt::format("a{}", i));
    outputs.push_back(fmt::format("r{}", i));
  }
  const BodyId main = a.body(0, names, outputs);
  a.function("main", main, 0);
  const auto kernels = read_kernels(fmt::format(R"(kernel 0 "divide" at 0:0-0 (%0: int) -> (%4) {{
    const %1: int = {}
    const %2: int = {}
    %3: int = sub_int %0 %1 at 0:0-0
    %4: int = idiv %2 %3 at 0:0-0
  }})",
                                                bad, dividend));
  REQUIRE_MESSAGE(kernels.has_value(), (kernels ? "" : kernels.error()));
  Function leaf;
  leaf.name = "divide";
  leaf.is_leaf = true;
  leaf.is_sequential = true;
  leaf.leaf_parameters = {KernelType::int_};
  leaf.leaf_results = {KernelType::int_};
  leaf.scalar_code = assemble(kernels->front().kernel);
  leaf.kernel_entry = KernelEntry::lanes;
  a.program.functions.push_back(leaf);
  a.program.kernels = {Kernel(), kernels->front().kernel};
  a.program.arrays.push_back({"a", {}});

  const Operand zero = a.constant(0), one = a.constant(1);
  std::vector<test::StrandText> strands(1);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(arrays); ++i) {
    const BodyId body = a.body(0, {"i", "difference", "quotient", "key"}, {}, main);
    const Operand array = slot(i, 1);
    a.program.bodies[body].region =
        a.region(body, {{{},
                         {Assembler::op(Opcode::sub_int, slot(1), slot(0), a.constant(Value::of(bad))),
                          Assembler::op(Opcode::add_int, slot(3), slot(0), a.constant(offset)),
                          Assembler::op(Opcode::idiv, slot(2), a.constant(Value::of(dividend)), slot(1))}},
                        {{{slot(2)}}, {Assembler::op(Opcode::array_insert, array, slot(3), slot(2), array.bits())}}});
    ForeachSite site{body, 1, {{slot(i), 1}}, {}, {slot(i)}};
    site.launch = {.leaf = 1, .sinks = {{LaunchSink::Kind::element, slot(i), {}, 0, offset == 0 ? 0u : 1u}}};
    if (offset != 0) site.launch.keys = {{.stride = 1, .offset = offset}};
    a.program.foreaches.push_back(site);
    strands[0].code.push_back(Assembler::op(Opcode::array_new, slot(i), Operand::from_bits(0), Operand(), 1));
    strands[0].code.push_back(Assembler::op(Opcode::foreach_range, zero, a.constant(count - 1), one, i));
    strands.push_back({{{slot(i), AwaitMode::deep}},
                       {Assembler::op(Opcode::copy, test::output(static_cast<std::uint32_t>(arrays) + i), slot(i))}});
  }
  a.program.bodies[main].region = a.region(main, strands);
  return std::move(a.program);
}

constexpr DeviceCosts whole{.takes = DeviceTakes::whole_launches};
constexpr DeviceCosts nothing{};  ///< so that each piece is worth while

void check_division(const RunResult& result) {
  REQUIRE(result.status == RunStatus::failed);
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures[0].message.find("division by zero") != std::string::npos);
  CHECK(result.failures[0].count == 1);
}

template <typename Look>
void run_with_devices(const Program& program, const std::shared_ptr<Devices>& devices, const Look& look) {
  for (const unsigned workers : {1u, 2u, 8u}) {
    for (const std::uint64_t seed : {0u, 1u, 2u}) {
      SlowCompiler compiler;
      RunOptions options;
      options.workers = workers;
      options.scheduler_seed = seed;
      options.kernel_compiler = &compiler;
      options.devices = devices;
      look(run(program, options));
    }
  }
}

template <typename Look>
void run_with_devices(const Program& program, const DeviceCosts& costs, const Look& look) {
  run_with_devices(program, std::make_shared<gpu::SimulatedDevices>(3, costs), look);
}

/// Has lost what it is given, but for each fourth batch.
class LosingDevices final : public Devices {
 public:
  explicit LosingDevices(std::shared_ptr<Devices> devices) : devices_(std::move(devices)) {}
  void prepare(const KernelGroup& kernels, KernelEntry entry, std::shared_ptr<CompilerLink> compiler,
               Prepared done) override {
    devices_->prepare(kernels, entry, std::move(compiler), std::move(done));
  }
  void prepare_calls(const ForeignFunction& function, AppKernelCompiler& compiler, Prepared done) override {
    devices_->prepare_calls(function, compiler, std::move(done));
  }
  void submit(DeviceCall call) override { devices_->submit(std::move(call)); }
  void submit(DeviceBatch batch) override {
    if (++batches % 4 != 0) return batch.done({.is_lost = true});
    ++kept;
    devices_->submit(std::move(batch));
  }
  bool is_hungry() const override { return devices_->is_hungry(); }
  DeviceCosts costs() const override { return devices_->costs(); }
  std::vector<DeviceFacts> facts() const override { return devices_->facts(); }
  std::string problem() const override { return devices_->problem(); }

  std::atomic<std::uint64_t> batches{0}, kept{0};

 private:
  const std::shared_ptr<Devices> devices_;
};

/// A wave of it are 500 points.
constexpr gpu::CardModel small_card = {.name = "small",
                                       .title = "small (model)",
                                       .memory_bytes = 1 << 20,
                                       .lanes = 500,
                                       .full_slowness = 1000,
                                       .lone_slowness = 1,
                                       .bytes_of_memory_per_ns = 1,
                                       .bytes_up_per_ns = 1,
                                       .bytes_down_per_ns = 1,
                                       .copy_ns = 1,
                                       .launch_ns = 1,
                                       .open_ns = 1,
                                       .load_ns = 1};

}  // namespace

TEST_CASE("a batch that all devices have lost is no device's") {
  bad_point = -1;
  constexpr int arrays = 12, count = 100;
  const Program program = loops(arrays, count, -1, 0);
  for (int round = 0; round < 4; ++round) {
    const auto devices = std::make_shared<LosingDevices>(std::make_shared<gpu::SimulatedDevices>(3, whole));
    SlowCompiler compiler;
    RunOptions options;
    options.workers = 2;
    options.kernel_compiler = &compiler;
    options.devices = devices;
    const RunResult result = run(program, options);
    REQUIRE(result.status == RunStatus::ok);
    std::uint64_t counted = 0;
    for (const DeviceUse& use : result.device_uses) counted += use.batches;
    CHECK(devices->batches == arrays);
    CHECK(counted == devices->kept);
  }
}

TEST_CASE("a device computes launches whole, many at a time") {
  bad_point = -1;
  for (const int offset : {0, 3}) {
    for (const int count : {1, 31, 64, 5000}) {
      CAPTURE(offset);
      CAPTURE(count);
      constexpr int arrays = 7;
      const Program program = loops(arrays, count, -1, offset);
      run_with_devices(program, whole, [&](const RunResult& result) {
        REQUIRE(result.status == RunStatus::ok);
        REQUIRE(result.device_uses.size() == 1);
        CHECK(result.device_uses[0].points == static_cast<std::uint64_t>(arrays) * static_cast<unsigned>(count));
        CHECK(result.device_obstacles.empty());
        for (const Value& array : result.results)
          for (std::int64_t i = 0; i < count; ++i)
            REQUIRE(array.as_array().get(Value::of(i + offset)).as_int() == dividend / (i + 1));
      });
    }
  }
}

TEST_CASE("devices share a launch that goes whole, and none gets less than a wave") {
  bad_point = -1;
  const auto cards = std::make_shared<gpu::SimulatedDevices>(2, whole, std::size_t{1} << 20,
                                                             gpu::SimulatedDevices::Cards{small_card, 3});
  for (const int offset : {0, 3}) {
    for (const auto& [count, sharers] : {std::pair(999, 1), std::pair(1400, 2), std::pair(5000, 3)}) {
      CAPTURE(offset);
      CAPTURE(count);
      run_with_devices(loops(1, count, -1, offset), cards, [&](const RunResult& result) {
        REQUIRE(result.status == RunStatus::ok);
        std::uint64_t points = 0, batches = 0;
        for (const DeviceUse& use : result.device_uses) points += use.points, batches += use.batches;
        CHECK(points == static_cast<unsigned>(count));
        CHECK(batches == static_cast<unsigned>(sharers));
        for (std::int64_t i = 0; i < count; ++i)
          REQUIRE(result.results[0].as_array().get(Value::of(i + offset)).as_int() == dividend / (i + 1));
      });
    }
  }
  for (const int bad : {0, 1700, 2500, 4999}) {
    bad_point = bad;
    run_with_devices(loops(1, 5000, bad, 0), cards, check_division);
  }
}

TEST_CASE("a device computes pieces of launches beside the workers, each point once") {
  bad_point = -1;
  std::uint64_t stolen = 0;
  for (const int offset : {0, 3}) {
    for (const int count : {100, 50'000}) {
      CAPTURE(offset);
      CAPTURE(count);
      const Program program = loops(3, count, -1, offset);
      run_with_devices(program, nothing, [&](const RunResult& result) {
        REQUIRE(result.status == RunStatus::ok);
        for (const DeviceUse& use : result.device_uses) stolen += use.points;
        for (const Value& array : result.results)
          for (std::int64_t i = 0; i < count; ++i)
            REQUIRE(array.as_array().get(Value::of(i + offset)).as_int() == dividend / (i + 1));
      });
    }
  }
  CHECK(stolen > 0);
}

TEST_CASE("points from the first one on that does not end well are computed by workers, and told once") {
  constexpr int count = 3000;
  for (const std::int64_t bad : {0, 40, 2999}) {
    CAPTURE(bad);
    bad_point = bad;
    const Program program = loops(1, count, bad, 0);
    run_with_devices(program, whole, [&](const RunResult& result) {
      check_division(result);
      CHECK(result.device_uses[0].points == static_cast<std::uint64_t>(bad));
    });
  }
}

TEST_CASE("a point of a stolen piece that does not end well is told once") {
  constexpr int count = 50'000;
  bad_point = count - 1;
  std::uint64_t stolen = 0;
  run_with_devices(loops(1, count, count - 1, 0), nothing, [&](const RunResult& result) {
    check_division(result);
    for (const DeviceUse& use : result.device_uses) stolen += use.points;
  });
  CHECK(stolen > 0);
}

TEST_CASE("a run that is cancelled waits for no device to end what nobody wants") {
  bad_point = -1;
  is_endless = true;
  const Program program = loops(3, 100, -1, 0);
  const auto devices = std::make_shared<gpu::SimulatedDevices>(2, whole);
  SlowCompiler compiler;
  CancelHook cancel;
  RunOptions options;
  options.workers = 2;
  options.kernel_compiler = &compiler;
  options.devices = devices;
  options.cancel = &cancel;
  std::jthread canceller([&cancel] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancel.cancel();
  });
  CHECK(run(program, options).status == RunStatus::cancelled);
  is_endless = false;
}

}  // namespace raddle::vm
