#include "vm/memory/room.hpp"

#include "vm/memory/bounded_memory.hpp"
#include "vm/memory/memory_limit.hpp"

namespace raddle::vm {

bool has_room_for(double bytes) {
  const BoundedMemory* const bounded = BoundedMemory::get();
  return bounded ? bytes <= bounded->space_bytes() : fits_in_memory(bytes);
}

std::string no_room_text(const std::string& what, double bytes) {
  const BoundedMemory* const bounded = BoundedMemory::get();
  return bounded ? bounded->no_space_text(what, bytes) : no_memory_text(what, bytes);
}

}  // namespace raddle::vm
