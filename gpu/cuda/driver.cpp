#include "gpu/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace raddle::gpu {

std::expected<CudaDriver, std::string> CudaDriver::load(const std::string& library) {
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return std::unexpected(fmt::format("there is no driver for GPUs of NVIDIA ({})", library));
  CudaDriver driver;
  const char* absent = nullptr;
#define RADDLE_CUDA_FUNCTION(name, symbol, parameters)                      \
  driver.name = reinterpret_cast<int(*) parameters>(dlsym(opened, symbol)); \
  if (driver.name == nullptr) absent = symbol;
#include "gpu/cuda/driver_functions.def"
  if (absent != nullptr) return std::unexpected(fmt::format("the driver is too old: it has no {}", absent));
  return driver;
}

std::expected<unsigned, std::string> CudaDriver::begin() const {
  if (const int error = init(0)) return std::unexpected(fmt::format("the driver does not begin: {}", text_of(error)));
  int version = 0, count = 0;
  driver_version(&version);
  if (version < least_version)
    return std::unexpected(fmt::format("the driver is too old: of CUDA {}.{}, and {}.{} is needed", version / 1000,
                                       version % 1000 / 10, least_version / 1000, least_version % 1000 / 10));
  if (const int error = device_count(&count))
    return std::unexpected(fmt::format("the driver does not count GPUs: {}", text_of(error)));
  return static_cast<unsigned>(count);
}

std::string CudaDriver::text_of(int error) const {
  const char* name = nullptr;
  return error_name(error, &name) == 0 && name != nullptr ? name : fmt::format("CUDA error {}", error);
}

}  // namespace raddle::gpu
