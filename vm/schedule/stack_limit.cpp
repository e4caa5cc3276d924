#include "vm/schedule/stack_limit.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstddef>

namespace raddle::vm {
namespace {

constexpr std::size_t reserve_bytes = 128 * 1024;
/// Where the system does not tell: what a thread surely has below the frame that asks.
constexpr std::size_t assumed_bytes = 64 * 1024;

const std::byte* find_limit() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  bool known = false;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!known) return static_cast<const std::byte*>(__builtin_frame_address(0)) - assumed_bytes;
  return static_cast<const std::byte*>(lowest) + std::min(reserve_bytes, size / 2);
}

}  // namespace

const void* stack_limit() noexcept {
  thread_local const std::byte* const limit = find_limit();
  return limit;
}

}  // namespace raddle::vm
