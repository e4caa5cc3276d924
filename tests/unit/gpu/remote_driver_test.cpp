// Cards whose driver is in a process of its own: what happens to it costs no task.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <future>
#include <string_view>
#include <thread>

#include "gpu/cuda/cuda_devices.hpp"
#include "gpu/server/driver_server.hpp"
#include "gpu/server/message.hpp"
#include "gpu/server/remote_driver.hpp"
#include "tests/unit/compiler/codegen/temporary_folder.hpp"
#include "tests/unit/gpu/device_tests.hpp"
#include "tests/unit/gpu/fake_driver.hpp"

bool is_served_for_tests(int argc, char** argv) {
  return argc == 3 && std::string_view(argv[1]) == raddle::gpu::server_word && raddle::gpu::serve_driver(argv[2]) == 0;
}

namespace raddle::gpu {
namespace {

using Way = CudaDevices::Way;

/// Cards, as the tool has them.
struct ServedCards {
  explicit ServedCards(Way way = Way::launches, const CardLimits& limits = {},
                       std::function<std::string()> cubin_folder = {})
      : devices(9, vm::DeviceTakes::what_is_worth_while, way, RADDLE_FAKE_CUDA_LIBRARY, limits,
                {"/proc/self/exe", std::move(cubin_folder)}) {}
  CudaDevices devices;
  CompilerOfTests compiler;
};

Elements threes(std::size_t count) {
  return elements_of(count, [](std::size_t) { return std::int64_t{3}; });
}

/// Submits many batches, and checks that all of their points come.
struct ManyBatches {
  ManyBatches(vm::Devices& devices, const std::shared_ptr<const vm::DeviceKernel>& kernel, int count = 200) {
    for (int i = 0; i < count; ++i)
      outcomes.push_back(batches.emplace_back(i, 1, 500, -1, threes(50)).submit(devices, kernel));
  }
  void check_that_none_is_lost() {
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      CHECK(outcomes[i].get().made == 500);
      CHECK(batches[i].is_right(500));
    }
  }
  std::deque<BatchOfTests> batches;
  std::vector<std::future<vm::DeviceOutcome>> outcomes;
};

}  // namespace

TEST_CASE("each card has a process of its own") {
  FakeDriver& driver = fake_driver();
  driver.devices = 2;
  ServedCards cards;
  CHECK(driver.processes == 0);
  const auto kernel = prepared(cards.devices, cards.compiler);
  REQUIRE(kernel);
  CHECK(driver.processes == 2);
  CHECK(cards.devices.facts()[1].name == "Fake GPU 1");
  ManyBatches(cards.devices, kernel).check_that_none_is_lost();
  CHECK(driver.launches == 200);
  BatchOfTests fails(0, 1, 1000, 777, threes(4));
  CHECK(fails.submit(cards.devices, kernel).get().made == 777);
  CHECK(fails.is_right(777));
  CHECK(cards.devices.problem().empty());
}

TEST_CASE("what drivers compile they keep where they are told, unless the user tells them something else") {
  FakeDriver& driver = fake_driver();
  const codegen::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "cubins");
  std::string told = folder / "cubins";
  const auto compiled_and_kept = [&](Way way = Way::launches) {
    driver.compiled = driver.kept = 0;
    ServedCards cards(way, {}, [&told] { return told; });
    CHECK(prepared(cards.devices, cards.compiler));
    return std::pair(driver.compiled.load(), driver.kept.load());
  };
  CHECK(compiled_and_kept() == std::pair(1, 0));
  CHECK(compiled_and_kept() == std::pair(0, 1));
  CHECK(compiled_and_kept(Way::resident) == std::pair(1, 1));  // the super kernel is another one
  CHECK(compiled_and_kept(Way::resident) == std::pair(0, 2));
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  CHECK(compiled_and_kept() == std::pair(1, 0));
  setenv("CUDA_CACHE_DISABLE", "0", 1);
  std::filesystem::create_directory(folder / "users");
  setenv("CUDA_CACHE_PATH", (folder / "users").c_str(), 1);
  CHECK(compiled_and_kept() == std::pair(1, 0));
  CHECK(compiled_and_kept() == std::pair(0, 1));
  unsetenv("CUDA_CACHE_DISABLE");
  unsetenv("CUDA_CACHE_PATH");
  told = "";
  CHECK(compiled_and_kept() == std::pair(1, 0));
}

