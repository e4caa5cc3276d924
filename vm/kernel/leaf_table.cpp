#include "vm/kernel/leaf_table.hpp"

#include "vm/schedule/throttle.hpp"

namespace raddle::vm {

LeafTable::LeafTable(const Program& program, KernelCompiler* compiler, bool points_alone, WorkerPool& pool,
                     Throttle& throttle)
    : program_(program),
      compiler_(compiler),
      points_alone_(points_alone),
      entries_(std::make_shared<Shared>(program.functions.size())) {
  entries_->pool = &pool;
  entries_->throttle = &throttle;
  if (compiler) return;
  for (Entry& entry : entries_->entries) entry.stage.store(Stage::impossible, std::memory_order_relaxed);
}

void LeafTable::close() {
  const std::lock_guard lock(entries_->mutex);
  entries_->pool = nullptr;
  entries_->throttle = nullptr;
}

bool LeafTable::claim(Entry& entry) {
  Stage expected = Stage::interpreted;
  return entry.stage.compare_exchange_strong(expected, Stage::requested, std::memory_order_acq_rel);
}

void LeafTable::request(FunctionId leaf) {
  if (!claim(entries_->at(leaf))) return;
  const auto done = [shared = entries_, leaf](raddle_leaf_function code) { shared->finished(leaf, code); };
  if (!program_.kernels[leaf].exists()) return done(nullptr);
  std::vector<const Kernel*> kernels;
  for (const Kernel& kernel : program_.kernels) kernels.push_back(&kernel);
  KernelEntry entry = program_.functions[leaf].kernel_entry;
  if (points_alone_ && entry.kind == KernelEntry::lanes) entry.kind = KernelEntry::points;
  compiler_->request(group_of(kernels, leaf), entry, done);
}

bool LeafTable::wait(FunctionId leaf, Task& call) {
  request(leaf);  // before the lock: the answer may come at once, on this thread
  Entry& entry = entries_->at(leaf);
  const std::lock_guard lock(entries_->mutex);
  if (entry.stage.load(std::memory_order_relaxed) != Stage::requested) return false;
  if (!entry.has_hold) {
    entry.has_hold = true;
    ++entries_->awaited_count;
    entries_->pool->hold();
  }
  entries_->throttle->begin();
  call.next = entry.waiting;
  entry.waiting = &call;
  ++entry.waiting_count;
  return true;
}

bool LeafTable::is_awaited() const {
  const std::lock_guard lock(entries_->mutex);
  return entries_->awaited_count != 0;
}

void LeafTable::Shared::finished(FunctionId leaf, raddle_leaf_function code) {
  Entry& entry = at(leaf);
  const std::lock_guard lock(mutex);
  entry.code.store(code, std::memory_order_release);
  entry.stage.store(code ? Stage::native : Stage::impossible, std::memory_order_release);
  if (!pool) return;
  while (Task* call = entry.waiting) {
    entry.waiting = call->next;
    call->next = nullptr;
    pool->inject(*call);
  }
  if (!entry.has_hold) return;
  throttle->end(entry.waiting_count);
  entry.waiting_count = 0;
  entry.has_hold = false;
  --awaited_count;
  pool->release_hold();
}

}  // namespace raddle::vm
