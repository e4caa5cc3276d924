#include "vm/device/device_work.hpp"

#include <algorithm>
#include <utility>

namespace raddle::vm {

namespace {

/// The script says `@gpu` somewhere.
bool places_some(const Program& program) {
  const auto is_placed = [](const auto& part) { return part.placement == Placement::gpu; };
  return std::ranges::any_of(program.functions, is_placed) || std::ranges::any_of(program.foreaches, is_placed);
}

}  // namespace

DeviceWork::DeviceWork(std::shared_ptr<Devices> devices, KernelCompiler* compiler, const Program& program,
                       WorkerPool& pool)
    : devices_(std::move(devices)),
      compiler_(compiler ? std::make_shared<CompilerLink>(*compiler) : nullptr),
      program_(program),
      costs_(devices_->costs()),
      takes_all_whole_(costs_.takes == DeviceTakes::whole_launches),
      takes_some_whole_(takes_all_whole_ || places_some(program)),
      known_(program.foreaches.size()),
      kernels_(program.foreaches.size()),
      shared_(std::make_shared<Shared>(pool, program.foreaches.size())) {}

bool DeviceWork::look_at(const ForeachSite& site, CallPlace place) {
  const std::size_t index = index_of(site);
  const std::lock_guard lock(shared_->mutex);
  const Known known = known_[index].load(std::memory_order_relaxed);
  if (known != Known::nothing) return known != Known::stays;
  const Obstacle obstacle = compiler_ ? obstacle_of(program_, site) : Obstacle{.text = "nothing is compiled"};
  if (obstacle.empty())
    kernels_[index] = std::make_unique<const LaunchKernel>(launch_kernel(program_, site));
  else
    shared_->obstacles.try_emplace(index, place, obstacle);
  const bool is_placed = obstacle.empty() && placement_of(program_, site) == Placement::gpu;
  shared_->entries[index].place = std::move(place);
  shared_->entries[index].is_placed = is_placed;
  known_[index].store(is_placed          ? Known::goes_whole
                      : obstacle.empty() ? Known::may_go
                                         : Known::stays,
                      std::memory_order_release);
  return obstacle.empty();
}

void DeviceWork::request(const ForeachSite& site) {
  const std::size_t index = index_of(site);
  Stage expected = Stage::unknown;
  if (!shared_->entries[index].stage.compare_exchange_strong(expected, Stage::requested, std::memory_order_acq_rel))
    return;
  devices_->prepare(kernels_[index]->group, kernels_[index]->entry, compiler_,
                    [shared = shared_, index](auto found) { shared->prepared(index, std::move(found)); });
}

void DeviceWork::Shared::prepared(std::size_t site,
                                  std::expected<std::shared_ptr<const DeviceKernel>, std::string> kernel) {
  Entry& entry = entries[site];
  const std::lock_guard lock(mutex);
  if (kernel)
    entry.kernel = std::move(*kernel);
  else if (!kernel.error().empty())
    obstacles[site] = {.place = entry.place, .why = {.text = kernel.error()}, .is_placed = entry.is_placed};
  entry.stage.store(entry.kernel ? Stage::ready : Stage::impossible, std::memory_order_release);
  release(entry.waiting);
}

bool DeviceWork::wait(const ForeachSite& site, Task& task) {
  request(site);  // before the lock: the answer may come at once, on this thread
  Entry& entry = shared_->entries[index_of(site)];
  const std::lock_guard lock(shared_->mutex);
  if (entry.stage.load(std::memory_order_relaxed) != Stage::requested) return false;
  shared_->keep(task, entry.waiting);
  return true;
}

std::int64_t DeviceWork::points_to_go(const ForeachSite& site, std::int64_t all, LaunchOutlook range) {
  Entry& entry = shared_->entries[index_of(site)];
  const Stage known = stage(site);
  entry.worker_ns.store(range.worker_ns, std::memory_order_relaxed);
  const LaunchOutlook whole{.points = std::max(all, range.points),
                            .worker_ns = range.worker_ns,
                            .workers = static_cast<double>(shared_->pool->capacity())};
  if (known == Stage::unknown && is_worth_code(costs_, whole)) request(site);
  if (known != Stage::ready || !devices_->is_hungry()) return 0;
  range.wave_ns = entry.wave_ns.load(std::memory_order_relaxed);
  range.lanes = entry.kernel->lanes;
  return points_for_devices(costs_, range);
}

std::int64_t DeviceWork::sharers(const ForeachSite& site, std::int64_t points) const {
  const auto devices = static_cast<std::int64_t>(devices_->facts().size());
  const std::int64_t waves = points / shared_->entries[index_of(site)].kernel->lanes;
  return std::max<std::int64_t>(1, std::min(devices, waves));
}

void DeviceWork::submit(const ForeachSite& site, DeviceBatch batch, DeviceOutcome& outcome, Task& task) {
  shared_->begin();
  const Entry& entry = shared_->entries[index_of(site)];
  batch.kernel = entry.kernel;
  batch.expected_ns = expected_ns_of({.points = batch.count(),
                                      .worker_ns = entry.worker_ns.load(std::memory_order_relaxed),
                                      .wave_ns = entry.wave_ns.load(std::memory_order_relaxed),
                                      .lanes = entry.kernel->lanes});
  batch.run = &shared_->run;
  batch.done = [shared = shared_, index = index_of(site), count = batch.count(), &outcome,
                &task](const DeviceOutcome& found) {
    outcome = found;
    shared->done(index, count, found, task);
  };
  devices_->submit(std::move(batch));
}

void DeviceWork::Shared::done(std::size_t site, std::int64_t count, const DeviceOutcome& outcome, Task& task) {
  // points behind one that does not end well have been computed, too
  if (outcome.made > 0 && !outcome.has_no_room)
    entries[site].wave_ns.store(wave_ns_of(outcome.spent_ns, count, entries[site].kernel->lanes),
                                std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex);
    if (outcome.is_lost) entries[site].stage.store(Stage::impossible, std::memory_order_release);  // it would be again
    if (outcome.is_blamed) obstacles.try_emplace(site, entries[site].place, Obstacle{.text = blamed_text});
    if (!outcome.is_lost || outcome.made > 0) {  // else no device has it
      if (outcome.device >= uses.size()) uses.resize(outcome.device + 1);
      ++uses[outcome.device].batches;
      uses[outcome.device].points += static_cast<std::uint64_t>(outcome.made);
      uses[outcome.device].traffic += outcome.traffic;
      add_computed(entries[site].computed, outcome.device, outcome.made);
    }
  }
  TaskBatch tasks;
  tasks.add(task);
  end(tasks);
}

std::vector<DeviceUse> DeviceWork::uses() const {
  const std::lock_guard lock(shared_->mutex);
  std::vector<DeviceUse> all = shared_->uses;
  const std::vector<DeviceFacts> facts = devices_->facts();
  for (std::size_t i = 0; i < all.size() && i < facts.size(); ++i) all[i].name = facts[i].name;
  return all;
}

std::vector<DeviceShare> DeviceWork::shares() const {
  const std::lock_guard lock(shared_->mutex);
  std::vector<DeviceShare> all;
  for (const Entry& entry : shared_->entries)
    if (!entry.computed.empty()) all.push_back({.place = entry.place, .computed = entry.computed});
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
