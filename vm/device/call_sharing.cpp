#include "vm/device/call_sharing.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace raddle::vm {

namespace {

/// How many calls a device gets beyond those that it has under way: those that wait together are handed over together.
constexpr std::int64_t waves = 2;

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

CallSharing::CallSharing(std::shared_ptr<Devices> devices, WorkerPool& pool, const Kind& kind,
                         std::shared_ptr<Shared> shared)
    : devices_(std::move(devices)),
      costs_(devices_->costs()),
      kind_(kind),
      workers_(pool.capacity()),
      shared_(std::move(shared)) {}

CallSharing::Way CallSharing::way_of_call(std::uint32_t function, bool draws) {
  Entry& entry = shared_->entries[function];
  const Stage stage = entry.stage.load(std::memory_order_acquire);
  if (stage == Stage::impossible) return Way::here;
  if (entry.placement == Placement::gpu || costs_.takes == DeviceTakes::whole_launches) {
    if (stage != Stage::ready) return Way::later;
    return Way::there;
  }
  if (stage != Stage::ready) return Way::here;  // note() asks for code
  const std::int64_t known = entry.device_ns.load(std::memory_order_relaxed);
  const std::int64_t device_ns =
      known != 0 ? known : kind_.slowness * entry.worker_ns.load(std::memory_order_relaxed) + costs_.batch_ns;
  const bool comes_in_time = 4 * device_ns <= clock_ns() - entry.first_ns.load(std::memory_order_relaxed);
  // calls with arrays of their own are batches of one: of them devices get few at a time
  constexpr std::int64_t most_waiting = 4;
  const bool has_room = entry.under_way.load(std::memory_order_relaxed) < waves * entry.kernel->lanes / kind_.lanes &&
                        entry.waiting_bundles.load(std::memory_order_relaxed) < most_waiting;
  return comes_in_time && has_room && !(draws && is_workers_part(entry)) ? Way::there : Way::here;
}

/// Of the calls that could go, workers make such a part as they have of the speed of all.
bool CallSharing::is_workers_part(Entry& entry) const {
  const std::int64_t worker_ns = entry.worker_ns.load(std::memory_order_relaxed);
  const std::int64_t device_ns = entry.device_ns.load(std::memory_order_relaxed);
  if (worker_ns == 0 || device_ns == 0) return false;
  const double of_workers = workers_ / static_cast<double>(worker_ns);
  const double of_device = static_cast<double>(entry.kernel->lanes / kind_.lanes) / static_cast<double>(device_ns);
  const double part = of_workers / (of_workers + of_device);
  const auto number = static_cast<double>(entry.calls.fetch_add(1, std::memory_order_relaxed));
  return static_cast<std::int64_t>((number + 1) * part) != static_cast<std::int64_t>(number * part);
}

void CallSharing::note(std::uint32_t function, std::int64_t spent_ns, std::int64_t calls) {
  Entry& entry = shared_->entries[function];
  std::int64_t none = 0;
  entry.first_ns.compare_exchange_strong(none, clock_ns(), std::memory_order_relaxed);
  note_lately(entry.worker_ns, spent_ns);
  const std::int64_t all_ns = entry.spent_ns.fetch_add(spent_ns * calls, std::memory_order_relaxed) + spent_ns * calls;
  if (all_ns > costs_.start_ns + kind_.code_ns) request(function);
}

void CallSharing::request(std::uint32_t function) {
  Stage expected = Stage::unknown;
  if (shared_->entries[function].stage.compare_exchange_strong(expected, Stage::requested, std::memory_order_acq_rel))
    prepare(function);
}

bool CallSharing::wait(std::uint32_t function, Task& task) {
  request(function);  // before the lock: the answer may come at once, on this thread
  Entry& entry = shared_->entries[function];
  const std::lock_guard lock(shared_->mutex);
  if (entry.stage.load(std::memory_order_relaxed) != Stage::requested) return false;
  shared_->keep(task, entry.waiting);
  return true;
}

void CallSharing::Shared::prepared(std::uint32_t function,
                                   std::expected<std::shared_ptr<const DeviceKernel>, std::string> kernel) {
  Entry& entry = entries[function];
  const std::lock_guard lock(mutex);
  if (kernel)
    entry.kernel = std::move(*kernel);
  else
    entry.obstacle = std::move(kernel.error());
  entry.stage.store(entry.kernel ? Stage::ready : Stage::impossible, std::memory_order_release);
  release(entry.waiting);
}

std::int64_t CallSharing::Shared::begin_call(std::uint32_t function) {
  begin();
  entries[function].under_way.fetch_add(1, std::memory_order_relaxed);
  return clock_ns();
}

void CallSharing::Shared::end_call(std::uint32_t function, std::int64_t begun_ns, bool is_made) {
  Entry& entry = entries[function];
  entry.under_way.fetch_sub(1, std::memory_order_relaxed);
  if (is_made) note_lately(entry.device_ns, clock_ns() - begun_ns);
}

void CallSharing::Shared::note_outcome(std::uint32_t function, const DeviceOutcome& outcome) {
  Entry& entry = entries[function];
  if (outcome.is_lost) entry.stage.store(Stage::impossible, std::memory_order_release);  // it would be again
  if (outcome.is_blamed) entry.obstacle = blamed_text;
  if (outcome.device >= uses.size()) uses.resize(outcome.device + 1);
  uses[outcome.device].calls += static_cast<std::uint64_t>(outcome.made);
  uses[outcome.device].traffic += outcome.traffic;
  add_computed(entry.computed, outcome.device, outcome.made);
}

std::vector<DeviceUse> CallSharing::uses() const {
  const std::lock_guard lock(shared_->mutex);
  std::vector<DeviceUse> all;
  const std::vector<DeviceFacts> facts = devices_->facts();
  for (std::size_t i = 0; i < shared_->uses.size() && i < facts.size(); ++i)
    all.push_back({.name = facts[i].name, .calls = shared_->uses[i].calls, .traffic = shared_->uses[i].traffic});
  return all;
}

std::vector<DeviceShare> CallSharing::shares() const {
  const std::lock_guard lock(shared_->mutex);
  std::vector<DeviceShare> all;
  for (const Entry& entry : shared_->entries)
    if (!entry.computed.empty())
      all.push_back(
          {.place = {entry.place, {}}, .part = kind_.part, .function = entry.name, .computed = entry.computed});
  return all;
}

std::vector<DeviceObstacle> CallSharing::obstacles() const {
  std::vector<DeviceObstacle> all;
  if (devices_->facts().empty()) return all;
  const std::lock_guard lock(shared_->mutex);
  for (const Entry& entry : shared_->entries)
    if (!entry.obstacle.empty())
      all.push_back({.place = {entry.place, {}},
                     .why = {.text = entry.obstacle},
                     .part = kind_.part,
                     .function = entry.name,
                     .is_placed = entry.placement == Placement::gpu});
  return all;
}

}  // namespace raddle::vm
