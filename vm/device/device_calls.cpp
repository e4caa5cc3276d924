#include "vm/device/device_calls.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace raddle::vm {

namespace {

constexpr std::int64_t clang_ns = 1'000'000'000;  ///< that clang takes for PTX, beside what devices say they take
constexpr std::int64_t warp_lanes = 32;
/// How many calls a device gets beyond those that it has under way: those that wait together are handed over together.
constexpr std::int64_t waves = 2;
/// As long as nobody knows better, a warp is taken to be so many times slower than a worker.
constexpr std::int64_t usual_slowness = 8;

std::int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Of a hint that many write.
void note_lately(std::atomic<std::int64_t>& lately, std::int64_t ns) {
  const std::int64_t before = lately.load(std::memory_order_relaxed);
  lately.store(before == 0 ? std::max<std::int64_t>(1, ns) : before + (ns - before) / 8, std::memory_order_relaxed);
}

}  // namespace

DeviceCalls::DeviceCalls(std::shared_ptr<Devices> devices, AppKernelCompiler* compiler, const Program& program,
                         WorkerPool& pool)
    : devices_(std::move(devices)),
      compiler_(compiler),
      program_(program),
      costs_(devices_->costs()),
      workers_(pool.capacity()),
      shared_(std::make_shared<Shared>(pool, program.foreigns.size())) {
  for (const Function& function : program.functions) {
    if (function.foreign == no_id) continue;
    Entry& entry = shared_->entries[function.foreign];
    entry.placement = function.placement;
    entry.place = function.place;
    if (program.foreigns[function.foreign].kind == ForeignKind::app_kernel && compiler != nullptr &&
        function.placement != Placement::cpu)
      continue;
    entry.stage.store(Stage::impossible, std::memory_order_relaxed);
  }
}

DeviceCalls::Way DeviceCalls::way_of_call(std::uint32_t foreign, bool draws) {
  Entry& entry = shared_->entries[foreign];
  const Stage stage = entry.stage.load(std::memory_order_acquire);
  if (stage == Stage::impossible) return Way::here;
  if (entry.placement == Placement::gpu || costs_.takes == DeviceTakes::whole_launches) {
    if (stage != Stage::ready) return Way::later;
    return Way::there;
  }
  const std::int64_t now = clock_ns();
  std::int64_t first = 0;
  if (!entry.first_ns.compare_exchange_strong(first, now, std::memory_order_relaxed) && stage == Stage::ready) {
    const std::int64_t known = entry.device_ns.load(std::memory_order_relaxed);
    const std::int64_t device_ns =
        known != 0 ? known : usual_slowness * entry.worker_ns.load(std::memory_order_relaxed) + costs_.batch_ns;
    const bool comes_in_time = 4 * device_ns <= now - first;
    const bool has_room = entry.under_way.load(std::memory_order_relaxed) < waves * entry.kernel->lanes / warp_lanes;
    if (comes_in_time && has_room && !(draws && is_workers_part(entry))) return Way::there;
  }
  if (stage == Stage::unknown && entry.spent_ns.load(std::memory_order_relaxed) > costs_.start_ns + clang_ns)
    request(foreign);
  return Way::here;
}

/// Of the calls that could go, workers run such a part as they have of the speed of all.
bool DeviceCalls::is_workers_part(Entry& entry) const {
  const std::int64_t worker_ns = entry.worker_ns.load(std::memory_order_relaxed);
  const std::int64_t device_ns = entry.device_ns.load(std::memory_order_relaxed);
  if (worker_ns == 0 || device_ns == 0) return false;
  const double of_workers = workers_ / static_cast<double>(worker_ns);
  const double of_device = static_cast<double>(entry.kernel->lanes / warp_lanes) / static_cast<double>(device_ns);
  const double part = of_workers / (of_workers + of_device);
  const auto number = static_cast<double>(entry.calls.fetch_add(1, std::memory_order_relaxed));
  return static_cast<std::int64_t>((number + 1) * part) != static_cast<std::int64_t>(number * part);
}

