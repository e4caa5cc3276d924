#pragma once
// What the fake driver has of streams, and of what is to go wrong with them.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/gpu/fake_memory.hpp"

namespace raddle::gpu {

struct FakeStream {
  std::vector<std::function<void()>> work;
  std::vector<std::jthread> warps;     ///< of a kernel that does not wait until the stream is waited for
  std::atomic<bool> has_warps{false};  ///< seq_cst, as is what follows: other threads ask
  std::atomic<bool> is_hung{false};    ///< one was launched that does not end

  /// Those that nobody waits for any more are left here: a card that has failed.
  static std::set<FakeStream*>& with_warps() {
    static auto& streams = *new std::set<FakeStream*>;  // never destroyed
    return streams;
  }
  void run() {
    if (is_hung) end("a stream is waited for whose kernel does not end");
    if (has_warps) join();
    for (const auto& each : work) each();
    work.clear();
  }
  void run_beside(std::function<void()> warp) {
    {
      const std::lock_guard lock(mutex);
      with_warps().insert(this);
    }
    has_warps = true;
    warps.emplace_back(std::move(warp));
  }
  void join() {
    {
      const std::lock_guard lock(mutex);
      with_warps().erase(this);
    }
    warps.clear();
    has_warps = false;
  }

 private:
  static inline std::mutex mutex;  ///< guards with_warps()
};

/// RADDLE_FAKE_FAULT
struct GivenFault {
  std::string kind;
  std::atomic<int> countdown{0};
  void read() {
    const char* const text = std::getenv("RADDLE_FAKE_FAULT");
    const char* const colon = text != nullptr ? std::strchr(text, ':') : nullptr;
    if (colon == nullptr) return;
    kind.assign(text, colon);
    countdown = std::atoi(colon + 1);
  }
};

/// What is made and not ended: of a card that hangs nobody ends it, which is no leak.
class Objects {
 public:
  void* add(void* object) {
    const std::lock_guard lock(mutex_);
    all_.insert(object);
    return object;
  }
  void remove(void* object) {
    const std::lock_guard lock(mutex_);
    all_.erase(object);
  }

 private:
  std::mutex mutex_;
  std::set<void*> all_;
};

}  // namespace raddle::gpu
