#pragma once
// What one run has devices do of its calls of AppKernels.
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vm/device/device_run.hpp"
#include "vm/device/device_use.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

/// Note [single calls]. A call takes a warp of a device about as long as it takes a worker, or longer, but a device
/// runs thousands side by side. So calls are shared out: workers keep as many of them as is their part of the speed of
/// all. Code for devices is asked for when workers have spent as much on a kernel's calls as it costs to get the code.
/// And as nobody knows how many calls are still to come, a call goes only if the device needs at most a quarter of the
/// time that has passed since the first call of its kernel: at the end a run may wait for a slow device so long, not
/// longer.
/// `@gpu` before the kernel has all of its calls go.
///
/// Threads: any.
class DeviceCalls {
 public:
  /// @param compiler  null: none go. All outlive this
  DeviceCalls(std::shared_ptr<Devices> devices, AppKernelCompiler* compiler, const Program& program, WorkerPool& pool);
  ~DeviceCalls() { close(); }
  /// As DeviceRun::close().
  void close() { shared_->close(); }

  enum class Way : std::uint8_t {
    here,   ///< a worker runs it
    there,  ///< submit() it
    later,  ///< wait() until it is known
  };
  /// A call need not be a worker's; way_of_call() decides.
  /// @param foreign  index into Program::foreigns, here and below
  bool may_go(std::uint32_t foreign) { return way_of_call(foreign, /*draws=*/false) != Way::here; }
  /// How a call is to be run now. Once for each call, but after `later`: workers get their part of the answers.
  Way way_of_call(std::uint32_t foreign) { return way_of_call(foreign, /*draws=*/true); }
  /// A worker has run a call.
  void note(std::uint32_t foreign, std::int64_t spent_ns);
  /// Injects the task as soon as it is known whether there is code. @return false if that is known already: not kept
  bool wait(std::uint32_t foreign, Task& task);
  /// Has the call made: `outcome` is filled then, and `task` injected. @pre its way was `there`
  /// @param call  without kernel, run and done
  void submit(std::uint32_t foreign, DeviceCall call, DeviceOutcome& outcome, Task& task);

  /// Not while the run goes on.
  std::vector<DeviceUse> uses() const;
  std::vector<DeviceObstacle> obstacles() const;  ///< none if no device was opened

 private:
  enum class Stage : std::uint8_t { unknown, requested, ready, impossible };
  /// What is known of a kernel. All but what says otherwise are hints, relaxed.
  struct Entry {
    Placement placement = Placement::any;
    Place place;
    std::atomic<Stage> stage{Stage::unknown};  ///< release, under the mutex; publishes `kernel`
    std::shared_ptr<const DeviceKernel> kernel;
    Task* waiting = nullptr;  ///< guarded by the mutex, as is `obstacle`
    std::string obstacle;
    std::atomic<std::int64_t> first_ns{0};   ///< when the first call was made; 0: none was
    std::atomic<std::int64_t> spent_ns{0};   ///< of workers, all calls
    std::atomic<std::int64_t> worker_ns{0};  ///< of a call, lately; 0: not known
    std::atomic<std::int64_t> device_ns{0};  ///< likewise, from submit() to the end
    std::atomic<std::int64_t> under_way{0};
    std::atomic<std::uint64_t> calls{0};  ///< that devices could have had
  };
  /// What devices have done of calls.
  struct Use {
    std::uint64_t calls = 0;
    DeviceTraffic traffic;
  };
  struct Shared : DeviceRun, CallReceiver {
    Shared(WorkerPool& pool, std::size_t count) : DeviceRun(pool), entries(count) {}
    void prepared(std::size_t foreign, std::expected<std::shared_ptr<const DeviceKernel>, std::string> kernel);
    void ended(std::span<const EndedCall> calls) override;
    std::vector<Entry> entries;  ///< by index of Program::foreigns
    std::vector<Use> uses;       ///< by device; guarded by the mutex
  };
  Way way_of_call(std::uint32_t foreign, bool draws);
  void request(std::uint32_t foreign);
  bool is_workers_part(Entry& entry) const;

  const std::shared_ptr<Devices> devices_;
  AppKernelCompiler* const compiler_;
  const Program& program_;
  const DeviceCosts costs_;
  const double workers_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace raddle::vm
