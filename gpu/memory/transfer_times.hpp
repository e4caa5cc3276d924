#pragma once
// When bytes have crossed a link.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/memory/host_clocks.hpp"
#include "vm/device/device_traffic.hpp"

namespace raddle::gpu {

/// By the host's clock: what is asked for one way before somebody waits for it is one transfer, from when it was asked
/// for to the end of the wait.
class TransferTimes {
 public:
  void begin(vm::DeviceLane lane, std::size_t bytes) {
    const auto same = std::find_if(all_.begin() + open_, all_.end(),
                                   [lane](const vm::DeviceTransfer& each) { return each.lane == lane; });
    if (same == all_.end())
      all_.push_back({.lane = lane, .start_ns = steady_ns(), .bytes = bytes});
    else
      same->bytes += bytes;
  }
  void end() {
    for (; open_ < std::ssize(all_); ++open_) {
      vm::DeviceTransfer& ended = all_[static_cast<std::size_t>(open_)];
      ended.duration_ns = steady_ns() - ended.start_ns;
    }
  }
  std::vector<vm::DeviceTransfer> take() {
    end();
    open_ = 0;
    return std::exchange(all_, {});
  }

 private:
  std::vector<vm::DeviceTransfer> all_;
  std::ptrdiff_t open_ = 0;  ///< from this one on they are waited for
};

}  // namespace raddle::gpu
