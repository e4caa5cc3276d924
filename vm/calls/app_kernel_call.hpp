#pragma once
// A call of an AppKernel that a device makes.
#include <cstdint>

#include "vm/device/devices.hpp"
#include "vm/foreign/c_arguments.hpp"
#include "vm/interpret/frame.hpp"

namespace raddle::vm {

/// Waits for code, then for the device, which fills `outcome` and `arguments` before it is injected. Owns a reference
/// to the function's frame, whose variables hold the inputs.
class AppKernelCall final : public Cell {
 public:
  AppKernelCall(Frame& frame, const AppSite& site, std::uint32_t instruction)
      : frame(frame), site(site), instruction(instruction) {}
  void run(Worker& worker) override;

  Frame& frame;
  const AppSite& site;
  const std::uint32_t instruction;
  CArguments arguments;
  DeviceOutcome outcome;
  bool is_submitted = false;
};

}  // namespace raddle::vm
