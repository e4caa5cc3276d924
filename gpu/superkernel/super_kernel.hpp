#pragma once
// A super kernel that is there when it is needed: tasks are given to it, it is launched, and watched.
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "gpu/superkernel/producer.hpp"

namespace raddle::gpu::superkernel {

/// What launches the kernel: on a GPU, or on threads of the host.
class KernelLauncher {
 public:
  virtual ~KernelLauncher() = default;
  /// The kernel before it has ended, or does so now: this one begins when that one is gone. @return false: it can not
  /// be
  virtual bool launch(const Queues& queues) = 0;
  /// Waits until the kernel, which has been told to end, is gone.
  virtual void wait() = 0;
  /// It is known that the last one has ended in a way it should not.
  virtual bool has_failed() = 0;
};

/// Tasks that it has no descriptors for wait. One thread takes the completions: it launches the kernel when there is
/// something to do, and sleeps when there is nothing, while the kernel ends by itself after some idle time. A task that
/// came while the kernel was ending is under way for that thread, which sees that the kernel has ended and launches the
/// next one: so who submits need not look whether there is a kernel.
///
/// That the kernel is lost is noticed by any thread: by the one that takes completions, by one that swaps, or by an
/// owner, who gives it up. All of them only set is_lost_, which never changes again. Of tasks that were taken in the
/// thread that takes completions alone tells that they are lost, as it alone tells how they have ended: so nobody frees
/// what it has in hand. While there are some it does not sleep, and sees is_lost_ soon; where there are none nobody has
/// to be told. Who submits afterwards hears it at once; one that has not seen is_lost_ yet has his task under way, for
/// which that thread looks once more.
class SuperKernel {
 public:
  /// @param made  of how many points, from the first one on; more than there are: of all. None: the task is lost, as
  /// the
  ///              kernel can not be launched, fails, beats no more or was given up
  using Done = std::function<void(std::optional<std::uint64_t> made)>;

  /// @param memory     as the host sees it
  /// @param queues     as the device sees them, with idle_ns and workers
  /// @param silent_ns  a kernel that is to run and has not beaten for so long is lost
  /// @param launcher   outlives this
  SuperKernel(const QueueSizes& sizes, const HostBlock& memory, const Queues& queues, std::uint64_t silent_ns,
              KernelLauncher& launcher);
  /// Ends the kernel. @pre all tasks have been told
  ~SuperKernel();

  /// Any thread; never waits. @param done  called on another thread, or here if the kernel is lost
  void submit(const QueueTask& task, Done done);
  /// Ends the kernel, calls `change` while there is none, and lets it be launched again. Tasks that it has not begun
  /// are the next one's. Any thread. @return false: not called, as the kernel is lost
  bool swap(const std::function<void()>& change);
  /// It can not be launched, has failed, beats no more or was given up; it may be there for ever. Any thread.
  bool is_lost() const { return is_lost_; }
  /// Whatever it beats, it is lost, and so are all tasks. Any thread.
  void give_up() { is_lost_ = true; }

 private:
  struct Given {
    QueueTask task;
    Done done;
    std::list<Given>::iterator self{};
  };
  void work();
  enum class Presence : std::uint8_t { runs, is_new, none };
  Presence need_kernel();
  bool has_ended() const;
  bool comes_to_end();
  void give_waiting();
  void tell(Given& given, std::optional<std::uint64_t> made);
  void lose_all();

  const HostBlock memory_;
  const std::uint64_t silent_ns_;
  KernelLauncher& launcher_;
  Producer producer_;
  std::mutex launching_;  ///< guards the next one, and launches
  Queues queues_;         ///< queues_.launch: number of the last launch
  std::mutex mutex_;      ///< guards the next two
  std::list<Given> given_;
  std::deque<Given*> waiting_;  ///< those of them that have no descriptor yet
  /// Tasks that were submitted and not told, and one more at the end. Seq_cst, as who waits for it sleeps by it.
  std::atomic<std::uint64_t> under_way_{0};
  std::atomic<bool> is_closing_{false};  ///< written before under_way_ is raised for the last time
  std::atomic<bool> is_lost_{false};     ///< publishes nothing; under launching_ it keeps launches away
  std::jthread thread_;                  ///< last: uses all of the above
};

}  // namespace raddle::gpu::superkernel
