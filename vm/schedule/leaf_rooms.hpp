#pragma once
// Memory for arrays of a leaf's own that its stack has no room for: raddle_leaf_worker in vm/program/leaf_abi.hpp.
// Threads: the worker's own.
#include <cstdint>

#include "vm/program/leaf_abi.hpp"

namespace raddle::vm {

/// @return null: it is more than the worker's limit, or the system has no more
void* take_leaf_room(raddle_leaf_worker* worker, std::uint64_t bytes);
void leave_leaf_rooms(raddle_leaf_worker* worker, raddle_leaf_room* until);

}  // namespace raddle::vm
