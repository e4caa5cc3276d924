#pragma once
// What one run has devices do.
#include <atomic>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vm/device/device_rule.hpp"
#include "vm/device/device_run.hpp"
#include "vm/device/device_use.hpp"
#include "vm/device/devices.hpp"
#include "vm/device/launch_kernel.hpp"
#include "vm/program/program.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

/// Threads: any. The devices' callbacks may come after the run has ended: then they find it closed.
class DeviceWork {
 public:
  /// @param compiler  null: there is no code, nothing goes. All outlive this
  DeviceWork(std::shared_ptr<Devices> devices, KernelCompiler* compiler, const Program& program, WorkerPool& pool);
  ~DeviceWork() { close(); }
  /// The run has ended: batches that are under way are dropped, and waited for. Before their tasks are freed.
  void close() {
    if (compiler_) compiler_->cut();
    shared_->close();
  }

  /// It is for some loop that takes_whole() may be true.
  bool takes_some_whole() const { return takes_some_whole_; }
  /// Points of the loop may go. If not, that is noted, once. @param place  gives the loop's CallPlace
  template <typename GivePlace>
  bool may_go(const ForeachSite& site, const GivePlace& place) {
    const Known known = known_[index_of(site)].load(std::memory_order_acquire);
    return known == Known::nothing ? look_at(site, place()) : known != Known::stays;
  }
  /// All of it goes as soon as there is code, whatever it costs. @pre may_go() has been true, here and below
  bool takes_whole(const ForeachSite& site) const {
    return takes_all_whole_ || known_[index_of(site)].load(std::memory_order_relaxed) == Known::goes_whole;
  }
  const LaunchKernel& kernel(const ForeachSite& site) const { return *kernels_[index_of(site)]; }
  enum class Stage : std::uint8_t { unknown, requested, ready, impossible };
  Stage stage(const ForeachSite& site) const {
    return shared_->entries[index_of(site)].stage.load(std::memory_order_acquire);
  }
  /// How many devices share a launch that goes whole: none of them gets less than a wave. @pre stage(site) is ready
  std::int64_t sharers(const ForeachSite& site, std::int64_t points) const;
  /// Injects `task` as soon as it is known whether there is code for the loop, for which it asks. @return false if that
  /// is known already: not kept
  bool wait(const ForeachSite& site, Task& task);
  /// How many points of a range are to go now, by what was measured. Asks for code if that is worth while.
  /// @param all  points of the whole launch, about  @param range  without what devices have shown
  std::int64_t points_to_go(const ForeachSite& site, std::int64_t all, LaunchOutlook range);
  /// Has the batch computed: `outcome` is filled then, and `task` injected. @pre stage(site) is ready
  /// @param batch  without kernel, run and done
  void submit(const ForeachSite& site, DeviceBatch batch, DeviceOutcome& outcome, Task& task);

  /// Not while the run goes on.
  std::vector<DeviceUse> uses() const;
  std::vector<DeviceShare> shares() const;        ///< in the order of the program
  std::vector<DeviceObstacle> obstacles() const;  ///< none if no device was opened

 private:
  enum class Known : std::uint8_t { nothing, may_go, goes_whole, stays };
  struct Entry {
    std::atomic<Stage> stage{Stage::unknown};  ///< release, under the mutex; publishes `kernel`
    std::shared_ptr<const DeviceKernel> kernel;
    std::atomic<std::int64_t> wave_ns{0};  ///< LaunchOutlook::wave_ns, by the last batch; a hint: relaxed
    std::atomic<double> worker_ns{0};      ///< LaunchOutlook::worker_ns, likewise
    Task* waiting = nullptr;               ///< guarded by the mutex; each has a hold of the pool
    CallPlace place;                       ///< of the loop; likewise
    bool is_placed = false;                ///< `@gpu`; likewise
    std::vector<std::uint64_t> computed;   ///< points, by device; likewise
  };
  struct Shared : DeviceRun {
    Shared(WorkerPool& pool, std::size_t count) : DeviceRun(pool), entries(count) {}
    void prepared(std::size_t site, std::expected<std::shared_ptr<const DeviceKernel>, std::string> kernel);
    void done(std::size_t site, std::int64_t count, const DeviceOutcome& outcome, Task& task);

    std::vector<Entry> entries;                       ///< by index of Program::foreaches
    std::map<std::size_t, DeviceObstacle> obstacles;  ///< likewise; guarded by the mutex, as is what follows
    std::vector<DeviceUse> uses;                      ///< by device
  };
  std::size_t index_of(const ForeachSite& site) const {
    return static_cast<std::size_t>(&site - program_.foreaches.data());
  }
  bool look_at(const ForeachSite& site, CallPlace place);
  void request(const ForeachSite& site);

  const std::shared_ptr<Devices> devices_;
  const std::shared_ptr<CompilerLink> compiler_;  ///< null: there is none
  const Program& program_;
  const DeviceCosts costs_;
  const bool takes_all_whole_, takes_some_whole_;
  /// By index of Program::foreaches. Release, under the mutex; publishes what `kernels_` has.
  std::vector<std::atomic<Known>> known_;
  std::vector<std::unique_ptr<const LaunchKernel>> kernels_;  ///< likewise
  std::shared_ptr<Shared> shared_;
};

}  // namespace raddle::vm
