#include <doctest/doctest.h>

#include <deque>

#include "gpu/cuda/cuda_devices.hpp"
#include "tests/unit/gpu/device_tests.hpp"
#include "tests/unit/gpu/fake_driver.hpp"

namespace raddle::gpu {
namespace {

constexpr auto measured = vm::DeviceTakes::what_is_worth_while;
constexpr auto launches = CudaDevices::Way::launches, resident = CudaDevices::Way::resident;

Elements some_elements(std::size_t count) {
  return elements_of(count, [](std::size_t) { return std::int64_t{3}; });
}

void check_all_is_given_back(const FakeDriver& driver) {
  CHECK(driver.contexts == 0);
  CHECK(driver.modules == 0);
  CHECK(driver.allocations == 0);
}

}  // namespace

TEST_CASE("batches run on the cards that the driver has, and all is given back") {
  FakeDriver& driver = fake_driver();
  driver.devices = 2;
  {
    CudaDevices devices(9, measured, launches, RADDLE_FAKE_CUDA_LIBRARY);
    CHECK(driver.contexts == 0);  // nothing is opened without need
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    REQUIRE(kernel);
    CHECK(devices.facts().size() == 2);
    CHECK(devices.facts()[1].name == "Fake GPU 1");
    CHECK(devices.is_hungry());
    std::deque<BatchOfTests> batches;
    std::vector<std::future<vm::DeviceOutcome>> outcomes;
    for (int i = 0; i < 100; ++i)
      outcomes.push_back(batches.emplace_back(i, 3, 1 + 10 * i, -1, some_elements(1 + static_cast<std::size_t>(i)))
                             .submit(devices, kernel));
    for (int i = 0; i < 100; ++i) {
      CHECK(outcomes[static_cast<std::size_t>(i)].get().made == 1 + 10 * i);
      CHECK(batches[static_cast<std::size_t>(i)].is_right(1 + 10 * i));
    }
    CHECK(driver.launches == 100);
    CHECK(devices.problem().empty());
  }
  check_all_is_given_back(driver);
}

TEST_CASE("the least point that does not end well is told, and what lies before it is there") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    for (const std::int64_t bad : {0, 1, 127, 128, 999}) {
      BatchOfTests batch(0, 1, 1000, bad, some_elements(4));
      CHECK(batch.submit(devices, kernel).get().made == bad);
      CHECK(batch.is_right(bad));
    }
  }
  check_all_is_given_back(driver);
}

TEST_CASE("an array is copied once, and stays as long as it lives") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    const auto elements = some_elements(1 << 16);
    std::deque<BatchOfTests> batches;
    std::vector<std::future<vm::DeviceOutcome>> outcomes;
    driver.is_held = true;
    for (int i = 0; i < 50; ++i)
      outcomes.push_back(batches.emplace_back(i, 1, 2000, -1, elements).submit(devices, kernel));
    CHECK_FALSE(devices.is_hungry());
    driver.is_held = false;
    for (auto& outcome : outcomes) CHECK(outcome.get().made == 2000);
    CHECK(devices.is_hungry());
    const vm::DeviceTraffic later = BatchOfTests(0, 1, 10, -1, elements).submit(devices, kernel).get().traffic;
    CHECK(later.bytes_up == 0);
    CHECK(later.bytes_kept == 8 * elements->count());
    CHECK(later.bytes_down == 80);
    CHECK(driver.bytes_in == 8 * elements->count() + 51 * 8);  // of each batch the word for points that do not end well
  }
  check_all_is_given_back(driver);
}

TEST_CASE("what a batch has computed the next one finds there") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    Elements elements = some_elements(100);
    for (int i = 0; i < 5; ++i) {
      BatchOfTests batch(0, 1, 5000, -1, elements);
      const vm::DeviceTraffic traffic = batch.submit(devices, kernel).get().traffic;
      CHECK(traffic.bytes_up == (i == 0 ? 800 : 0));
      CHECK(batch.is_right(5000));
      elements = batch.results;
    }
  }
  check_all_is_given_back(driver);
}

