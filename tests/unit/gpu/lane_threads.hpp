// The 32 lanes of a warp as threads of the host, for raddle_kernel.h as GPUs have it. One lane runs at a time, until it
// comes to a function of the warp, where the next one goes on: so what all lanes write is no race, and an order of
// lanes that a GPU may have is one that is tried.
#pragma once
#include <cstdint>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

namespace raddle::gpu {

class LaneThreads {
 public:
  static constexpr int count = 32;

  /// Calls body() as each lane. @param backwards  the last lane comes first
  static void run(bool backwards, const std::function<void()>& body) {
    LaneThreads lanes(backwards);
    std::vector<std::jthread> threads;
    for (int lane = 0; lane < count; ++lane)
      threads.emplace_back([&, lane] {
        current_ = &lanes;
        lane_ = lane;
        lanes.await_turn();
        body();
        lanes.pass_on();
      });
  }
  static int lane() { return lane_; }
  static void sync() {
    current_->pass_on();
    current_->await_turn();
  }
  /// What lane `lane() ^ mask` gives.
  static int exchanged(int word, int mask) {
    // lanes that are ahead write the other half: nobody is two exchanges behind
    std::vector<int>& words = current_->words_[exchanges_++ % 2];
    words[static_cast<std::size_t>(lane_)] = word;
    sync();
    return words[static_cast<std::size_t>(lane_ ^ mask)];
  }

 private:
  explicit LaneThreads(bool backwards) : step_(backwards ? count - 1 : 1) {
    turns_[backwards ? count - 1 : 0].release();
  }

  void await_turn() { turns_[lane_].acquire(); }
  void pass_on() { turns_[(lane_ + step_) % count].release(); }

  const int step_;
  struct Turn : std::binary_semaphore {
    Turn() : std::binary_semaphore(0) {}
  };
  Turn turns_[count];
  std::vector<int> words_[2] = {std::vector<int>(count), std::vector<int>(count)};

  static inline thread_local LaneThreads* current_ = nullptr;
  static inline thread_local int lane_ = 0;
  static inline thread_local unsigned exchanges_ = 0;
};

}  // namespace raddle::gpu
