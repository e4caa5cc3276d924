#pragma once
// The devices that `--gpus` asks for.
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vm/device/devices.hpp"

namespace raddle::gpu {

inline constexpr unsigned most_gpus = 64;

/// Whether the text is none, all, simulated, or how many. Behind each but none may stand what follows, in any order.
/// `:whole`: the loops that devices can run go there whole, whether that is worth while or not. `:resident`, of GPUs:
/// by a super kernel that stays on each. `:memory=SIZE`, as 512M or 4G: no more of each device's memory is used.
/// `:h200` or `:h200x4`, of simulated: so many GPUs of this kind, by a model that tells what they would take; they get
/// loops whole. `:link=shared`, of these: their copies share one bus. `:peers=nvlink`, of these: they
/// copy from each other. `:ahead=0`, of these: nothing
/// is copied ahead of the calls that read it.
/// @return what is wrong with the text, in words; "": it is none of these; nullopt: nothing
std::optional<std::string> fault_of_devices(const std::string& text);

/// Of the kinds of GPUs that there are models of.
std::vector<std::string> model_names();

struct OpenedDevices {
  std::shared_ptr<vm::Devices> devices;  ///< null: none
  std::string lack;                      ///< of GPUs that were asked for, in words, after `--gpus TEXT: `; "": of none
};

/// @param cubin_folder  where drivers keep what they compile, asked when one is begun with; "": nowhere
/// @param policy  one of vm::policy_names(): which card gets which call with large arrays
/// @error  the text means nothing
std::expected<OpenedDevices, std::string> open_devices(const std::string& text,
                                                       std::function<std::string()> cubin_folder,
                                                       const std::string& policy);

/// What `raddle doctor` is told.
struct FoundGpus {
  std::string text;  ///< those that are there, or why there are none
  bool has_driver = false;
  bool has_problem = false;  ///< a driver, or a card, can not be used
};
FoundGpus find_gpus();

}  // namespace raddle::gpu