TEST_CASE("a card that has no room for a batch computes parts of it, and forgets what it has had of others") {
  FakeDriver& driver = fake_driver();
  driver.memory = 100'000;
  {
    CudaDevices devices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    const Elements elements = some_elements(4);
    BatchOfTests large(0, 1, 100'000, -1, elements), fails(0, 1, 100'000, 77'777, elements);
    const vm::DeviceOutcome outcome = large.submit(devices, kernel).get();
    CHECK(outcome.made == 100'000);
    CHECK(outcome.traffic.evictions > 0);
    CHECK(large.is_right(100'000));
    CHECK(fails.submit(devices, kernel).get().made == 77'777);
    CHECK(fails.is_right(77'777));
    CHECK(devices.problem().empty());
    BatchOfTests impossible(0, 1, 10, -1, some_elements(20'000)), small(0, 1, 100, -1, elements);
    const vm::DeviceOutcome none = impossible.submit(devices, kernel).get();
    CHECK(none.made == 0);
    CHECK(none.has_no_room);
    CHECK_FALSE(none.is_lost);
    CHECK(devices.problem() ==
          "Fake GPU 0: its memory has no room for what a loop reads at once; workers have computed what it was given");
    CHECK(devices.is_hungry());
    CHECK(small.submit(devices, kernel).get().made == 100);
  }
  check_all_is_given_back(driver);
}

TEST_CASE("no more of a card is used than it is said") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY, {.memory = 1 << 20});
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    std::vector<Elements> all;
    std::uint64_t evictions = 0;
    for (int i = 0; i < 40; ++i) {
      BatchOfTests batch(i, 1, 1000, -1, all.emplace_back(some_elements(10'000)));
      evictions += batch.submit(devices, kernel).get().traffic.evictions;
      CHECK(batch.is_right(1000));
    }
    CHECK(evictions > 20);
  }
  check_all_is_given_back(driver);
}

TEST_CASE("PTX that the driver does not take is a kernel that is not there, and why is told") {
  fake_driver();
  CudaDevices devices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY);
  CompilerOfTests compiler;
  compiler.ptx = ".version 99";
  for (int times = 0; times < 2; ++times)
    CHECK(asked(devices, compiler).error() == "no GPU takes its code: CUDA_ERROR_INVALID_PTX");
}

TEST_CASE("what is wrong with the driver is said") {
  FakeDriver& driver = fake_driver();
  driver.version = 11040;
  CHECK(CudaDevices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY).open().error() ==
        "the driver is too old: of CUDA 11.4, and 11.8 is needed");
  driver.version = 12000;
  driver.devices = 0;
  CHECK(CudaDevices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY).open().error() ==
        "the driver does not begin: CUDA_ERROR_NO_DEVICE");
  CHECK(CudaDevices(1, measured, launches, "/nowhere/libcuda.so.1").open().error() ==
        "there is no driver for GPUs of NVIDIA (/nowhere/libcuda.so.1)");
  CompilerOfTests compiler;
  CudaDevices none(1, measured, launches, "/nowhere/libcuda.so.1");
  CHECK(asked(none, compiler).error() == "there is no driver for GPUs of NVIDIA (/nowhere/libcuda.so.1)");
}

TEST_CASE("a super kernel that stays computes what the cards are given, and all is given back") {
  FakeDriver& driver = fake_driver();
  driver.devices = 2;
  {
    CudaDevices devices(9, measured, resident, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    REQUIRE(kernel);
    CHECK(driver.super_launches == 0);
    std::deque<BatchOfTests> batches;
    std::vector<std::future<vm::DeviceOutcome>> outcomes;
    for (int i = 0; i < 100; ++i) {
      const std::int64_t bad = i % 3 == 0 ? 7 * i : -1;
      outcomes.push_back(batches.emplace_back(i, 3, 1 + 40 * i, bad, some_elements(1 + static_cast<std::size_t>(i)))
                             .submit(devices, kernel));
    }
    for (int i = 0; i < 100; ++i) {
      const bool fails = i % 3 == 0 && 7 * i < i + 3 * (1 + 40 * i);
      const std::int64_t made = fails ? 2 * i : 1 + 40 * i;  // i + 3 * 2 i is 7 i
      CHECK(outcomes[static_cast<std::size_t>(i)].get().made == made);
      CHECK(batches[static_cast<std::size_t>(i)].is_right(made));
    }
    CHECK(driver.launches == 0);
    CHECK(driver.super_launches > 0);
    CHECK(devices.problem().empty());
  }
  check_all_is_given_back(driver);
}

/// The fake driver ends the process if something is loaded beside a kernel that stays.
TEST_CASE("kernels that come later are functions of the next super kernel, while batches go on") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, resident, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    std::vector<std::shared_ptr<const vm::DeviceKernel>> kernels;
    std::deque<BatchOfTests> batches;
    std::vector<std::future<vm::DeviceOutcome>> outcomes;
    for (int i = 0; i < 12; ++i) {
      kernels.push_back(prepared(devices, compiler));
      for (const auto& kernel : kernels)
        outcomes.push_back(batches.emplace_back(i, 1, 3000, -1, some_elements(5)).submit(devices, kernel));
    }
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      CHECK(outcomes[i].get().made == 3000);
      CHECK(batches[i].is_right(3000));
    }
    CHECK(driver.launches == 0);
    CHECK(driver.modules == 2);  // all kernels here have one text; of super kernels there is the last one
  }
  check_all_is_given_back(driver);
}

TEST_CASE("a kernel with many registers is launched beside the super kernel") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, resident, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    driver.registers = 100;
    const auto heavy = prepared(devices, compiler);
    driver.registers = 40;
    compiler.ptx = "host " + code_of_tests() + " ";  // of another text
    const auto light = prepared(devices, compiler);
    BatchOfTests first(0, 1, 1000, -1, some_elements(4)), second(0, 1, 1000, -1, some_elements(4));
    CHECK(compiler.functions == 1);
    CHECK(first.submit(devices, heavy).get().made == 1000);
    CHECK(driver.launches == 1);
    CHECK(driver.super_launches == 0);
    CHECK(second.submit(devices, light).get().made == 1000);
    CHECK(driver.launches == 1);
    CHECK(driver.super_launches == 1);
  }
  check_all_is_given_back(driver);
}

TEST_CASE("a super kernel that fails is given up, and what it was given is lost") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, resident, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    driver.is_dead = true;
    BatchOfTests first(0, 1, 1000, -1, some_elements(4)), second(0, 1, 1000, -1, some_elements(4));
    CHECK(first.submit(devices, kernel).get().is_lost);
    CHECK(devices.problem() == "Fake GPU 0: its super kernel answers no more; workers have computed what it was given");
    CHECK_FALSE(devices.is_hungry());
    CHECK(second.submit(devices, kernel).get().is_lost);
    CHECK(driver.super_launches == 1);
  }
  check_all_is_given_back(driver);
}

