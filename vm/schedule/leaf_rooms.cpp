#include "vm/schedule/leaf_rooms.hpp"

#include <new>

/// Lies before what it stands for.
struct alignas(64) raddle_leaf_room {
  raddle_leaf_room* older;
};

namespace raddle::vm {

void* take_leaf_room(raddle_leaf_worker* worker, std::uint64_t bytes) {
  if (bytes > worker->room_limit) return nullptr;
  void* const memory =
      ::operator new(sizeof(raddle_leaf_room) + bytes, std::align_val_t(alignof(raddle_leaf_room)), std::nothrow);
  if (memory == nullptr) return nullptr;
  auto* const room = new (memory) raddle_leaf_room{worker->rooms};
  worker->rooms = room;
  return room + 1;
}

void leave_leaf_rooms(raddle_leaf_worker* worker, raddle_leaf_room* until) {
  while (worker->rooms != until) {
    raddle_leaf_room* const room = worker->rooms;
    worker->rooms = room->older;
    ::operator delete(room, std::align_val_t(alignof(raddle_leaf_room)));
  }
}

}  // namespace raddle::vm
