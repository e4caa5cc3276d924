#pragma once
// A warp: 32 lanes of a GPU; on the host one thread that does what the lanes do, one after the other, phase by phase.
// What a lane keeps from one phase to the next is in Lanes; what lanes tell each other goes through these functions
// only. So the same source runs on both, and a host thread pays for no switch between lanes. The host does not see it
// if only some lanes come to a function that needs all of them.
#include <stdint.h>

namespace raddle::gpu::superkernel {

inline constexpr unsigned lane_count = 32;

#ifdef __NVPTX__

template <typename T>
class Lanes {
 public:
  T& operator[](unsigned) { return value_; }

 private:
  T value_;
};

class Warp {
 public:
  template <typename Function>
  void each(const Function& function) const {
    function(lane_);
  }
  /// How many lanes, from the first one on, say yes. All are asked.
  template <typename Function>
  unsigned leading(const Function& function) const {
    const unsigned votes = __nvvm_vote_ballot_sync(~0u, function(lane_));
    return votes == ~0u ? lane_count : static_cast<unsigned>(__builtin_ctz(~votes));
  }
  /// The first lane does it and tells the others, which have all that it has seen.
  template <typename Function>
  uint64_t first(const Function& function) const {
    uint64_t value = 0;
    if (lane_ == 0) value = function();
    __nvvm_bar_warp_sync(~0u);
    const auto low = static_cast<unsigned>(__nvvm_shfl_sync_idx_i32(~0u, static_cast<int>(value), 0, 31));
    const auto high = static_cast<unsigned>(__nvvm_shfl_sync_idx_i32(~0u, static_cast<int>(value >> 32), 0, 31));
    return static_cast<uint64_t>(high) << 32 | low;
  }
  /// What any lane has written before, each has after it.
  void meet() const { __nvvm_bar_warp_sync(~0u); }

 private:
  unsigned lane_ = __nvvm_read_ptx_sreg_laneid();
};

#else

template <typename T>
class Lanes {
 public:
  T& operator[](unsigned lane) { return values_[lane]; }

 private:
  T values_[lane_count];
};

class Warp {
 public:
  template <typename Function>
  void each(const Function& function) const {
    for (unsigned lane = 0; lane < lane_count; ++lane) function(lane);
  }
  /// How many lanes, from the first one on, say yes.
  template <typename Function>
  unsigned leading(const Function& function) const {
    unsigned lane = 0;
    while (lane < lane_count && function(lane)) ++lane;
    return lane;
  }
  template <typename Function>
  uint64_t first(const Function& function) const {
    return function();
  }
  void meet() const {}
};

#endif

}  // namespace raddle::gpu::superkernel
