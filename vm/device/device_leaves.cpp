#include "vm/device/device_leaves.hpp"

#include <algorithm>
#include <utility>

#include "vm/device/device_rule.hpp"
#include "vm/device/launch_kernel.hpp"
#include "vm/kernel/leaf_arguments.hpp"

namespace raddle::vm {

namespace {

/// Of a function, that devices have: while one is computed another is copied.
constexpr unsigned most_batches = 4;
constexpr std::size_t most_calls = std::size_t{1} << 16;  ///< of a batch

bool may_go_singly(const Program& program, FunctionId id) {
  const Function& function = program.functions[id];
  if (!function.is_leaf || !program.kernels[id].exists()) return false;
  return function.is_heavy || placement_of(program, id) == Placement::gpu;
}

}  // namespace

bool DeviceLeaves::are_in(const Program& program) {
  for (FunctionId id = 0; id < program.functions.size(); ++id)
    if (may_go_singly(program, id)) return true;
  return false;
}

DeviceLeaves::DeviceLeaves(std::shared_ptr<Devices> devices, KernelCompiler* compiler, const Program& program,
                           WorkerPool& pool)
    : DeviceLeaves(devices, compiler, program, pool, std::make_shared<Bundles>(pool, program, *devices)) {}

DeviceLeaves::DeviceLeaves(std::shared_ptr<Devices> devices, KernelCompiler* compiler, const Program& program,
                           WorkerPool& pool, std::shared_ptr<Bundles> bundles)
    : CallSharing(std::move(devices), pool,
                  {.lanes = 1, .slowness = lane_slowness, .code_ns = 0, .part = DevicePart::function}, bundles),
      compiler_(compiler ? std::make_shared<CompilerLink>(*compiler) : nullptr),
      program_(program),
      bundles_(std::move(bundles)) {
  for (FunctionId id = 0; id < program.functions.size(); ++id) {
    Entry& entry = bundles_->entries[id];
    entry.place = program.functions[id].place;
    entry.name = program.functions[id].name;
    if (compiler && may_go_singly(program, id)) {
      entry.placement = placement_of(program, id);
      if (obstacle_of(program, id).empty()) continue;
    }
    entry.stage.store(Stage::impossible, std::memory_order_relaxed);
  }
}

void DeviceLeaves::close() {
  if (compiler_) compiler_->cut();
  CallSharing::close();
}

void DeviceLeaves::prepare(FunctionId leaf) {
  RangeKernel kernel = call_kernel(program_, leaf);
  devices_->prepare(kernel.group, kernel.entry, compiler_,
                    [shared = bundles_, leaf](auto found) { shared->prepared(leaf, std::move(found)); });
}

void DeviceLeaves::submit(FunctionId leaf, DeviceLeafCall& call) {
  call.begun_ns = bundles_->begin_call(leaf);
  {
    const std::lock_guard lock(bundles_->mutex);
    bundles_->add(leaf, call);
  }
  bundles_->go_on(leaf);
}

DeviceLeaves::Bundles::Bundles(WorkerPool& pool, const Program& program, Devices& devices)
    : Shared(pool, program.functions.size()), program(program), devices(devices), waiting(program.functions.size()) {}

void DeviceLeaves::Bundles::add(FunctionId leaf, DeviceLeafCall& call) {
  Waiting& of_leaf = waiting[leaf];
  const auto [found, is_first] = of_leaf.open.try_emplace(call.arrays);
  auto& bundle = found->second;
  if (is_first || bundle->second.calls.size() >= most_calls)
    bundle = of_leaf.bundles.emplace(call.priority, Bundle());
  else if (call.priority > bundle->first) {
    auto moved = of_leaf.bundles.extract(bundle);
    moved.key() = call.priority;
    bundle = of_leaf.bundles.insert(std::move(moved));
  }
  bundle->second.calls.push_back(&call);
  entries[leaf].waiting_bundles.store(static_cast<std::int64_t>(of_leaf.bundles.size()), std::memory_order_relaxed);
}

void DeviceLeaves::Bundles::go_on(FunctionId leaf) {
  std::unique_lock lock(mutex);
  Waiting& of_leaf = waiting[leaf];
  if (of_leaf.is_submitting) return;
  of_leaf.is_submitting = true;
  while (!of_leaf.bundles.empty() && of_leaf.batches < most_batches) {
    ++of_leaf.batches;
    const auto first = of_leaf.bundles.begin();
    Bundle bundle = std::move(first->second);
    const auto open = of_leaf.open.find(bundle.calls.front()->arrays);
    if (open != of_leaf.open.end() && open->second == first) of_leaf.open.erase(open);
    of_leaf.bundles.erase(first);
    entries[leaf].waiting_bundles.store(static_cast<std::int64_t>(of_leaf.bundles.size()), std::memory_order_relaxed);
    const std::int64_t wave_ns = of_leaf.wave_ns;
    lock.unlock();
    submit(leaf, std::move(bundle), wave_ns);
    lock.lock();
  }
  of_leaf.is_submitting = false;
}

void DeviceLeaves::Bundles::submit(FunctionId leaf, Bundle given, std::int64_t wave_ns) {
  const Function& function = program.functions[leaf];
  const auto bundle = std::make_shared<Bundle>(std::move(given));
  const std::size_t count = bundle->calls.size();
  const Entry& entry = entries[leaf];
  DeviceBatch batch;
  batch.words = {0, 1, static_cast<std::int64_t>(count)};
  const auto add_column = [&](KernelType type, std::vector<DeviceBatch::Memory>& to) -> Buffer& {
    Buffer& column = *bundle->columns.emplace_back(Buffer::make(kind_of(type), count));
    to.push_back({batch.words.size(), count * Buffer::size_of(column.kind()), nullptr});
    batch.words.push_back(reinterpret_cast<std::int64_t>(column.at_index(0)));
    return column;
  };
  for (const KernelType type : function.leaf_results) add_column(type, batch.results);
  std::size_t number = 0;
  for (const KernelType type : function.leaf_parameters) {
    if (is_array(type)) continue;
    Buffer& column = add_column(type, batch.arrays);
    for (std::size_t i = 0; i < count; ++i)
      set_number(column.at_index(0), column.kind(), i, bundle->calls[i]->numbers[number]);
    ++number;
  }
  batch.reads = number;
  const DeviceLeafCall& first = *bundle->calls.front();
  for (AddressedMemory memory : first.memory) {
    memory.word += batch.words.size();
    batch.arrays.push_back(memory);
    batch.near.emplace_back();
  }
  batch.words.insert(batch.words.end(), first.arrays.begin(), first.arrays.end());
  batch.kernel = entry.kernel;
  batch.expected_ns = expected_ns_of({.points = batch.count(),
                                      .worker_ns = static_cast<double>(entry.worker_ns.load(std::memory_order_relaxed)),
                                      .wave_ns = wave_ns,
                                      .lanes = entry.kernel->lanes});
  batch.run = &run;
  batch.done = [self = shared_from_this(), leaf, bundle](const DeviceOutcome& outcome) {
    self->ended(leaf, bundle, outcome);
  };
  devices.submit(std::move(batch));
}

void DeviceLeaves::Bundles::ended(FunctionId leaf, const std::shared_ptr<Bundle>& bundle,
                                  const DeviceOutcome& outcome) {
  const auto made = static_cast<std::size_t>(outcome.made);
  const std::size_t results = program.functions[leaf].leaf_results.size();
  TaskBatch tasks;
  {
    const std::lock_guard lock(mutex);
    note_outcome(leaf, outcome);
    Waiting& of_leaf = waiting[leaf];
    --of_leaf.batches;
    if (made > 0) of_leaf.wave_ns = wave_ns_of(outcome.spent_ns, outcome.made, entries[leaf].kernel->lanes);
    const bool goes_once_more = !outcome.is_lost && !outcome.has_no_room && is_wanted();
    std::vector<DeviceLeafCall*> left;  // to workers
    for (std::size_t i = 0; i < bundle->calls.size(); ++i) {
      DeviceLeafCall& call = *bundle->calls[i];
      if (i > made && goes_once_more && !std::exchange(call.has_come_back, true))
        add(leaf, call);
      else
        left.push_back(&call);
    }
    bundle->calls = std::move(left);
  }
  for (std::size_t i = 0; i < bundle->calls.size(); ++i) {
    DeviceLeafCall& call = *bundle->calls[i];
    end_call(leaf, call.begun_ns, i < made);
    call.is_made = i < made;
    for (std::size_t k = 0; call.is_made && k < results; ++k) call.results.push_back(bundle->columns[k]->word(i));
    if (i == 0) call.outcome = outcome;
    tasks.add(*call.task);
  }
  end(tasks);
  go_on(leaf);  // of what waits, which is under way, too: so the program is there
}

}  // namespace raddle::vm
