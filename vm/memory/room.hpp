#pragma once
// Whether the numbers of one more array have room.
#include <string>

namespace raddle::vm {

/// In memory, or with --memory on the disk.
bool has_room_for(double bytes);
/// What is told of an array that has none. @param what  as a sentence begins: "the array `a[5]`"
std::string no_room_text(const std::string& what, double bytes);

}  // namespace raddle::vm
