#pragma once
// The deque of one worker: its owner pushes and takes at the bottom, thieves take the oldest at the top.
// Source: Chase, Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005), with seq_cst accesses in place of the fences
// of Le et al. (PPoPP 2013), which ThreadSanitizer does not understand.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "vm/schedule/task_queue.hpp"

namespace raddle::vm {

class WorkStealingDeque {
 public:
  struct AnyTask {
    bool operator()(const Task*) const { return true; }
  };

  WorkStealingDeque() {
    rings_.push_back(std::make_unique<Ring>(256));
    ring_.store(rings_.back().get(), std::memory_order_relaxed);
  }

  /// Owner only.
  void push(Task* task) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);  // relaxed: only the owner writes it
    Ring* ring = ring_.load(std::memory_order_relaxed);
    if (bottom - known_top_ >= ring->capacity()) {
      known_top_ = top_.load(std::memory_order_acquire);
      if (bottom - known_top_ >= ring->capacity()) ring = grow(*ring, known_top_, bottom);
    }
    ring->at(bottom).store(task, std::memory_order_relaxed);  // published by bottom_
    bottom_.store(bottom + 1, std::memory_order_seq_cst);     // seq_cst: before the look for sleepers (WorkerPool)
  }

  /// Owner only: the last one of the batch becomes the youngest. They are shown to thieves together.
  void push(TaskBatch batch) {
    std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    Ring* ring = ring_.load(std::memory_order_relaxed);
    const auto end = bottom + static_cast<std::int64_t>(batch.count);
    while (end - known_top_ > ring->capacity()) {
      known_top_ = top_.load(std::memory_order_acquire);
      if (end - known_top_ > ring->capacity()) ring = grow(*ring, known_top_, bottom);
    }
    while (Task* task = batch.take_first()) ring->at(bottom++).store(task, std::memory_order_relaxed);
    bottom_.store(bottom, std::memory_order_seq_cst);  // seq_cst: as for one
  }

  /// Owner only: the youngest task, nullptr if empty.
  /// @param is_wanted  false: it stays. Asked of an address: somebody else may have taken the task
  template <typename Filter = AnyTask>
  Task* take(const Filter& is_wanted = {}) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    if (top_.load(std::memory_order_relaxed) > bottom) return nullptr;  // empty: top_ only grows
    Ring* ring = ring_.load(std::memory_order_relaxed);
    if (!is_wanted(ring->at(bottom).load(std::memory_order_relaxed))) return nullptr;
    bottom_.store(bottom, std::memory_order_seq_cst);  // before top_: a thief that sees the old bottom loses the CAS
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    Task* task = nullptr;
    if (top <= bottom) {
      task = ring->at(bottom).load(std::memory_order_relaxed);
      if (top != bottom) return task;
      // the last one: whoever moves top_ has it
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
        task = nullptr;
    }
    bottom_.store(bottom + 1, std::memory_order_relaxed);
    return task;
  }

  /// Any thread: the oldest task, nullptr if empty or if another thread won.
  /// @param is_wanted  as for take()
  template <typename Filter = AnyTask>
  Task* steal(const Filter& is_wanted = {}) {
    std::int64_t top = top_.load(std::memory_order_seq_cst);              // before bottom_: orders against take()
    const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);  // acquires the slot written by push()
    if (top >= bottom) return nullptr;
    Ring* ring = ring_.load(std::memory_order_acquire);
    Task* task = ring->at(top).load(std::memory_order_relaxed);  // ours if the CAS wins
    if (!is_wanted(task)) return nullptr;
    const bool won = top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed);
    return won ? task : nullptr;
  }

  /// Any thread; true means that it was empty at some moment of the call.
  bool is_empty() const {
    const std::int64_t top = top_.load(std::memory_order_seq_cst);
    return top >= bottom_.load(std::memory_order_seq_cst);
  }

  /// Exact for the owner while nobody steals, a hint for others.
  std::int64_t size() const { return bottom_.load(std::memory_order_relaxed) - top_.load(std::memory_order_relaxed); }

 private:
  class Ring {
   public:
    explicit Ring(std::int64_t capacity)
        : capacity_(capacity), slots_(std::make_unique<std::atomic<Task*>[]>(static_cast<std::size_t>(capacity))) {}
    std::int64_t capacity() const { return capacity_; }
    std::atomic<Task*>& at(std::int64_t index) { return slots_[static_cast<std::size_t>(index & (capacity_ - 1))]; }

   private:
    std::int64_t capacity_;  // a power of two
    std::unique_ptr<std::atomic<Task*>[]> slots_;
  };

  Ring* grow(Ring& old, std::int64_t top, std::int64_t bottom) {
    rings_.push_back(std::make_unique<Ring>(old.capacity() * 2));  // thieves may still read the old one: kept
    Ring* ring = rings_.back().get();
    for (std::int64_t i = top; i < bottom; ++i)
      ring->at(i).store(old.at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    ring_.store(ring, std::memory_order_release);  // publishes the copied slots
    return ring;
  }

  alignas(64) std::atomic<std::int64_t> top_{0};     // written by thieves, and by the owner for the last task
  alignas(64) std::atomic<std::int64_t> bottom_{0};  // written by the owner
  std::atomic<Ring*> ring_{nullptr};                 // written by the owner
  std::int64_t known_top_ = 0;                       // owner only: top_ as it was, which saves its line a way
  std::vector<std::unique_ptr<Ring>> rings_;         // owner only
};

}  // namespace raddle::vm
