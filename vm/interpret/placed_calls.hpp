#pragma once
// Calls that read large arrays where these have less memory than they need: which call is next, and what goes for it.
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vm/device/device_traffic.hpp"
#include "vm/interpret/frame.hpp"
#include "vm/interpret/placed_counters.hpp"
#include "vm/memory/bounded_memory.hpp"
#include "vm/place/policy.hpp"
#include "vm/place/residency.hpp"

namespace raddle::vm {

class RunWorker;

/// Note [placed calls]. Under `--memory` calls with arrays of numbers as arguments, or with a dense array as a result,
/// are not made where their inputs are set: a PlacedCall waits for these, and the policy of `--place` says which of
/// those that are ready is next. Its data are the arrays' blocks that some known call reads, be it ready or not. Its
/// one device is the process, whose workers share the memory. What the policy evicts goes first when there is no room
/// (BoundedMemory::spare), what the next calls read is fetched meanwhile; that a block has left memory for other
/// reasons is told to it before it decides again. All that is made within a placed call is made as ever.
///
/// Each ready call has a turn in the queues of the pool, after all tasks that have no priority: so loops run ahead
/// until nothing but calls is left. A turn takes the call that is best then, which need not be the one that it was
/// queued for.
///
/// A call that reads no block and makes a dense array takes memory and gives none back. It goes when no other one is
/// ready; but before all others if several calls wait for what such calls make, as the more of these are ready, the
/// less often each array comes (a product of 2 x 32 tiles, memory for 15: 130 loads in place of 600). These go in the
/// order of the loops. Calls of a kind that makes none but small arrays are not placed again.
///
/// A call that alone still reads all that it reads, which is there, gives memory back and can take nothing from others:
/// it goes before all others. Policies would let it wait until their plan ends, and what it reads would leave memory
/// (sums of 12 x 12 products, memory for 30: 121 loads in place of none).
///
/// Falls short: single calls of the library and loops that stand outside of such calls are not placed; in a sweep each
/// point's machine reckons with the whole limit.
///
/// Threads: any. The mutex is never held where numbers are touched, and is taken before that of the memory.
class PlacedCalls {
 public:
  using CallId = std::uint32_t;
  struct Call {
    Frame* frame = nullptr;  ///< a reference is held until it has been made
    std::uint32_t instruction = no_id;
    std::int32_t priority = 0;
    std::uint64_t order = 0;  ///< order_of_call()
  };
  struct Taken {
    CallId id = 0;
    Call call;
  };
  /// @param policy  one of policy_names()
  PlacedCalls(std::string_view policy, BoundedMemory& memory);

  /// Whether calls there are placed.
  bool takes(const CallSite& site);
  /// Of one more call in the frame: by the outermost loop around it, as loops stand in the program's text; of one loop
  /// as it comes to them.
  std::uint64_t order_of_call(const Frame& frame);
  /// A call that is not ready yet reads the block. @param reads  all that it does so far: gets the block, once
  /// @param order  order_of_call()  @param array  where the array was declared
  void expect(BoundedMemory::Block& block, const Place& array, std::vector<BoundedMemory::Block*>& reads,
              std::uint64_t order);
  /// It is made in another way.
  void forget(std::span<BoundedMemory::Block* const> reads, std::uint64_t order);
  /// It is ready: a turn is to be queued for it.
  void release(const Call& call, std::span<BoundedMemory::Block* const> reads);
  /// The call that goes next, for a turn.
  Taken take(unsigned worker);
  /// It has been made. @param here  of its run
  void finish(RunWorker& here, CallId id);

  PlacedCounters counters() const;
  /// Of all arrays; those that no placed call has made or read have no name.
  ArrayTraffics arrays() const;

 private:
  struct Datum {
    BoundedMemory::Block* block = nullptr;  ///< null: the number is free, or the array is no more
    std::uint32_t readers = 0;              ///< calls that are not made yet
  };
  /// Of a call that runs.
  struct Start {
    std::int64_t time_ns = 0;
    std::uint64_t made_bytes = 0;  ///< by its worker before
    std::uint64_t to_be_made = 0;  ///< bytes of arrays, as calls of its kind have made
    unsigned worker = 0;
  };
  /// Of calls made at one place of a program.
  struct Costs {
    std::int64_t duration_ns = 0;  ///< lately; 0: there was none
    std::uint64_t made_bytes = 0;  ///< of arrays, at most
  };
  void name(BoundedMemory::Block& block, const Place& array);
  DataId datum_of(BoundedMemory::Block& block);
  void note_what_left();
  void end_reading(DataId data);
  void load(DataId data);
  bool make_room_for(std::int64_t bytes, LoadKind kind);
  void fill_buffer();
  bool is_startable(TaskId id) const;
  bool fetch(TaskId id, LoadKind kind);
  void fetch_ahead();
  void reserve(CallId id);
  void note_costs(unsigned worker, CallId id);
  CallId choose();
  CallId start_reading(CallId id);
  CallId start_making();
  void note_results(const Call& call, const PlacedTask& task);
  std::int64_t room() const;

  BoundedMemory& memory_;
  std::atomic<std::uint32_t> calls_seen_{0};  ///< relaxed: they are only to differ
  mutable std::mutex mutex_;                  ///< guards all below
  BoundedMemory::Watch watch_;
  PlacedTasks tasks_;  ///< by CallId
  Residency residency_;
  const std::unique_ptr<Policy> policy_;
  std::vector<Call> calls_;         ///< by CallId
  std::vector<Start> starts_;       ///< likewise, of those that run
  std::vector<CallId> free_calls_;  ///< numbers that are not used
  std::deque<CallId> finishing_;    ///< ready ones that alone still read what they read
  std::deque<CallId> making_;       ///< ready ones that read no block
  std::vector<Datum> data_;         ///< by DataId
  std::vector<DataId> free_data_;
  std::unordered_map<BoundedMemory::Block*, DataId> ids_;
  std::unordered_map<const CallSite*, Costs> costs_;
  std::unordered_set<const CallSite*> make_little_;     ///< read nothing, and make no block
  std::unordered_set<const CallSite*> makes_for_many_;  ///< likewise, and several calls wait for what is made
  std::uint32_t arrivals_ = 0;
  std::uint64_t to_be_made_ = 0;  ///< bytes of arrays, by calls that run
  PlacedCounters counters_;
  std::map<Place, std::uint32_t> names_;  ///< of blocks: by where their arrays were declared
};

}  // namespace raddle::vm
