#pragma once
// Where in the script a thread is, for who ends the process from below: there is no memory.
#include "vm/value/failure.hpp"

namespace raddle::vm {

/// Of the strand that the calling thread has begun last; null: it runs none. Of a program that is there as long as its
/// run.
inline thread_local const Place* running_place = nullptr;

}  // namespace raddle::vm
