#pragma once
// What this process may use of the machine.

namespace raddle::driver {

/// The cores this process may run on, not those of the machine.
unsigned core_count();

/// The machine's memory, or the control group's limit if that is less.
double memory_bytes();

}  // namespace raddle::driver
