#include <doctest/doctest.h>

#include <deque>

#include "gpu/cuda/cuda_devices.hpp"
#include "tests/unit/gpu/device_tests.hpp"
#include "tests/unit/gpu/fake_driver.hpp"

namespace raddle::gpu {
namespace {

constexpr auto measured = vm::DeviceTakes::what_is_worth_while;

auto some_elements(std::size_t count) { return std::make_shared<std::vector<std::int64_t>>(count, 3); }

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
    CudaDevices devices(9, measured, RADDLE_FAKE_CUDA_LIBRARY);
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
    CudaDevices devices(1, measured, RADDLE_FAKE_CUDA_LIBRARY);
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

TEST_CASE("an array is copied once for batches that are under way together") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, RADDLE_FAKE_CUDA_LIBRARY);
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
    CHECK(driver.bytes_in == 8 * elements->size() + 50 * 8);  // of each batch the word for points that do not end well
  }
  check_all_is_given_back(driver);
}

TEST_CASE("without memory for it a batch is lost, and the next one is tried again") {
  FakeDriver& driver = fake_driver();
  {
    CudaDevices devices(1, measured, RADDLE_FAKE_CUDA_LIBRARY);
    CompilerOfTests compiler;
    const auto kernel = prepared(devices, compiler);
    driver.memory_left = 4000;
    BatchOfTests large(0, 1, 1000, -1, some_elements(4)), small(0, 1, 100, -1, some_elements(4));
    CHECK(large.submit(devices, kernel).get().is_lost);
    CHECK(devices.problem() == "Fake GPU 0: CUDA_ERROR_OUT_OF_MEMORY; workers have computed what it was given");
    CHECK(devices.is_hungry());
    CHECK(small.submit(devices, kernel).get().made == 100);
  }
  check_all_is_given_back(driver);
}

TEST_CASE("PTX that the driver does not take, and no PTX, is a kernel that is not there") {
  fake_driver();
  CudaDevices devices(1, measured, RADDLE_FAKE_CUDA_LIBRARY);
  CompilerOfTests compiler;
  compiler.ptx = ".version 99";
  CHECK_FALSE(prepared(devices, compiler));
}

TEST_CASE("what is wrong with the driver is said") {
  FakeDriver& driver = fake_driver();
  driver.version = 11040;
  CHECK(CudaDevices(1, measured, RADDLE_FAKE_CUDA_LIBRARY).open().error() ==
        "the driver is too old: of CUDA 11.4, and 11.8 is needed");
  driver.version = 12000;
  driver.devices = 0;
  CHECK(CudaDevices(1, measured, RADDLE_FAKE_CUDA_LIBRARY).open().error() ==
        "the driver does not begin: CUDA_ERROR_NO_DEVICE");
  CHECK(CudaDevices(1, measured, "/nowhere/libcuda.so.1").open().error() ==
        "there is no driver for GPUs of NVIDIA (/nowhere/libcuda.so.1)");
  CompilerOfTests compiler;
  CudaDevices none(1, measured, "/nowhere/libcuda.so.1");
  CHECK_FALSE(prepared(none, compiler));
}

TEST_CASE("a card that has failed gets nothing more") {
  FakeDriver& driver = fake_driver();
  CudaDevices devices(1, measured, RADDLE_FAKE_CUDA_LIBRARY);
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

}  // namespace raddle::gpu