TEST_CASE("what does not fit into the super kernel is launched by itself, and those that come later do fit") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, resident, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto first = prepared(devices, compiler), unfit = prepared(devices, compiler, CompilerOfTests::unfit);
    CHECK(devices.problem() == "a loop does not fit into the super kernel of the GPU: it was launched by itself");
    const auto later = prepared(devices, compiler);
    CHECK(compiler.functions == 2);
    BatchOfTests one(0, 1, 1000, -1, some_elements(4)), two(0, 1, 1000, -1, some_elements(4)),
        three(0, 1, 1000, -1, some_elements(4));
    CHECK(one.submit(devices, first).get().made == 1000);
    CHECK(two.submit(devices, later).get().made == 1000);
    CHECK(driver.launches == 0);
    CHECK(three.submit(devices, unfit).get().made == 1000);
    CHECK(driver.launches == 1);
    CHECK(three.is_right(1000));
  }
  check_all_is_given_back(driver);
}

/// The fake driver ends the process if something waits for the kernel.
TEST_CASE("nobody waits for a super kernel that does not end") {
  FakeDriver& driver = fake_driver();
  driver.is_hung = true;
  {
    CudaDevices devices(1, measured, resident, RADDLE_FAKE_CUDA_LIBRARY, {.silent_ns = 50'000'000});
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    BatchOfTests first(0, 1, 1000, -1, some_elements(4));
    CHECK(first.submit(devices, kernel).get().is_lost);
    CHECK_FALSE(prepared(devices, compiler));
  }
  fake_driver();
}

