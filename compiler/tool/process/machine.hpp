#pragma once
// What this process may use of the machine.

namespace raddle::tool {

/// The cores this process may run on, not those of the machine.
unsigned core_count();

}  // namespace raddle::tool