TEST_CASE("arrays of all sizes pass through the memory that both processes have") {
  FakeDriver& driver = fake_driver();
  SUBCASE("which is pinned") {}
  SUBCASE("which can not be pinned") { driver.pins_nothing = true; }
  ServedCards cards;
  const auto kernel = prepared(cards.devices, cards.compiler);
  constexpr std::size_t half = half_bytes / 8;
  for (const std::size_t count :
       {std::size_t{1}, half - 1, half, half + 1, 2 * half - 1, 2 * half, 2 * half + 1, 3 * half, 5 * half + 17}) {
    const auto numbers = elements_of(count, [](std::size_t i) { return static_cast<std::int64_t>(i * i); });
    BatchOfTests batch(0, 1, static_cast<std::int64_t>(count), -1, numbers);
    CHECK(batch.submit(cards.devices, kernel).get().made == static_cast<std::int64_t>(count));
    CHECK(batch.is_right(static_cast<std::int64_t>(count)));
  }
}

TEST_CASE("what a card had under way when it failed is computed again") {
  FakeDriver& driver = fake_driver();
  ServedCards cards;
  const auto kernel = prepared(cards.devices, cards.compiler);
  driver.is_held = true;
  ManyBatches batches(cards.devices, kernel);
  SUBCASE("an illegal address") {
    driver.launch_error = 700;
    driver.is_held = false;
    batches.check_that_none_is_lost();
    CHECK(cards.devices.problem() ==
          "Fake GPU 0: CUDA_ERROR_ILLEGAL_ADDRESS; it was started anew, and what it had under way was computed again");
  }
  SUBCASE("its process ends by itself") {
    driver.deadly_launches = 1;
    driver.is_held = false;
    batches.check_that_none_is_lost();
    CHECK(cards.devices.problem() ==
          "Fake GPU 0: its process was ended by signal 9 (Killed); it was started anew, and "
          "what it had under way was computed again");
  }
  SUBCASE("its process is ended by somebody") {
    kill(driver.last_process, SIGKILL);
    driver.is_held = false;
    batches.check_that_none_is_lost();
    CHECK(cards.devices.problem() ==
          "Fake GPU 0: its process was ended by signal 9 (Killed); it was started anew, and "
          "what it had under way was computed again");
  }
  CHECK(driver.processes == 2);
  ManyBatches(cards.devices, kernel).check_that_none_is_lost();  // the kernel is there again
  const auto later = prepared(cards.devices, cards.compiler);
  REQUIRE(later);
  ManyBatches(cards.devices, later).check_that_none_is_lost();
  CHECK(driver.processes == 2);
}

TEST_CASE("a process is started anew when it is ended while nobody uses it") {
  FakeDriver& driver = fake_driver();
  ServedCards cards;
  const auto kernel = prepared(cards.devices, cards.compiler);
  for (int times = 0; times < 6; ++times) {
    ManyBatches(cards.devices, kernel, 20).check_that_none_is_lost();
    kill(driver.last_process, SIGKILL);
  }
  const auto later = prepared(cards.devices, cards.compiler);
  REQUIRE(later);
  ManyBatches(cards.devices, later, 20).check_that_none_is_lost();
  cards.compiler.ptx = "host " + code_of_tests() + " ";  // of another text: it is loaded by a new process
  kill(driver.last_process, SIGKILL);
  const auto last = prepared(cards.devices, cards.compiler);
  REQUIRE(last);
  ManyBatches(cards.devices, last, 20).check_that_none_is_lost();
}

