#include "gpu/simulated/simulated_devices.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <utility>

namespace raddle::gpu {

namespace {

class SimulatedKernel final : public vm::DeviceKernel {
 public:
  SimulatedKernel(raddle_leaf_function code, std::int64_t lanes) : DeviceKernel(lanes), code(code) {}
  const raddle_leaf_function code;
};

using Clock = std::chrono::steady_clock;

}  // namespace

/// A batch with its warps. They share two words: the least number of a point that does not end well, which each lowers
/// (relaxed), and how many warps have not ended (acq_rel): who ends last has all that the others have written, and
/// tells.
struct SimulatedDevices::Launch {
  Launch(vm::DeviceBatch given, unsigned most_warps, vm::DeviceLoad& load)
      : batch(std::move(given)),
        load(load),
        warps(static_cast<unsigned>(std::clamp<std::int64_t>((batch.count() + lanes - 1) / lanes, 1, most_warps))),
        unended(warps),
        made(batch.count()) {}

  void run(unsigned warp) {
    const auto code = static_cast<const SimulatedKernel&>(*batch.kernel).code;
    for (unsigned lane = 0; lane < lanes && batch.is_wanted(); ++lane) {
      std::int64_t words[] = {warp * lanes + lane, warps * lanes};
      code(batch.run, batch.words.data(), words, nullptr);
      std::int64_t least = made.load(std::memory_order_relaxed);
      while (words[0] < least && !made.compare_exchange_weak(least, words[0], std::memory_order_relaxed)) {
      }
    }
    if (unended.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    load.end(batch);
    batch.done({.made = batch.is_wanted() ? made.load(std::memory_order_relaxed) : 0, .spent_ns = spent});
  }

  const vm::DeviceBatch batch;
  vm::DeviceLoad& load;
  const unsigned warps;
  Clock::time_point begin;  ///< of the first warp; guarded by SimulatedDevices::mutex_ until all have begun
  unsigned begun = 0;       ///< warps; guarded likewise
  std::atomic<unsigned> unended;
  std::atomic<std::int64_t> made;
};

SimulatedDevices::SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs) : warps_(warps), costs_(costs) {}

SimulatedDevices::~SimulatedDevices() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void SimulatedDevices::prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry, vm::KernelCompiler& compiler,
                               std::function<void(std::shared_ptr<const vm::DeviceKernel>)> done) {
  compiler.request(kernels, entry,
                   [done = std::move(done), lanes = std::int64_t{warps_} * lanes](raddle_leaf_function code) {
                     done(code ? std::make_shared<SimulatedKernel>(code, lanes) : nullptr);
                   });
}

void SimulatedDevices::submit(vm::DeviceBatch batch) {
  load_.begin(batch);
  auto launch = std::make_shared<Launch>(std::move(batch), warps_, load_);
  std::unique_lock lock(mutex_);
  if (!has_threads()) {
    lock.unlock();
    load_.end(launch->batch);
    return launch->batch.done({.is_lost = true});
  }
  launches_.push_back(std::move(launch));
  submitted_.notify_all();
}

/// Starts them, fewer if the system has no more. @pre mutex_ is held
bool SimulatedDevices::has_threads() {
  try {
    while (threads_.size() < warps_) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  } catch (const std::system_error&) {
  }
  return !threads_.empty();
}

void SimulatedDevices::work(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!submitted_.wait(lock, stop, [this] { return !launches_.empty(); })) return;
    const std::shared_ptr<Launch> launch = launches_.front();
    if (launch->begun == 0) launch->begin = Clock::now();
    const unsigned warp = launch->begun++;
    if (launch->begun == launch->warps) launches_.pop_front();
    lock.unlock();
    launch->run(warp);
  }
}

}  // namespace raddle::gpu
