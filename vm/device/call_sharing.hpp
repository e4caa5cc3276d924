#pragma once
// Which calls that are no points of a loop devices make, and which workers.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vm/device/device_run.hpp"
#include "vm/device/device_use.hpp"
#include "vm/kernel/placement.hpp"
#include "vm/value/failure.hpp"

namespace raddle::vm {

/// Note [single calls]. A call takes a device about as long as it takes a worker, or longer, but a device runs
/// thousands side by side. So calls are shared out: workers keep as many of them as is their part of the speed of all.
/// Code for devices is asked for when workers have spent as much on a function's calls as it costs to get the code. And
/// as nobody knows how many calls are still to come, a call goes only if the device needs at most a quarter of the time
/// that has passed since the first call of its function: at the end a run may wait for a slow device so long, not
/// longer.
/// `@gpu` before the function has all of its calls go.
///
/// Functions have numbers here, which the kinds of calls give them. Threads: any.
class CallSharing {
 public:
  enum class Way : std::uint8_t {
    here,   ///< a worker makes it
    there,  ///< a device
    later,  ///< wait() until it is known
  };
  /// A call need not be a worker's, though it may be drawn for one: way_of_call() decides.
  bool may_go(std::uint32_t function) { return way_of_call(function, /*draws=*/false) != Way::here; }
  /// How a call is to be made now. Once for each call, but after `later`: workers get their part of the answers.
  Way way_of_call(std::uint32_t function) { return way_of_call(function, /*draws=*/true); }
  /// There is, or may be, code.
  bool is_possible(std::uint32_t function) const {
    return shared_->entries[function].stage.load(std::memory_order_relaxed) != Stage::impossible;
  }
  /// A worker has made a call. @param calls  that took as long, with it: of short ones not each has to be told of
  void note(std::uint32_t function, std::int64_t spent_ns, std::int64_t calls = 1);
  /// Injects the task as soon as it is known whether there is code. @return false if that is known already: not kept
  bool wait(std::uint32_t function, Task& task);

  /// As DeviceRun::close().
  virtual void close() { shared_->close(); }
  /// Not while the run goes on.
  std::vector<DeviceUse> uses() const;
  std::vector<DeviceShare> shares() const;
  std::vector<DeviceObstacle> obstacles() const;  ///< none if no device was opened

 protected:
  /// Of the calls.
  struct Kind {
    std::int64_t lanes = 1;     ///< of a device that a call takes
    std::int64_t slowness = 1;  ///< so many times slower than on a worker it is there, as long as nobody knows better
    std::int64_t code_ns = 0;   ///< that code takes, beside what devices say they take
    DevicePart part = DevicePart::function;
  };
  enum class Stage : std::uint8_t { unknown, requested, ready, impossible };
  /// What is known of a function. All but what says otherwise are hints, relaxed.
  struct Entry {
    Placement placement = Placement::any;
    Place place;
    std::string name;
    std::atomic<Stage> stage{Stage::unknown};  ///< release, under the mutex; publishes `kernel`
    std::shared_ptr<const DeviceKernel> kernel;
    Task* waiting = nullptr;  ///< guarded by the mutex, as what follows
    std::string obstacle;
    std::vector<std::uint64_t> computed;     ///< calls, by device; likewise
    std::atomic<std::int64_t> first_ns{0};   ///< when a worker had made the first call; 0: none has
    std::atomic<std::int64_t> spent_ns{0};   ///< of workers, all calls
    std::atomic<std::int64_t> worker_ns{0};  ///< of a call, lately; 0: not known
    std::atomic<std::int64_t> device_ns{0};  ///< likewise, from begin_call() to the end
    std::atomic<std::int64_t> under_way{0};
    std::atomic<std::int64_t> waiting_bundles{0};  ///< calls of leaves that wait for other batches to end
    std::atomic<std::uint64_t> calls{0};           ///< that devices could have had
  };
  /// What devices have done of calls.
  struct Use {
    std::uint64_t calls = 0;
    DeviceTraffic traffic;
  };
  struct Shared : DeviceRun {
    Shared(WorkerPool& pool, std::size_t count) : DeviceRun(pool), entries(count) {}
    void prepared(std::uint32_t function, std::expected<std::shared_ptr<const DeviceKernel>, std::string> kernel);
    /// A device has a call from here on. @return when that is
    std::int64_t begin_call(std::uint32_t function);
    /// It has ended.
    void end_call(std::uint32_t function, std::int64_t begun_ns, bool is_made);
    /// Of a call, or of a batch. @pre the mutex is held
    void note_outcome(std::uint32_t function, const DeviceOutcome& outcome);
    std::vector<Entry> entries;
    std::vector<Use> uses;  ///< by device; guarded by the mutex
  };

  CallSharing(std::shared_ptr<Devices> devices, WorkerPool& pool, const Kind& kind, std::shared_ptr<Shared> shared);
  ~CallSharing() = default;
  /// Asks for code; the answer goes to Shared::prepared(). Once for each function.
  virtual void prepare(std::uint32_t function) = 0;

  const std::shared_ptr<Devices> devices_;

 private:
  Way way_of_call(std::uint32_t function, bool draws);
  void request(std::uint32_t function);
  bool is_workers_part(Entry& entry) const;

  const DeviceCosts costs_;
  const Kind kind_;
  const double workers_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace raddle::vm
