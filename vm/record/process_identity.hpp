#pragma once
// Which process a run belongs to, told so that it can be asked later whether that process still lives: a process id
// alone is used again by others.
#include <cstdint>
#include <string>

namespace raddle::vm {

struct ProcessIdentity {
  std::int64_t pid = 0;
  std::int64_t start_ticks = 0;  ///< since the machine was started
  std::string boot;              ///< of the machine; a new one at each start
};

ProcessIdentity own_identity();

/// Of a process of another machine or of an earlier start of this one: false.
bool is_alive(const ProcessIdentity& process);

}  // namespace raddle::vm