void DeviceCalls::note(std::uint32_t foreign, std::int64_t spent_ns) {
  Entry& entry = shared_->entries[foreign];
  entry.spent_ns.fetch_add(spent_ns, std::memory_order_relaxed);
  note_lately(entry.worker_ns, spent_ns);
}

void DeviceCalls::request(std::uint32_t foreign) {
  Stage expected = Stage::unknown;
  if (!shared_->entries[foreign].stage.compare_exchange_strong(expected, Stage::requested, std::memory_order_acq_rel))
    return;
  devices_->prepare_calls(program_.foreigns[foreign], *compiler_,
                          [shared = shared_, foreign](auto kernel) { shared->prepared(foreign, std::move(kernel)); });
}

void DeviceCalls::Shared::prepared(std::size_t foreign,
                                   std::expected<std::shared_ptr<const DeviceKernel>, std::string> kernel) {
  Entry& entry = entries[foreign];
  const std::lock_guard lock(mutex);
  if (kernel)
    entry.kernel = std::move(*kernel);
  else
    entry.obstacle = std::move(kernel.error());
  entry.stage.store(entry.kernel ? Stage::ready : Stage::impossible, std::memory_order_release);
  release(entry.waiting);
}

bool DeviceCalls::wait(std::uint32_t foreign, Task& task) {
  request(foreign);  // before the lock: the answer may come at once, on this thread
  Entry& entry = shared_->entries[foreign];
  const std::lock_guard lock(shared_->mutex);
  if (entry.stage.load(std::memory_order_relaxed) != Stage::requested) return false;
  shared_->keep(task, entry.waiting);
  return true;
}

void DeviceCalls::submit(std::uint32_t foreign, DeviceCall call, DeviceOutcome& outcome, Task& task) {
  Entry& entry = shared_->entries[foreign];
  shared_->begin();
  entry.under_way.fetch_add(1, std::memory_order_relaxed);
  call.kernel = entry.kernel;
  call.expected_ns = entry.device_ns.load(std::memory_order_relaxed);
  call.run = &shared_->run;
  call.receiver = shared_;
  call.foreign = foreign;
  call.begun_ns = clock_ns();
  call.outcome = &outcome;
  call.task = &task;
  devices_->submit(std::move(call));
}

void DeviceCalls::Shared::ended(std::span<const EndedCall> calls) {
  TaskBatch tasks;
  const std::int64_t now = clock_ns();
  {
    const std::lock_guard lock(mutex);
    for (const auto& [call, outcome] : calls) {
      if (outcome.is_blamed) entries[call->foreign].obstacle = blamed_text;
      if (outcome.device >= uses.size()) uses.resize(outcome.device + 1);
      uses[outcome.device].calls += static_cast<std::uint64_t>(outcome.made);
      uses[outcome.device].traffic += outcome.traffic;
    }
  }
  for (const auto& [call, outcome] : calls) {
    Entry& entry = entries[call->foreign];
    entry.under_way.fetch_sub(1, std::memory_order_relaxed);
    if (outcome.made == 1) note_lately(entry.device_ns, now - call->begun_ns);
    if (outcome.is_lost) entry.stage.store(Stage::impossible, std::memory_order_release);  // it would be again
    *call->outcome = outcome;
    tasks.add(*call->task);
  }
  end(tasks);
}

std::vector<DeviceUse> DeviceCalls::uses() const {
  const std::lock_guard lock(shared_->mutex);
  std::vector<DeviceUse> all;
  const std::vector<DeviceFacts> facts = devices_->facts();
  for (std::size_t i = 0; i < shared_->uses.size() && i < facts.size(); ++i)
    all.push_back({.name = facts[i].name, .calls = shared_->uses[i].calls, .traffic = shared_->uses[i].traffic});
  return all;
}

std::vector<DeviceObstacle> DeviceCalls::obstacles() const {
  std::vector<DeviceObstacle> all;
  if (devices_->facts().empty()) return all;
  const std::lock_guard lock(shared_->mutex);
  for (const Entry& entry : shared_->entries)
    if (!entry.obstacle.empty()) all.push_back({.place = entry.place, .text = entry.obstacle, .is_loop = false});
  return all;
}

}  // namespace raddle::vm
