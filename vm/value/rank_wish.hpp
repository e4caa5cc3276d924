#pragma once
// Where a call into another language is made: each rank, which a worker is, has an interpreter of its own.
#include <cstdint>

namespace raddle::vm {

struct RankWish {
  static constexpr std::int32_t any = -1;
  std::int32_t rank = any;
  bool is_needed = false;  ///< no other rank will do

  /// As programs have it: a rank that is needed is itself, one that is only preferred -2 - rank, none is -1.
  static RankWish from_code(std::int64_t code) {
    if (code >= 0) return {static_cast<std::int32_t>(code), true};
    return {static_cast<std::int32_t>(code == any ? any : -2 - code), false};
  }
  std::int64_t code() const { return is_needed || rank == any ? rank : -2 - rank; }
};

}  // namespace raddle::vm
