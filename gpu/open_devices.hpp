#pragma once
// The devices that `--gpus` asks for.
#include <expected>
#include <memory>
#include <string>

#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// @param text  none, all, simulated, or how many; all:whole, simulated:whole: the loops that devices can run go there
///              whole, whether that is worth while or not; all:resident, all:whole:resident: by a super kernel that
///              stays on each GPU
/// @return null for none  @error in words, after `--gpus TEXT: `
std::expected<std::shared_ptr<vm::Devices>, std::string> open_devices(const std::string& text);

/// The GPUs that are there, or why there are none, for `raddle doctor`.
std::string text_of_devices();

}  // namespace raddle::gpu
