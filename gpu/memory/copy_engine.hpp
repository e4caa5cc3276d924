#pragma once
// How bytes come to a card and from it.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/device/device_traffic.hpp"

namespace raddle::gpu {

/// What is asked for is done in its order, and has been done when wait() returns. All functions return 0 or an error's
/// number. Of one thread.
class CopyEngine {
 public:
  static constexpr int out_of_memory = 2;  ///< CUDA_ERROR_OUT_OF_MEMORY

  virtual ~CopyEngine() = default;
  /// Memory that engines of other threads may use, too, at once. @param bytes  a multiple of Arena::granule
  virtual int allocate(std::uint64_t& address, std::size_t bytes) = 0;
  /// Its memory can be allocated anew when wait() has returned. @pre nothing uses it any more
  virtual int free(std::uint64_t address) = 0;
  virtual int copy_in(std::uint64_t to, const void* from, std::size_t bytes) = 0;
  virtual int copy_out(void* to, std::uint64_t from, std::size_t bytes) = 0;
  /// From one place on the card to another one.
  virtual int copy_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) = 0;
  /// From another card, which has it from ready_ns on, if it is a model.
  virtual int copy_between(std::uint64_t to, std::uint64_t from, std::size_t bytes,
                           [[maybe_unused]] std::int64_t ready_ns) {
    return copy_within(to, from, bytes);
  }
  virtual int wait() = 0;
  /// What has crossed a link since the last time, and when; none: nobody looks at it.
  virtual std::vector<vm::DeviceTransfer> take_transfers() { return {}; }
  // of models, whose times are those of a clock of their own
  virtual void begin_after(std::int64_t) {}           ///< nothing that is waited for later
  virtual std::int64_t done_ns() const { return 0; }  ///< when all was done that was waited for
};

}  // namespace raddle::gpu
