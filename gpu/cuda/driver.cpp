#include "gpu/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

namespace raddle::gpu {

namespace {

constexpr unsigned for_cards = 2;  ///< CU_MEMHOSTREGISTER_DEVICEMAP

/// @param version  0: not known
std::string too_old(int version) {
  return version == 0
             ? fmt::format("the driver is too old: CUDA {} is needed", text_of_version(CudaDriver::least_version))
             : fmt::format("the driver is too old: of CUDA {}, and {} is needed", text_of_version(version),
                           text_of_version(CudaDriver::least_version));
}

/// Of a driver that may lack functions, and has not begun.
int version_of(void* library) {
  int version = 0;
  auto* const ask = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  return ask != nullptr && ask(&version) == 0 ? version : 0;
}

}  // namespace

std::string text_of_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

bool LoadedDriver::is_installed(const std::string& library) {
  return dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
}

std::expected<std::unique_ptr<LoadedDriver>, std::string> LoadedDriver::load(const std::string& library) {
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return std::unexpected(fmt::format("there is no driver for GPUs of NVIDIA ({})", library));
  auto driver = std::make_unique<LoadedDriver>();
  const char* absent = nullptr;
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened, symbol));
    if (function == nullptr) absent = symbol;
  };
#define RADDLE_CUDA_WORDS(name, symbol, parameters, arguments) find(driver->functions_.name, symbol);
#define RADDLE_CUDA_FUNCTION(name, symbol, parameters, arguments) find(driver->functions_.name, symbol);
#define RADDLE_CUDA_OWN(name, symbol, parameters) find(driver->functions_.name, symbol);
#include "gpu/cuda/driver_functions.def"
  if (absent != nullptr) {
    const int version = version_of(opened);
    return std::unexpected(version < least_version ? fmt::format("{}; it has no {}", too_old(version), absent)
                                                   : fmt::format("the driver has no {}, though it is of CUDA {}",
                                                                 absent, text_of_version(version)));
  }
  return driver;
}

int LoadedDriver::load_module(void** module, const std::string& ptx) const {
  return functions_.load_module_data(module, ptx.c_str(), 0, nullptr, nullptr);
}

int LoadedDriver::launch(void* function, unsigned blocks, unsigned threads_of_block, void* stream,
                         std::span<const Parameter> parameters) const {
  std::vector<void*> places;
  for (const Parameter& parameter : parameters) places.push_back(const_cast<std::byte*>(parameter.data()));
  return functions_.launch_kernel(function, blocks, 1, 1, threads_of_block, 1, 1, 0, stream, places.data(), nullptr);
}

int LoadedDriver::register_memory(void* memory, std::size_t bytes) const {
  return functions_.host_register(memory, bytes, for_cards);
}

std::expected<unsigned, std::string> CudaDriver::begin() const {
  if (const int error = init(0)) return std::unexpected(fmt::format("the driver does not begin: {}", text_of(error)));
  int version = 0, count = 0;
  if (const int error = driver_version(&version))
    return std::unexpected(fmt::format("the driver does not tell its version: {}", text_of(error)));
  if (version < least_version) return std::unexpected(too_old(version));
  if (const int error = device_count(&count))
    return std::unexpected(fmt::format("the driver does not count GPUs: {}", text_of(error)));
  return static_cast<unsigned>(count);
}

std::string CudaDriver::text_of(int error) const {
  const char* name = nullptr;
  return error_name(error, &name) == 0 && name != nullptr ? name : fmt::format("CUDA error {}", error);
}

}  // namespace raddle::gpu
