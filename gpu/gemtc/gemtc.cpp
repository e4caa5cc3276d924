#include "gpu/gemtc/gemtc.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "gpu/gemtc/device.hpp"
#include "gpu/gemtc/gpu_place.hpp"
#include "gpu/gemtc/host_place.hpp"

using raddle::gpu::GemtcDevice;
using raddle::gpu::GemtcPlace;

struct gemtc : GemtcDevice {
  using GemtcDevice::GemtcDevice;
};

namespace {

constexpr unsigned most_workers = 1024, most_usual_workers = 64;
constexpr std::uint32_t usual_tasks = 65'536;
constexpr std::size_t usual_memory = std::size_t{64} << 20, most_memory = std::size_t{1} << 50;

/// What the standard library throws is that memory, or a lock, is not to be had.
template <typename Function>
gemtc_code guarded(const Function& function) {
  try {
    return function();
  } catch (const std::exception&) {
    return GEMTC_NO_MEMORY;
  }
}

}  // namespace

gemtc_code gemtc_setup(const gemtc_options* options, gemtc** device) {
  if (options == nullptr || device == nullptr || options->kernels == nullptr || options->kernel_count == 0 ||
      std::count(options->kernels, options->kernels + options->kernel_count, nullptr) != 0 ||
      options->workers > most_workers || options->memory_bytes > most_memory)
    return GEMTC_INVALID;
  if (options->place > GEMTC_GPU) return GEMTC_NO_PLACE;
  if (options->place == GEMTC_GPU && options->gpu_code == nullptr) return GEMTC_NO_CODE;
  return guarded([&] {
    gemtc_options given = *options;
    if (given.task_limit == 0) given.task_limit = usual_tasks;
    if (given.memory_bytes == 0) given.memory_bytes = usual_memory;
    std::unique_ptr<GemtcPlace> place;
    if (given.gpu_code != nullptr && given.place != GEMTC_THREADS) place = raddle::gpu::GpuPlace::open(given);
    if (!place) {
      if (given.place == GEMTC_GPU) return GEMTC_NO_GPU;
      if (given.workers == 0) given.workers = std::clamp(std::thread::hardware_concurrency(), 1U, most_usual_workers);
      place = std::make_unique<raddle::gpu::HostPlace>(given);
    }
    *device = new gemtc(given, std::move(place));
    return GEMTC_OK;
  });
}

gemtc_code gemtc_cleanup(gemtc* device) {
  delete device;
  return GEMTC_OK;
}

gemtc_code gemtc_malloc(gemtc* device, std::size_t bytes, void** address) {
  if (device == nullptr || bytes == 0 || address == nullptr) return GEMTC_INVALID;
  if (bytes > most_memory) return GEMTC_NO_MEMORY;
  return guarded([&] { return device->allocate(bytes, *address); });
}

gemtc_code gemtc_free(gemtc* device, void* address) {
  if (device == nullptr) return GEMTC_INVALID;
  return address == nullptr ? GEMTC_OK : device->free(address);
}

gemtc_code gemtc_copy_to_device(gemtc* device, void* to, const void* from, std::size_t bytes) {
  if (device == nullptr) return GEMTC_INVALID;
  if (bytes == 0) return GEMTC_OK;
  if (to == nullptr || from == nullptr) return GEMTC_INVALID;
  if (!device->has(to, bytes)) return GEMTC_OUTSIDE;
  return device->copy_in(to, from, bytes);
}

gemtc_code gemtc_copy_from_device(gemtc* device, void* to, const void* from, std::size_t bytes) {
  if (device == nullptr) return GEMTC_INVALID;
  if (bytes == 0) return GEMTC_OK;
  if (to == nullptr || from == nullptr) return GEMTC_INVALID;
  if (!device->has(from, bytes)) return GEMTC_OUTSIDE;
  return device->copy_out(to, from, bytes);
}

gemtc_code gemtc_push(gemtc* device, std::uint32_t kernel, std::int64_t threads, std::uint64_t id, void* parameters) {
  if (device == nullptr || kernel >= device->kernel_count() || threads < 1 || threads > device->most_threads())
    return GEMTC_INVALID;
  if (parameters != nullptr && !device->has(parameters, 1)) return GEMTC_OUTSIDE;
  return guarded([&] { return device->push(kernel, threads, id, parameters); });
}

gemtc_code gemtc_poll(gemtc* device, std::int64_t wait_ns, gemtc_result* result) {
  if (device == nullptr || result == nullptr) return GEMTC_INVALID;
  return device->poll(wait_ns, *result);
}

const char* gemtc_text(gemtc_code code) {
  switch (code) {
    case GEMTC_OK: return "all is well";
    case GEMTC_NOTHING: return "no task has ended";
    case GEMTC_FULL: return "as many tasks as the device takes are pushed and not polled";
    case GEMTC_NO_MEMORY: return "the device, or the host, has no room";
    case GEMTC_INVALID: return "an argument is none that the function takes";
    case GEMTC_OUTSIDE: return "the bytes lie in no block of the device's memory";
    case GEMTC_NO_THREADS: return "the system has no threads for the device";
    case GEMTC_LOST: return "the GPU has failed, and does nothing more";
    case GEMTC_NO_GPU: return "there is no GPU that takes the code";
    case GEMTC_NO_PLACE: return "the place is none of GEMTC_ANYWHERE (0), GEMTC_THREADS (1) and GEMTC_GPU (2)";
    case GEMTC_NO_CODE: return "the place is GEMTC_GPU, and gpu_code is null";
  }
  return "no code of these functions";
}
