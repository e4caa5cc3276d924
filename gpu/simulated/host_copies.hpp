#pragma once
// The memory of a simulated card.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "gpu/memory/arena.hpp"
#include "gpu/memory/copy_engine.hpp"

namespace raddle::gpu {

/// Its memory is that of the process. What was never written there are bytes that make wrong results.
class HostCopies : public CopyEngine {
 public:
  int allocate(std::uint64_t& address, std::size_t bytes) override {
    void* const memory = std::aligned_alloc(Arena::granule, bytes);
    if (memory == nullptr) return out_of_memory;
    std::memset(memory, unwritten, bytes);
    address = reinterpret_cast<std::uint64_t>(memory);
    return 0;
  }
  int free(std::uint64_t address) override { return std::free(reinterpret_cast<void*>(address)), 0; }
  int copy_in(std::uint64_t to, const void* from, std::size_t bytes) override {
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
  }
  int copy_out(void* to, std::uint64_t from, std::size_t bytes) override {
    return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), 0;
  }
  int copy_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) override {
    return HostCopies::copy_in(to, reinterpret_cast<const void*>(from), bytes);
  }
  int wait() override { return 0; }

 private:
  static constexpr int unwritten = 0xcb;
};

}  // namespace raddle::gpu
