// Single calls of leaf functions that devices make: Note [single calls] in vm/device/call_sharing.hpp. What a device
// can not do, or does not end well there, a worker does once more, with all words of the message.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/kernel_caller.hpp"
#include "vm/interpret/leaf_call.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/kernel/leaf_arguments.hpp"

namespace raddle::vm {

bool KernelCaller::hand_over(LeafCall& call) {
  if (!run_.device_leaves || call.stays) return false;
  while (true) {
    const DeviceLeaves::Way way = run_.device_leaves->way_of_call(call.site.function);
    if (way != DeviceLeaves::Way::here && !call.is_light) {
      call.is_light = true;
      run_.throttle.begin(Throttle::light_weight);
    }
    if (way == DeviceLeaves::Way::later && run_.device_leaves->wait(call.site.function, call)) return true;
    if (way == DeviceLeaves::Way::there && submit(call)) return true;
    if (way == DeviceLeaves::Way::later) continue;
    call.stays = true;
    end_light(call);
    return false;
  }
}

void KernelCaller::end_light(LeafCall& call) {
  if (std::exchange(call.is_light, false)) run_.throttle.end(1, Throttle::light_weight);
}

/// Devices are to know how long calls take: of short ones some are measured.
bool KernelCaller::is_measured(FunctionId leaf) {
  if (!run_.device_leaves || !program_.functions[leaf].is_heavy || !run_.device_leaves->is_possible(leaf)) return false;
  if (unmeasured_.empty()) unmeasured_.resize(program_.functions.size());
  return ++unmeasured_[leaf].count > unmeasured_[leaf].most;
}

void KernelCaller::note_call(FunctionId leaf, std::int64_t spent_ns) {
  constexpr std::int64_t often_ns = 20'000;
  run_.device_leaves->note(leaf, spent_ns, unmeasured_[leaf].count);
  unmeasured_[leaf] = {.most = std::min<std::int64_t>(1000, often_ns / std::max<std::int64_t>(1, spent_ns))};
}

/// @return false: an argument has failed, or lies where a device can not be sure of it
bool KernelCaller::submit(LeafCall& call) {
  const std::vector<KernelType>& types = program_.functions[call.site.function].leaf_parameters;
  auto given = std::make_unique<DeviceLeafCall>();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Future& argument = call.frame.at(call.site.arguments[i]);
    std::array<std::int64_t, 2> words;
    std::size_t count = 0;
    if ((is_array(types[i]) && BoundedMemory::get()) || !encode(argument, types[i], words.data(), count)) return false;
    if (!is_array(types[i])) {
      given->numbers.push_back(words[0]);
      continue;
    }
    const std::size_t bytes = static_cast<std::size_t>(words[1]) * Buffer::size_of(kind_of(types[i]));
    Array& array = object_in<Array>(argument);
    given->memory.push_back({given->arrays.size(), bytes, buffer_with(array, words[0], bytes), array.place()});
    given->arrays.insert(given->arrays.end(), words.begin(), words.end());
  }
  given->priority = call.priority;
  given->task = &call;
  call.given = std::move(given);
  run_.device_leaves->submit(call.site.function, *call.given);
  return true;
}

/// @return false: no device has made the call
bool KernelCaller::take_results(LeafCall& call) {
  if (!call.given) return false;
  end_light(call);
  if (!call.given->is_made) return false;
  log_device(call.frame, call.instruction, call.given->outcome);
  set_leaf_results(call.frame, call.site, call.instruction, call.given->results.data());
  return true;
}

}  // namespace raddle::vm