TEST_CASE("nobody waits for a point that does not end, though the super kernel beats") {
  fake_driver();
  points_hang = true;
  {
    CudaDevices devices(1, measured, resident, RADDLE_FAKE_CUDA_LIBRARY, {.answer_ns = 300'000'000});
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    BatchOfTests first(0, 1, 1000, -1, some_elements(4));
    CHECK(first.submit(devices, kernel).get().is_lost);
    CHECK(devices.problem() == "Fake GPU 0: its super kernel answers no more; workers have computed what it was given");
  }
  points_hang = false;
  fake_driver();
}

TEST_CASE("what a card that fails was given others compute, and kernels that come later, too") {
  FakeDriver& driver = fake_driver();
  driver.devices = 3;
  {
    CudaDevices devices(9, measured, launches, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    std::deque<BatchOfTests> batches;
    std::vector<std::future<vm::DeviceOutcome>> outcomes;
    driver.is_held = true;
    for (int i = 0; i < 300; ++i)
      outcomes.push_back(batches.emplace_back(i, 1, 500, -1, some_elements(50)).submit(devices, kernel));
    driver.launch_error = 700;
    driver.is_held = false;
    int made = 0;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const vm::DeviceOutcome outcome = outcomes[i].get();
      CHECK_FALSE(outcome.is_lost);
      CHECK((outcome.made == 500 || outcome.made == 0));
      if (outcome.made == 500) ++made;
      CHECK(batches[i].is_right(outcome.made));
    }
    CHECK(made < 300);
    CHECK(made >= 300 - 8);                          // what its threads had under way
    compiler.ptx = "host " + code_of_tests() + " ";  // of another text
    const auto later = prepared(devices, compiler);
    REQUIRE(later);
    BatchOfTests batch(0, 1, 1000, -1, some_elements(4));
    CHECK(batch.submit(devices, later).get().made == 1000);
  }
  CHECK(driver.contexts == 0);
}

TEST_CASE("a card that has failed gets nothing more") {
  FakeDriver& driver = fake_driver();
  CudaDevices devices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY);
  CompilerOfTests compiler;
  const auto kernel = prepared(devices, compiler);
  driver.launch_error = 700;
  BatchOfTests first(0, 1, 1000, -1, some_elements(4)), second(0, 1, 1000, -1, some_elements(4));
  CHECK(first.submit(devices, kernel).get().is_lost);
  CHECK(devices.problem() == "Fake GPU 0: CUDA_ERROR_ILLEGAL_ADDRESS; workers have computed what it was given");
  CHECK_FALSE(devices.is_hungry());
  const int launches = driver.launches;
  CHECK(second.submit(devices, kernel).get().is_lost);
  CHECK(driver.launches == launches);
}

TEST_CASE("a card that fails when it is asked for memory has failed, and is not full") {
  FakeDriver& driver = fake_driver();
  CudaDevices devices(1, measured, launches, RADDLE_FAKE_CUDA_LIBRARY);
  CompilerOfTests compiler;
  const auto kernel = prepared(devices, compiler);
  driver.allocation_error = 700;
  BatchOfTests batch(0, 1, 1000, -1, some_elements(4));
  const vm::DeviceOutcome outcome = batch.submit(devices, kernel).get();
  CHECK(outcome.is_lost);
  CHECK_FALSE(outcome.has_no_room);
  CHECK(devices.problem() == "Fake GPU 0: CUDA_ERROR_ILLEGAL_ADDRESS; workers have computed what it was given");
  CHECK(driver.allocation_error == 0);
}

}  // namespace raddle::gpu