TEST_CASE("nobody waits for a process that is halted while it is sent more than its channel holds") {
  FakeDriver& driver = fake_driver();
  auto started = RemoteDriver::start({"/proc/self/exe", {}}, RADDLE_FAKE_CUDA_LIBRARY, 120'000'000'000);
  REQUIRE(started);
  const RemoteDriver& remote = **started;
  REQUIRE(remote.begin() == 1u);
  kill(driver.last_process, SIGSTOP);
  auto error = std::async(std::launch::async, [&remote] {
    void* module = nullptr;
    return remote.load_module(&module, std::string(std::size_t{8} << 20, ' '));
  });
  const bool has_ended = error.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
  CHECK(has_ended);
  if (!has_ended) kill(driver.last_process, SIGKILL);
  CHECK(error.get() == CudaDriver::gone);
  CHECK(remote.is_gone());
}

TEST_CASE("a launch that never ends ends its process") {
  FakeDriver& driver = fake_driver();
  ServedCards cards(Way::launches, {.answer_ns = 5'000'000'000});
  const auto kernel = prepared(cards.devices, cards.compiler);
  driver.endless_launches = 1;
  ManyBatches(cards.devices, kernel).check_that_none_is_lost();
  CHECK(cards.devices.problem() ==
        "Fake GPU 0: its process did not answer, and was ended; it was started anew, and what "
        "it had under way was computed again");
  CHECK(driver.processes == 2);
}

TEST_CASE("a kernel that makes cards fail is blamed, and all others go on") {
  FakeDriver& driver = fake_driver();
  ServedCards cards;
  const auto kernel = prepared(cards.devices, cards.compiler);
  cards.compiler.ptx = "host " + code_of_tests() + " faulty";
  const auto faulty = prepared(cards.devices, cards.compiler);
  ManyBatches before(cards.devices, kernel), bad(cards.devices, faulty, 50), after(cards.devices, kernel);
  before.check_that_none_is_lost();
  after.check_that_none_is_lost();
  for (auto& outcome : bad.outcomes) {
    const vm::DeviceOutcome told = outcome.get();
    CHECK(told.made == 0);
    CHECK(told.is_blamed);
    CHECK(told.is_lost);
  }
  CHECK(cards.devices.problem() ==
        "Fake GPU 0: a loop makes it fail: CUDA_ERROR_ILLEGAL_ADDRESS; workers have computed it");
  ManyBatches(cards.devices, kernel).check_that_none_is_lost();
  CHECK(driver.processes == 3);
}

TEST_CASE("a card that can not be started anew is given up, and nobody waits for it") {
  FakeDriver& driver = fake_driver();
  ServedCards cards;
  const auto kernel = prepared(cards.devices, cards.compiler);
  driver.devices = 0;
  driver.launch_error = 700;
  ManyBatches batches(cards.devices, kernel);
  int made = 0;
  for (auto& outcome : batches.outcomes) {
    const vm::DeviceOutcome told = outcome.get();
    CHECK((told.made == 500 || told.is_lost));
    if (told.made == 500) ++made;
  }
  CHECK(made < 200);
  CHECK(cards.devices.problem() ==
        "Fake GPU 0: it can not be started anew: the driver does not begin: "
        "CUDA_ERROR_NO_DEVICE; workers have computed what it was given");
  CHECK_FALSE(prepared(cards.devices, cards.compiler));
}

TEST_CASE("with two cards, one that fails costs nothing either") {
  FakeDriver& driver = fake_driver();
  driver.devices = 2;
  ServedCards cards;
  const auto kernel = prepared(cards.devices, cards.compiler);
  ManyBatches batches(cards.devices, kernel);
  kill(driver.last_process, SIGKILL);
  batches.check_that_none_is_lost();
  // that it has failed may be found only when it gets something, which the other one may take
  for (int round = 0; round < 1000 && driver.processes != 3; ++round)
    ManyBatches(cards.devices, kernel).check_that_none_is_lost();
  CHECK(driver.processes == 3);
}

TEST_CASE("nobody waits for a launch that nobody wants any more") {
  FakeDriver& driver = fake_driver();
  ServedCards cards;
  const auto kernel = prepared(cards.devices, cards.compiler);
  driver.endless_launches = 1;
  BatchOfTests batch(0, 1, 1000, -1, threes(4));
  auto outcome = batch.submit(cards.devices, kernel);
  while (driver.endless_launches != 0) std::this_thread::yield();
  std::atomic_ref<const void*>(batch.run.stack_limit) = reinterpret_cast<const void*>(~std::uintptr_t{0});
  CHECK(outcome.get().made == 0);
  CHECK(cards.devices.problem().empty());
  ManyBatches(cards.devices, kernel, 20).check_that_none_is_lost();
}

TEST_CASE("a super kernel in another process") {
  // its warps are ordered with this process by the queues, which nobody sees there
  const char* const given = std::getenv("TSAN_OPTIONS");
  setenv("TSAN_OPTIONS", ((given != nullptr ? std::string(given) + ":" : "") + "report_bugs=0").c_str(), 1);
  FakeDriver& driver = fake_driver();
  ServedCards cards(Way::resident, {.silent_ns = 3'000'000'000});
  const auto kernel = prepared(cards.devices, cards.compiler);
  REQUIRE(kernel);
  ManyBatches(cards.devices, kernel).check_that_none_is_lost();
  CHECK(driver.super_launches > 0);
  CHECK(driver.launches == 0);
  SUBCASE("its process is ended") {
    ManyBatches batches(cards.devices, kernel);
    kill(driver.last_process, SIGKILL);
    batches.check_that_none_is_lost();
  }
  SUBCASE("it never ends") {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the one that is there ends
    driver.is_hung = true;
    ManyBatches(cards.devices, kernel).check_that_none_is_lost();
  }
  ManyBatches(cards.devices, kernel).check_that_none_is_lost();
  CHECK(driver.launches == 0);
}

TEST_CASE("a program that is no server, or none at all, is no driver") {
  fake_driver();
  CudaDevices ends(1, vm::DeviceTakes::what_is_worth_while, Way::launches, RADDLE_FAKE_CUDA_LIBRARY, {},
                   {"/bin/false"});
  CHECK(ends.open().error() == "the driver does not begin: its process has ended with code 1");
  CudaDevices none(1, vm::DeviceTakes::what_is_worth_while, Way::launches, RADDLE_FAKE_CUDA_LIBRARY, {},
                   {"/nowhere/x"});
  CHECK(none.open().error() == "the process for the driver can not be started: no such file or directory");
}

}  // namespace raddle::gpu
