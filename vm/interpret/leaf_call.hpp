#pragma once
// A call of a leaf function that can not go at once.
#include <memory>

#include "vm/device/device_leaves.hpp"
#include "vm/interpret/deferred_call.hpp"
#include "vm/interpret/frame.hpp"

namespace raddle::vm {

class RunWorker;

/// Waits for its arguments, then for code, for a worker or for a device. Owns a reference to the calling frame.
class LeafCall final : public DeferredCall {
 public:
  LeafCall(Frame& frame, const CallSite& site, std::uint32_t instruction, std::int32_t priority)
      : frame(frame), site(site), instruction(instruction), priority(priority) {}
  void run(Worker& worker) override;
  void resolved(Worker& worker) override;
  void queue(RunWorker& here);
  DeferredCall* replacement(CellCache& cache) override;

  Frame& frame;
  const CallSite& site;
  const std::uint32_t instruction;
  const std::int32_t priority;
  bool has_turn = false;                  ///< is run when it comes out of the queue; else it has waited for code
  bool stays = false;                     ///< no device makes it
  bool is_light = false;                  ///< the throttle knows of it: it waits for a device
  std::unique_ptr<DeviceLeafCall> given;  ///< to a device; null: it was not
};

}  // namespace raddle::vm
