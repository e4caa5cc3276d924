#pragma once
// Calls of `@memo` functions that a run has begun and whose results are not there yet: an equal call waits for them.

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/calls/written_files.hpp"
#include "vm/record/call_record.hpp"
#include "vm/record/named_files.hpp"
#include "vm/value/file_identity.hpp"

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
  /// As it was when it was named.
  struct Noted {
    std::string version;
    bool is_certain = false;
    std::optional<FileState> state = std::nullopt;  ///< before its version was read
  };
  using States = std::vector<std::optional<FileState>>;
  struct Begun {
    RecordedCall call;
    Clock::time_point time;
    Frame* frame = nullptr;          ///< that has begun it, and lasts until it has ended
    const MemoSite* site = nullptr;  ///< where
    std::uint64_t number = 0;        ///< that the run's listener gave it; 0: none, or its end was told
    std::vector<MemoWait*> waiting = {};
    std::map<std::string, Noted> reads = {};  ///< files that were named in it, by name
    FileTime files_time = time_of_files();    ///< what is written from then on may be its own
    States input_states = {};                 ///< of files that are its inputs, before they were read
  };

  /// @return null, or the frame that has begun an equal call; then wait() or begin() once more
  const Frame* begin(RecordedCall call, Frame& frame, const MemoSite& site, const States& input_states) {
    const std::lock_guard lock(mutex_);
    const PointKey key = call.key;
    const auto [begun, is_first] = begun_.try_emplace(key, Begun{std::move(call), Clock::now(), &frame, &site});
    if (is_first) begun->second.input_states = input_states;
    if (is_first) frames_.emplace(&frame, key);
    count_.store(begun_.size(), std::memory_order_relaxed);
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
    if (found == begun_.end()) return {};
    const Begun& begun = found->second;
    return {begun.call, begun.time,  begun.frame,      begun.site,        begun.number,
            {},         begun.reads, begun.files_time, begun.input_states};
  }
  /// The call that this frame has begun, for whoever is the first to tell that it has failed; none if there is no such
  /// call, or that was told.
  std::optional<Begun> take_begun_by(const Frame& frame) {
    const std::lock_guard lock(mutex_);
    for (auto& [key, begun] : begun_)
      if (begun.frame == &frame && begun.number != 0)
        return Begun{begun.call, begun.time, begun.frame, begun.site, std::exchange(begun.number, 0)};
    return std::nullopt;
  }
  bool has_begun_any() const { return count_.load(std::memory_order_relaxed) != 0; }
  /// A file is named in a call: noted in all calls around it that are about to be kept.
  /// @param written  by the run itself
  void note(const Frame& frame, const NamedFile& file, KeptFiles& files, WrittenFiles& written);
  /// It has ended, well or not. @return the calls that wait for it
  std::vector<MemoWait*> end(const PointKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = begun_.find(key);
    if (found == begun_.end()) return {};
    std::vector<MemoWait*> waiting = std::move(found->second.waiting);
    frames_.erase(found->second.frame);
    begun_.erase(found);
    count_.store(begun_.size(), std::memory_order_relaxed);
    return waiting;
  }

 private:
  std::mutex mutex_;
  std::map<PointKey, Begun> begun_;                    // guarded by mutex_, as is the next
  std::unordered_map<const Frame*, PointKey> frames_;  // of begun_
  std::atomic<std::size_t> count_ = 0;                 // of begun_; relaxed: who is in a call comes after its begin()
};

}  // namespace raddle::vm
