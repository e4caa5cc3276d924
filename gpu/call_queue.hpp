#pragma once
// Calls of AppKernels that wait for a device.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "gpu/memory/card_memory.hpp"
#include "vm/device/devices.hpp"
#include "vm/place/links.hpp"

namespace raddle::gpu {

class CallPlacement;
struct CallBundle;
struct LoadsAhead;
struct PlacedRead;

/// How calls that read large arrays are placed.
struct CallPlacing {
  std::string policy{};         ///< one of vm::policy_names(); "": nothing is placed
  vm::Links links{};            ///< of the host and the cards
  std::size_t calls_ahead = 0;  ///< of a card, whose arrays it loads before they are given to it
};

/// Calls of one kernel that wait come out together, as a bundle: so a device that is busy gets large ones, and one that
/// has nothing to do gets each call at once. Calls that read large arrays which cards know again come out as a policy
/// has them (CallPlacement), for the card that asks.
///
/// Threads: any. One mutex guards all. A card's memory asks for victims while it holds its own mutex: so the queue asks
/// no memory for anything while it holds its.
class CallQueue {
 public:
  /// An array of so many bytes is copied by itself, once for all calls that read it.
  static constexpr std::size_t large_bytes = std::size_t{1} << 20;
  static constexpr std::size_t most_calls = 4096;  ///< of a bundle
  static constexpr std::size_t most_bytes =
      std::size_t{256}
      << 20;  ///< that its calls read and fill, without large arrays that they read; a call may have more

  CallQueue();
  ~CallQueue();

  /// Calls with large arrays are placed from now on. Before the first call.
  /// @param memories  by card; each outlives this, or is there until another one is in its place
  void place_by(CallPlacing way, std::vector<std::shared_ptr<CardMemory>> memories);
  /// The card was opened anew.
  void replace_memory(unsigned card, std::shared_ptr<CardMemory> memory);
  /// The card will not ask again.
  void give_up(unsigned card);

  /// @param now_ns  by the clock of the devices
  void push(vm::DeviceCall call, std::int64_t now_ns);
  /// What waits now.
  std::vector<vm::DeviceCall> take_all();
  /// Waits for calls. @param askers  the cards that it may be for, the first of which there is something for gets it
  /// @return at most so many, of one kernel; none: to stop
  CallBundle take(const std::stop_token& stop, const std::function<std::vector<unsigned>()>& askers,
                  std::size_t most = most_calls);
  /// Of what was taken, before their owners hear of it. Waits for who loads ahead for its calls.
  /// @param has_run  what it reads is on the card
  void end(const CallBundle& bundle, bool has_run);
  /// Copies to the card what its next calls read, as far as there is room, while it computes what it has taken.
  /// @return what that cost  @error  the engine's number
  std::expected<vm::DeviceTraffic, int> load_ahead(unsigned card, CardMemory& memory, CopyEngine& engine);

 private:
  struct Bundle {
    std::deque<vm::DeviceCall> calls;
    std::size_t bytes = 0;
  };
  static std::size_t bytes_of(const vm::DeviceCall& call);
  static std::vector<PlacedRead> placed_reads_of(const vm::DeviceCall& call);
  void place(vm::DeviceCall call, std::vector<PlacedRead> reads, std::int64_t now_ns,
             std::unique_lock<std::mutex>& lock);
  void begin_placing(std::unique_lock<std::mutex>& lock);
  void let_choose_victims(unsigned card, CardMemory& memory);
  std::vector<vm::DeviceCall> take_first(std::size_t most);

  std::mutex mutex_;  ///< guards all below
  std::condition_variable_any changed_;
  std::deque<Bundle> bundles_;  ///< in the order of their first calls
  unsigned waiting_ = 0;        ///< threads: a push that finds none of them tells nobody
  CallPlacing way_;
  std::vector<std::shared_ptr<CardMemory>> memories_;  ///< by card; null: it is given up
  std::unique_ptr<CallPlacement> placed_;              ///< from the first call with large arrays on
  std::uint64_t changes_ = 0;                          ///< of what cards may get of the placed calls
};

}  // namespace raddle::gpu
