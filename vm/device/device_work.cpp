#include "vm/device/device_work.hpp"

#include <algorithm>

#include "vm/device/obstacle.hpp"

namespace raddle::vm {

namespace {

const void* const dropped = reinterpret_cast<const void*>(~std::uintptr_t{0});

}  // namespace

bool DeviceBatch::is_wanted() const {
  return std::atomic_ref<const void*>(run->stack_limit).load(std::memory_order_relaxed) != dropped;
}

DeviceWork::DeviceWork(std::shared_ptr<Devices> devices, KernelCompiler* compiler, const Program& program,
                       WorkerPool& pool)
    : devices_(std::move(devices)),
      compiler_(compiler),
      program_(program),
      costs_(devices_->costs()),
      known_(program.foreaches.size()),
      shared_(std::make_shared<Shared>(program.functions.size())) {
  shared_->pool = &pool;
}

void DeviceWork::close() {
  std::atomic_ref<const void*>(shared_->run.stack_limit).store(dropped, std::memory_order_relaxed);
  std::unique_lock lock(shared_->mutex);
  shared_->ended.wait(lock, [this] { return shared_->under_way == 0; });
  shared_->pool = nullptr;
}

bool DeviceWork::may_go(const ForeachSite& site, Place place) {
  const auto index = static_cast<std::size_t>(&site - program_.foreaches.data());
  const Known known = known_[index].load(std::memory_order_relaxed);
  if (known != Known::nothing) return known == Known::may_go;
  const std::string obstacle = compiler_ ? obstacle_of(program_, site) : "nothing is compiled";
  known_[index].store(obstacle.empty() ? Known::may_go : Known::stays, std::memory_order_relaxed);
  if (obstacle.empty()) return true;
  const std::lock_guard lock(shared_->mutex);
  shared_->obstacles.try_emplace(index, place, obstacle);
  return false;
}

void DeviceWork::request(FunctionId leaf) {
  Stage expected = Stage::unknown;
  if (!shared_->entries[leaf].stage.compare_exchange_strong(expected, Stage::requested, std::memory_order_acq_rel))
    return;
  std::vector<const Kernel*> kernels;
  for (const Kernel& kernel : program_.kernels) kernels.push_back(&kernel);
  const KernelEntry entry(KernelEntry::range, program_.functions[leaf].kernel_entry.reads);
  devices_->prepare(group_of(kernels, leaf), entry, *compiler_,
                    [shared = shared_, leaf](std::shared_ptr<const DeviceKernel> kernel) {
                      shared->prepared(leaf, std::move(kernel));
                    });
}

void DeviceWork::Shared::prepared(FunctionId leaf, std::shared_ptr<const DeviceKernel> kernel) {
  Entry& entry = entries[leaf];
  const std::lock_guard lock(mutex);
  entry.kernel = std::move(kernel);
  entry.stage.store(entry.kernel ? Stage::ready : Stage::impossible, std::memory_order_release);
  if (!pool) return;
  while (Task* task = entry.waiting) {
    entry.waiting = task->next;
    task->next = nullptr;
    pool->inject(*task);
    pool->release_hold();
  }
}

bool DeviceWork::wait(FunctionId leaf, Task& task) {
  request(leaf);  // before the lock: the answer may come at once, on this thread
  Entry& entry = shared_->entries[leaf];
  const std::lock_guard lock(shared_->mutex);
  if (entry.stage.load(std::memory_order_relaxed) != Stage::requested) return false;
  shared_->pool->hold();
  task.next = entry.waiting;
  entry.waiting = &task;
  return true;
}

std::int64_t DeviceWork::points_to_go(FunctionId leaf, std::int64_t all, LaunchOutlook range) {
  const Entry& entry = shared_->entries[leaf];
  const Stage known = stage(leaf);
  const LaunchOutlook whole{.points = std::max(all, range.points),
                            .worker_ns = range.worker_ns,
                            .workers = static_cast<double>(shared_->pool->capacity())};
  if (known == Stage::unknown && is_worth_code(costs_, whole)) request(leaf);
  if (known != Stage::ready || !devices_->is_hungry()) return 0;
  range.wave_ns = entry.wave_ns.load(std::memory_order_relaxed);
  range.lanes = entry.kernel->lanes;
  return points_for_devices(costs_, range);
}

void DeviceWork::submit(FunctionId leaf, DeviceBatch batch, DeviceOutcome& outcome, Task& task) {
  {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->under_way;
    shared_->pool->hold();
  }
  batch.kernel = shared_->entries[leaf].kernel;
  batch.run = &shared_->run;
  batch.done = [shared = shared_, leaf, count = batch.count(), &outcome, &task](const DeviceOutcome& found) {
    outcome = found;
    shared->done(leaf, count, found, task);
  };
  devices_->submit(std::move(batch));
}

void DeviceWork::Shared::done(FunctionId leaf, std::int64_t count, const DeviceOutcome& outcome, Task& task) {
  // points behind one that does not end well have been computed, too
  if (outcome.made > 0)
    entries[leaf].wave_ns.store(wave_ns_of(outcome.spent_ns, count, entries[leaf].kernel->lanes),
                                std::memory_order_relaxed);
  const std::lock_guard lock(mutex);
  if (outcome.is_lost) entries[leaf].stage.store(Stage::impossible, std::memory_order_release);  // it would be again
  if (outcome.device >= uses.size()) uses.resize(outcome.device + 1);
  ++uses[outcome.device].batches;
  uses[outcome.device].points += static_cast<std::uint64_t>(outcome.made);
  pool->inject(task);  // from here on a worker has it, and what it points to
  pool->release_hold();
  --under_way;
  ended.notify_all();
}

std::vector<DeviceUse> DeviceWork::uses() const {
  const std::lock_guard lock(shared_->mutex);
  std::vector<DeviceUse> all = shared_->uses;
  const std::vector<DeviceFacts> facts = devices_->facts();
  for (std::size_t i = 0; i < all.size() && i < facts.size(); ++i) all[i].name = facts[i].name;
  return all;
}

std::vector<DeviceObstacle> DeviceWork::obstacles() const {
  std::vector<DeviceObstacle> all;
  if (devices_->facts().empty()) return all;  // nobody has asked for one, or there is none
  const std::lock_guard lock(shared_->mutex);
  for (const auto& [index, obstacle] : shared_->obstacles) all.push_back(obstacle);
  return all;
}

}  // namespace raddle::vm
