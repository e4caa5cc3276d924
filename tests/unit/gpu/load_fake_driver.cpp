#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/unit/gpu/fake_driver.hpp"

namespace raddle::gpu {

FakeDriver& fake_driver() {
  for (const char* const users : {"CUDA_CACHE_DISABLE", "CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE"}) unsetenv(users);
  void* const library = dlopen(RADDLE_FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto* const get = reinterpret_cast<FakeDriver* (*)()>(dlsym(library, "raddle_fake_driver"));
  REQUIRE(bool(get));
  FakeDriver& driver = *get();
  driver.devices = 1;
  driver.version = 12000;
  driver.launch_error = 0;
  driver.allocation_error = 0;
  driver.broken = 0;
  driver.broken_context = nullptr;
  driver.endless_launches = 0;
  driver.deadly_launches = 0;
  driver.processes = 0;
  driver.memory = std::size_t{64} << 20;
  driver.is_hung = false;
  driver.pins_nothing = false;
  driver.hung_context = nullptr;
  driver.contexts = 0;
  driver.modules = 0;
  driver.launches = 0;
  driver.super_launches = 0;
  driver.waits = 0;
  driver.compiled = 0;
  driver.kept = 0;
  driver.is_dead = false;
  driver.registers = 40;
  driver.bytes_in = 0;
  return driver;
}

}  // namespace raddle::gpu
