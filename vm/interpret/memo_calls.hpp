#pragma once
// Calls of `@memo` functions that a run has begun and whose results are not there yet: an equal call waits for them.
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/record/call_record.hpp"

namespace raddle::vm {

/// A call that waits for an equal one; then it looks for results once more. Owns a reference to its frame.
class MemoWait final : public Cell {
 public:
  MemoWait(Frame& frame, std::uint32_t instruction) : frame(frame), instruction(instruction) {}
  void run(Worker& worker) override;

  Frame& frame;
  const std::uint32_t instruction;
};

/// Any thread.
class MemoCalls {
 public:
  using Clock = std::chrono::steady_clock;
  struct Begun {
    RecordedCall call;
    Clock::time_point time;
    const Frame* frame = nullptr;  ///< that has begun it, and lasts until it has ended
    std::uint64_t number = 0;      ///< that the run's listener gave it; 0: none, or its end was told
    std::vector<MemoWait*> waiting = {};
  };

  /// @return null, or the frame that has begun an equal call; then wait() or begin() once more
  const Frame* begin(RecordedCall call, const Frame& frame) {
    const std::lock_guard lock(mutex_);
    const PointKey key = call.key;
    const auto [begun, is_first] = begun_.try_emplace(key, Begun{std::move(call), Clock::now(), &frame});
    return is_first ? nullptr : begun->second.frame;
  }
  /// @return false: the call has ended meanwhile
  bool wait(const PointKey& key, MemoWait& waiting) {
    const std::lock_guard lock(mutex_);
    const auto found = begun_.find(key);
    if (found == begun_.end()) return false;
    found->second.waiting.push_back(&waiting);
    return true;
  }
  void set_number(const PointKey& key, std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (const auto found = begun_.find(key); found != begun_.end()) found->second.number = number;
  }
  /// What begin() was given, for whoever is about to keep the results.
  Begun begun(const PointKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = begun_.find(key);
    return found == begun_.end() ? Begun{}
                                 : Begun{found->second.call, found->second.time, nullptr, found->second.number};
  }
  /// The call that this frame has begun, for whoever is the first to tell that it has failed; none if there is no such
  /// call, or that was told.
  std::optional<Begun> take_begun_by(const Frame& frame) {
    const std::lock_guard lock(mutex_);
    for (auto& [key, begun] : begun_)
      if (begun.frame == &frame && begun.number != 0)
        return Begun{begun.call, begun.time, nullptr, std::exchange(begun.number, 0)};
    return std::nullopt;
  }
  /// It has ended, well or not. @return the calls that wait for it
  std::vector<MemoWait*> end(const PointKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = begun_.find(key);
    if (found == begun_.end()) return {};
    std::vector<MemoWait*> waiting = std::move(found->second.waiting);
    begun_.erase(found);
    return waiting;
  }

 private:
  std::mutex mutex_;
  std::map<PointKey, Begun> begun_;  // guarded by mutex_
};

}  // namespace raddle::vm
