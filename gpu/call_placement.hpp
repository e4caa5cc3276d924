#pragma once
// Which call of an AppKernel that reads large arrays goes to which card next.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu/call_queue.hpp"
#include "gpu/memory/card_memory.hpp"
#include "vm/device/devices.hpp"
#include "vm/place/policy.hpp"
#include "vm/place/residency.hpp"

namespace raddle::gpu {

/// A large array that a call reads.
struct PlacedRead {
  BufferPart part;
  vm::DeviceSet there = 0;  ///< cards that have it, as they said
};

/// What the next calls of a card read.
struct LoadsAhead {
  unsigned card = 0;
  std::vector<vm::TaskId> tasks{};            ///< of the calls
  std::vector<std::vector<Operand>> reads{};  ///< by call
};

/// Calls of one kernel, for one launch.
struct CallBundle {
  std::vector<vm::DeviceCall> calls;
  // what follows is of placed calls
  std::optional<unsigned> card{};
  std::vector<vm::TaskId> tasks{};
  std::int64_t given_ns = 0;  ///< when the last of them was released
};

/// Note [placed calls of AppKernels]. A call is placed if it reads a large array of a buffer that cards know again. To
/// a policy of vm/place it is a task that is released when it is submitted; its data are the large arrays that calls
/// read which are not over. A card that asks gets a bundle of what the policy gives it next. While it has the bundle,
/// all that this reads stays, or is on its way there; the card's memory (CardMemory) sees to that by itself, and what
/// is noted here follows it. What a bundle reads is loaded while others are computed, as each card has several threads,
/// and may be an eighth of its memory: so four bundles leave one half for copies that wait. A card that has taken one
/// may load ahead what its next calls read, an eighth of its memory at most: these, a few, wait in its *task buffer*,
/// and are what it takes next. None of them is over before whoever loads for it is through, as he reads the call's
/// memory.
///
/// A card that lacks room asks what goes: copies of which no such call reads anything, in the order of their use; then
/// what the policy names. A result is such a copy until a call that reads it is submitted.
///
/// Nobody here knows which calls will come, nor which call has released which. So to policies the order of the program
/// is that in which calls come, and they are as urgent as `@prio` says.
///
/// Threads: one at a time (CallQueue).
class CallPlacement {
 public:
  /// @param memory_bytes  of each card
  CallPlacement(const CallPlacing& way, unsigned cards, std::size_t memory_bytes);

  /// Whether some call that is not over reads it.
  bool knows(const BufferPart& part) const { return data_of_parts_.contains(part); }
  std::size_t waiting() const { return waiting_; }  ///< calls that no card computes
  /// @param reads  its large arrays that have a buffer  @param now_ns  by the clock of the devices
  void release(vm::DeviceCall call, std::span<const PlacedRead> reads, std::int64_t now_ns);
  /// @param most  calls  @return none: there is nothing for the card now
  std::optional<CallBundle> take(unsigned card, std::size_t most);
  /// The card has the bundle no more. @param has_run  what it reads is there  @pre !is_loading(bundle.tasks)
  void end(const CallBundle& bundle, bool has_run);
  /// What the card is to load ahead now: it lacks something that each of the calls reads.
  LoadsAhead begin_loads_ahead(unsigned card);
  /// @param are_there  by call: what it reads
  void end_loads_ahead(const LoadsAhead& loads, const std::vector<bool>& are_there);
  bool is_loading(std::span<const vm::TaskId> tasks) const;
  bool is_loading() const { return loading_ != 0; }
  /// All that no card has, which is over. @pre !is_loading()
  std::vector<vm::DeviceCall> take_all();

  /// Which copy the card is to forget: as ChooseVictim has it.
  std::optional<std::size_t> victim(unsigned card, std::span<const BufferPart> copies, vm::LoadKind load);
  /// The card has nothing any more.
  void lose(unsigned card);
  /// It will not ask again: what it was meant to get others get.
  void give_up(unsigned card);

 private:
  struct Datum {
    BufferPart part;
    std::uint32_t readers = 0;  ///< calls that are not over
  };
  struct Entry {
    vm::DeviceCall call;
    std::int64_t given_ns = 0;
    unsigned loading = 0;  ///< how many load ahead for it
  };
  std::size_t share_of_card() const;
  vm::DataId datum_of(const BufferPart& part);
  void note_presence(vm::DataId data, vm::DeviceSet cards);
  void end_reading(vm::DataId data);
  std::optional<vm::TaskId> next_of(unsigned card);
  std::optional<vm::TaskId> front_of(unsigned card);
  void start(unsigned card, vm::TaskId id);
  std::int64_t bytes_beside(std::vector<vm::DataId>& data, vm::TaskId id) const;
  vm::DeviceCall taken(vm::TaskId id);
  bool is_known(const BufferPart& copy) const;
  void forget(unsigned card, const BufferPart& copy);

  const std::size_t calls_ahead_;
  const std::int64_t bundle_bytes_;  ///< that a bundle reads and fills, if it is more than one call
  vm::PlacedTasks tasks_;
  vm::Residency residency_;
  const std::unique_ptr<vm::Policy> policy_;
  std::vector<Entry> entries_;  ///< by TaskId
  std::vector<vm::TaskId> free_tasks_;
  std::vector<Datum> data_;  ///< by DataId
  std::vector<vm::DataId> free_data_;
  std::map<BufferPart, vm::DataId> data_of_parts_;
  std::vector<unsigned> given_up_;
  std::size_t waiting_ = 0;
  std::size_t loading_ = 0;  ///< of all entries
  std::uint32_t arrivals_ = 0;
};

}  // namespace raddle::gpu
