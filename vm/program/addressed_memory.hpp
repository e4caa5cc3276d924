#pragma once
#include <cstddef>

#include "vm/value/failure.hpp"

namespace raddle::vm {

class Buffer;

/// What one of the words of a call is the address of.
struct AddressedMemory {
  std::size_t word = 0, size_bytes = 0;
  Buffer* buffer = nullptr;  ///< in which it lies, and whose bytes there never change again; null: none is known
  Place array{};             ///< where the array was declared; `end` is 0: it is not known
};

}  // namespace raddle::vm
