#include "gpu/open_devices.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <limits>

#include "gpu/cuda/cuda_devices.hpp"
#include "gpu/simulated/simulated_devices.hpp"

namespace raddle::gpu {

namespace {

constexpr unsigned simulated_warps = 4;
constexpr vm::DeviceCosts simulated_costs{.batch_ns = 10'000, .start_ns = 10'000'000};
constexpr unsigned all = std::numeric_limits<unsigned>::max();

}  // namespace

std::expected<std::shared_ptr<vm::Devices>, std::string> open_devices(const std::string& text) {
  if (text == "none") return nullptr;
  constexpr auto whole = vm::DeviceTakes::whole_launches, share = vm::DeviceTakes::what_is_worth_while;
  if (text == "simulated") return std::make_shared<SimulatedDevices>(simulated_warps, simulated_costs);
  if (text == "simulated:whole")
    return std::make_shared<SimulatedDevices>(simulated_warps, vm::DeviceCosts{.takes = whole});
  if (text == "all") return std::make_shared<CudaDevices>(all, share);
  if (text == "all:whole") return std::make_shared<CudaDevices>(all, whole);
  if (text == "all:resident" || text == "all:whole:resident") {
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // what is loaded late waits for the kernel that stays
    return std::make_shared<CudaDevices>(all, text == "all:resident" ? share : whole, CudaDevices::Way::resident);
  }
  unsigned wanted = 0;
  std::from_chars(text.data(), text.data() + text.size(), wanted);
  auto devices = std::make_shared<CudaDevices>(wanted, share);
  const std::expected<unsigned, std::string> count = devices->open();
  if (!count) return std::unexpected(count.error());
  if (*count < wanted) return std::unexpected(fmt::format("there {} {}", *count == 1 ? "is" : "are", *count));
  return devices;
}

std::string text_of_devices() {
  CudaDevices devices(all, vm::DeviceTakes::what_is_worth_while);
  const std::expected<unsigned, std::string> count = devices.open();
  if (!count) return count.error() + ": workers compute everything";
  std::string text;
  for (const vm::DeviceFacts& facts : devices.facts())
    text += fmt::format("{}{}, {} GiB", text.empty() ? "" : "; ", facts.name, facts.memory_bytes >> 30);
  return text.empty() ? "none: workers compute everything" : text;
}

}  // namespace raddle::gpu
