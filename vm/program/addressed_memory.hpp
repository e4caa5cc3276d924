#pragma once
#include <cstddef>

namespace raddle::vm {

/// What one of the words of a call is the address of.
struct AddressedMemory {
  std::size_t word = 0, size_bytes = 0;
};

}  // namespace raddle::vm
