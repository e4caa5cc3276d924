#pragma once
// Accesses to the words of the queues, each by its name in accesses.def. One source for host threads and NVPTX: plain
// C++20, no library. On NVPTX as inline PTX: LLVM 19 drops order and scope of atomics, and has no instruction for an
// acquire.
#include <stdint.h>
#ifndef __NVPTX__
#include <sched.h>
#include <time.h>
#endif

namespace raddle::gpu::superkernel {

enum class Order : uint8_t { relaxed, acquire, release, acq_rel };
enum class Scope : uint8_t { host, gpu, sys };

enum class Access : uint8_t {
#define RADDLE_QUEUE_ACCESS(name, order, scope) name,
#define RADDLE_QUEUE_STEP(name)
#include "gpu/superkernel/accesses.def"
};
enum class Step : uint8_t {
#define RADDLE_QUEUE_ACCESS(name, order, scope)
#define RADDLE_QUEUE_STEP(name) name,
#include "gpu/superkernel/accesses.def"
};

struct AccessForm {
  const char* name;
  Order order;
  Scope scope;
};
inline constexpr AccessForm access_forms[] = {
#define RADDLE_QUEUE_ACCESS(name, order, scope) {#name, Order::order, Scope::scope},
#define RADDLE_QUEUE_STEP(name)
#include "gpu/superkernel/accesses.def"
};
inline constexpr const char* step_names[] = {
#define RADDLE_QUEUE_ACCESS(name, order, scope)
#define RADDLE_QUEUE_STEP(name) #name,
#include "gpu/superkernel/accesses.def"
};
template <Access access>
inline constexpr AccessForm form_of = access_forms[static_cast<unsigned>(access)];

#ifdef RADDLE_WEAKENED_QUEUES  // the test of the tests: what is weakened is chosen at run time
extern int weakened_access, weakened_step;
inline bool is_weakened(Access access) { return static_cast<int>(access) == weakened_access; }
inline bool is_left_out(Step step) { return static_cast<int>(step) == weakened_step; }
/// A place that only one side may touch now: plain accesses, for ThreadSanitizer to see whether that is so.
void own_to_read(const uint64_t* place);
void own_to_write(const uint64_t* place);
/// Between two steps: others may come far meanwhile.
void hesitate();
#else
constexpr bool is_weakened(Access) { return false; }
constexpr bool is_left_out(Step) { return false; }
inline void own_to_read(const uint64_t*) {}
inline void own_to_write(const uint64_t*) {}
inline void hesitate() {}
#endif

#ifdef __NVPTX__

template <Access access>
inline uint64_t load(const uint64_t* place) {
  constexpr AccessForm form = form_of<access>;
  static_assert(form.scope != Scope::host && (form.order == Order::relaxed || form.order == Order::acquire));
  uint64_t value;
  if constexpr (form.order == Order::relaxed && form.scope == Scope::gpu)
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  else if constexpr (form.order == Order::relaxed)
    asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  else if constexpr (form.scope == Scope::gpu)
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  else
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  return value;
}

template <Access access>
inline void store(uint64_t* place, uint64_t value) {
  constexpr AccessForm form = form_of<access>;
  static_assert(form.scope != Scope::host && (form.order == Order::relaxed || form.order == Order::release));
  if constexpr (form.order == Order::relaxed && form.scope == Scope::gpu)
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
  else if constexpr (form.order == Order::relaxed)
    asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
  else if constexpr (form.scope == Scope::gpu)
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
  else
    asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
}

/// Two words, in one write.
template <Access access>
inline void store_pair(uint64_t* place, uint64_t first, uint64_t second) {
  static_assert(form_of<access>.order == Order::release && form_of<access>.scope == Scope::sys);
  asm volatile("st.release.sys.v2.u64 [%0], {%1, %2};" ::"l"(place), "l"(first), "l"(second) : "memory");
}

/// @return what was there
template <Access access>
inline uint64_t add(uint64_t* place, uint64_t value) {
  constexpr AccessForm form = form_of<access>;
  static_assert(form.scope == Scope::gpu && (form.order == Order::relaxed || form.order == Order::acq_rel));
  uint64_t old;
  if constexpr (form.order == Order::relaxed)
    asm volatile("atom.relaxed.gpu.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(place), "l"(value) : "memory");
  else
    asm volatile("atom.acq_rel.gpu.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(place), "l"(value) : "memory");
  return old;
}

template <Access access>
inline void lower(uint64_t* place, uint64_t value) {
  static_assert(form_of<access>.order == Order::relaxed && form_of<access>.scope == Scope::gpu);
  asm volatile("red.relaxed.gpu.min.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
}

inline uint64_t now_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// What a warp does that waits: it leaves the processor to others, longer each time.
class Pause {
 public:
  void wait() {
    asm volatile("nanosleep.u32 %0;" ::"r"(ns_) : "memory");
    if (ns_ < longest_ns) ns_ *= 2;
  }
  void begin_anew() { ns_ = first_ns; }

 private:
  static constexpr unsigned first_ns = 32, longest_ns = 512;
  unsigned ns_ = first_ns;
};

#else

/// The compiler's number of it. A compare-and-swap that is acq_rel fails with acquire.
template <Access access>
inline constexpr int built_in_order = form_of<access>.order == Order::relaxed   ? __ATOMIC_RELAXED
                                      : form_of<access>.order == Order::acquire ? __ATOMIC_ACQUIRE
                                      : form_of<access>.order == Order::release ? __ATOMIC_RELEASE
                                                                                : __ATOMIC_ACQ_REL;

template <Access access>
inline uint64_t load(const uint64_t* place) {
  if (is_weakened(access)) return __atomic_load_n(place, __ATOMIC_RELAXED);
  return __atomic_load_n(place, built_in_order<access>);
}

template <Access access>
inline void store(uint64_t* place, uint64_t value) {
  if (is_weakened(access)) return __atomic_store_n(place, value, __ATOMIC_RELAXED);
  __atomic_store_n(place, value, built_in_order<access>);
}

/// Two words: the second one first, as a device may show them so.
template <Access access>
inline void store_pair(uint64_t* place, uint64_t first, uint64_t second) {
  store<access>(place + 1, second);
  hesitate();
  store<access>(place, first);
}

/// @return what was there
template <Access access>
inline uint64_t add(uint64_t* place, uint64_t value) {
  if (is_weakened(access)) return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
  return __atomic_fetch_add(place, value, built_in_order<access>);
}

template <Access access>
inline void lower(uint64_t* place, uint64_t value) {
  uint64_t old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (value < old &&
         !__atomic_compare_exchange_n(place, &old, value, true, built_in_order<access>, __ATOMIC_RELAXED)) {
  }
}

/// @param expected  becomes what is there if it is something else  @return false: nothing was written
template <Access access>
inline bool replace(uint64_t* place, uint64_t& expected, uint64_t value) {
  static_assert(form_of<access>.order == Order::relaxed);
  return __atomic_compare_exchange_n(place, &expected, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

inline uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// What a thread does that waits: it leaves the processor to others, and sleeps after a while.
class Pause {
 public:
  void wait() {
    constexpr timespec time{0, sleep_ns};
    if (turns_++ < turns_without_sleep)
      sched_yield();
    else
      nanosleep(&time, nullptr);
  }
  void begin_anew() { turns_ = 0; }

 private:
  static constexpr unsigned turns_without_sleep = 64;
  static constexpr long sleep_ns = 50'000;
  unsigned turns_ = 0;
};

#endif

}  // namespace raddle::gpu::superkernel
