#include "tests/bench/gpu/bench_card.hpp"

#include <cstdlib>

#include "gpu/cuda/cuda_devices.hpp"
#include "tests/bench/gpu/rows.hpp"

// RADDLE_BENCH_KERNEL: bench_kernel.cpp as PTX, as CMake has it made.
asm(".pushsection .rodata\nraddle_bench_kernel:\n.incbin \"" RADDLE_BENCH_KERNEL "\"\n.byte 0\n.popsection\n");
extern "C" const char raddle_bench_kernel[];

namespace raddle::gpu::bench {

BenchCard::BenchCard() {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // what is loaded late waits for the kernel that stays
  setenv("CUDA_CACHE_DISABLE", "1", 0);       // else the driver would not compile what it has compiled before
  auto loaded = LoadedDriver::load(CudaDevices::usual_library);
  const auto count = loaded ? (*loaded)->begin() : std::unexpected(loaded.error());
  if (!count) {
    print_text("no_driver", "driver", count.error());
    std::exit(0);
  }
  driver_ = std::move(*loaded);
  cards_ = *count;
  check(driver_->device(&device_, 0), "device");
  const Clock::time_point begin = Clock::now();
  check(driver_->retain_context(&context_, device_), "context");
  check(driver_->set_context(context_), "context");
  context_ms_ = us_since(begin) / 1e3;
  check(driver_->create_stream(&stream_, 1), "stream");
}

int BenchCard::attribute(int number) const {
  int value = 0;
  check(driver_->device_attribute(&value, number, device_), "attribute of the device");
  return value;
}

void BenchCard::check(int error, const char* what) const {
  if (error != 0) give_up(std::string(what) + ": " + driver_->text_of(error));
}

void* BenchCard::kernel(const char* name) const {
  if (module_ == nullptr) check(driver_->load_module(&module_, raddle_bench_kernel), "module");
  void* function = nullptr;
  check(driver_->module_function(&function, module_, name), name);
  return function;
}

}  // namespace raddle::gpu::bench
