#pragma once
// Launches that are known ahead, and what has to be moved between host and device for them.
#include <cstdint>
#include <vector>

#include "vm/place/placed_task.hpp"

namespace raddle::vm {

/// One launch or call of the host, as it stands in the program.
struct WindowCall {
  bool is_on_device = false;
  std::vector<DataId> reads, writes;
};

/// Calls one after the other. A datum is written once at most; what no call writes is in the host's memory at first.
struct LaunchWindow {
  std::vector<WindowCall> calls;
  std::vector<bool> is_live_at_end;  ///< by datum: the host wants it. What nobody reads is wanted, too
};

/// A datum that crosses the bus, once. Slots are calls: an upload happens before the call, a download after it.
struct Transfer {
  DataId data = 0;
  std::uint32_t earliest = 0, latest = 0;  ///< slots, both are possible
};

struct Transfers {
  std::vector<Transfer> uploads, downloads;  ///< by datum
};

/// An upload is possible once the host has the datum, and has to be there for the first launch that reads it; a
/// download once the launch that writes it has ended, for the first call of the host that reads it, or the end. Source:
/// C. Kessler, "Global Optimization of Operand Transfer Fusion in Heterogeneous Computing", SCOPES 2019
Transfers transfers_of(const LaunchWindow& window);

}  // namespace raddle::vm
