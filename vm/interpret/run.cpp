#include "vm/interpret/run.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "vm/calls/program_run.hpp"
#include "vm/diagnose/diagnosis.hpp"
#include "vm/interpret/forwarder.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_listener.hpp"
#include "vm/memory/shared_blocks.hpp"
#include "vm/value/temporaries.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::vm {

namespace {

constexpr std::size_t failure_limit = 1000;  ///< different ones kept for the report

/// The order among failures that are alike: the report must not depend on which came first.
bool comes_before(const Failure& a, const Failure& b) {
  return std::tie(a.calls, a.notes) < std::tie(b.calls, b.notes);
}

}  // namespace

// ---------------------------------------------------------------- Run

Run::Run(Machine& machine, const Program& program, const RunOptions& options)
    : machine(machine),
      program(program),
      options(options),
      cells(machine.cells),
      pool(machine.pool),
      throttle(machine.throttle),
      outside(machine.outside),
      written_files(machine.written_files),
      number(written_files.add_run()),
      loop_windows(machine.loop_windows),
      leaves(program, options.kernel_compiler, options.inlining == Inlining::never, pool, throttle),
      loop_profiles(program.foreaches.size()),
      call_profiles(program.functions.size()),
      tcl_host{.package_folders = options.package_folders,
               .run_code = [this](const CodeRequest& request) { return run_code(request); }},
      constants_(program.constants.size()) {
  for (std::size_t i = 0; i < constants_.size(); ++i) constants_[i].init(program.constants[i]);
  if (options.devices) devices.emplace(options.devices, options.kernel_compiler, program, pool);
  if (options.devices && DeviceLeaves::are_in(program))
    device_leaves.emplace(options.devices, options.kernel_compiler, program, pool);
  const auto is_kernel = [](const ForeignFunction& function) { return function.kind == ForeignKind::app_kernel; };
  if (options.devices && std::ranges::any_of(program.foreigns, is_kernel))
    device_calls.emplace(options.devices, options.app_kernel_compiler, program, pool);
  const auto shares_memory = [](const ForeignFunction& function) {
    const ServedLanguage* const language = served_language(function.kind);
    return language != nullptr && language->shares_memory;
  };
  // before there are arrays; where there is no such memory, they go in messages
  if (std::ranges::any_of(program.foreigns, shares_memory)) static_cast<void>(SharedBlocks::begin());
  for (const ForeignFunction& function : program.foreigns) {
    foreigns.push_back(make_foreign_code(function, options.app_kernel_compiler));
  }
  for (unsigned i = 0; i < pool.capacity(); ++i) workers_.emplace_back(*this, pool.worker(i), machine.cache_of(i));
}

std::expected<std::string, std::string> Run::run_code(const CodeRequest& request) {
  if (options.run_code == nullptr) return std::unexpected("code in other languages can not be run here");
  return options.run_code(outside, request);
}

Frame* Run::make_entry_frame(CellCache& cache, std::span<Future* const> inputs, std::vector<Future*> outputs) {
  const Function& entry = program.functions[program.entry];
  const Body& body = program.bodies[entry.body];
  auto* frame = ::new (cache.allocate(Frame::size_of(body))) Frame(*this, body, nullptr, options.settings.seed);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Future& input = *inputs[i];
    Future& slot = frame->slots()[i];
    if (!input.is_resolved()) {
      frame->retain();  // twice: the forwarder gives up the frames of both of its futures
      frame->retain();
      auto* forwarder = ::new (cache.allocate(sizeof(Forwarder))) Forwarder(input, *frame, slot, frame, {}, no_id, {});
      if (input.enlist(*forwarder)) continue;
      forwarder->~Forwarder();
      cache.deallocate(forwarder, sizeof(Forwarder));
      static_cast<void>(frame->drop());  // not the last ones: the caller's is left
      static_cast<void>(frame->drop());
    }
    slot.init(input.get());
  }
  results = std::move(outputs);
  for (std::uint32_t i = 0; i < results.size(); ++i) frame->set_output(i, *results[i]);
  return frame;
}

void Run::close() {
  leaves.close();
  if (devices) devices->close();
  if (device_calls) device_calls->close();
  if (device_leaves) device_leaves->close();
}

void Run::report(Ref<Failure> failure, std::optional<std::int64_t> iteration) {
  {
    const std::lock_guard lock(failures_mutex_);
    if (iteration) failed_iterations_.push_back(*iteration);
    if (!options.keep_going && !failures_.empty()) return;  // the run is over: how many more come is an accident
    if (!add_to(failures_, std::move(failure))) ++failures_left_out_;
  }
  if (!options.keep_going) pool.stop();
}

void Run::note_replaced(Ref<Failure> failure) {
  const std::lock_guard lock(failures_mutex_);
  add_to(replaced_, std::move(failure));
}

bool Run::add_to(Failures& all, Ref<Failure> failure) {
  const auto key = std::pair(failure->place, failure->message);
  if (all.size() >= failure_limit && !all.contains(key)) return false;
  Alike& alike = all[key];
  ++alike.count;
  if (!alike.least || comes_before(*failure, *alike.least)) alike.least = std::move(failure);
  return true;
}

std::vector<RunFailure> Run::list_of(const Failures& from) {
  const std::lock_guard lock(failures_mutex_);
  std::vector<RunFailure> all;
  for (const auto& [key, alike] : from)
    all.push_back({key.second, key.first, alike.least->notes, alike.least->calls, alike.count});
  return all;
}

std::vector<RunFailure> Run::failures() { return list_of(failures_); }
std::vector<RunFailure> Run::replaced_failures() { return list_of(replaced_); }

std::uint64_t Run::failures_left_out() {
  const std::lock_guard lock(failures_mutex_);
  return failures_left_out_;
}

std::vector<std::int64_t> Run::failed_iterations() {
  const std::lock_guard lock(failures_mutex_);
  return failed_iterations_;
}

// ---------------------------------------------------------------- CancelHook

void CancelHook::cancel() {
  cancelled_.store(true, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  if (run_) run_->pool.stop();
}

void CancelHook::give_up() {
  const std::lock_guard lock(mutex_);
  if (run_ == nullptr) return;
  run_->outside.kill_programs();
  run_->written_files.remove_partial();
}

void CancelHook::abandon() {
  give_up();
  remove_temporaries();
}

ProgramsNow CancelHook::programs() {
  const std::lock_guard lock(mutex_);
  return run_ ? run_->outside.programs() : ProgramsNow();
}

void CancelHook::watch(Run* run) {
  const std::lock_guard lock(mutex_);
  run_ = run;
  if (run && is_cancelled()) run->pool.stop();
}

// ---------------------------------------------------------------- the run

/// The stages of a run.
class RunDriver {
 public:
  RunDriver(const Program& program, const RunOptions& options)
      : machine_(options),
        run_(machine_, program, options),
        arguments_(std::min<std::size_t>(options.arguments.size(), entry().parameter_count)),
        results_(entry().output_count) {
    for (std::size_t i = 0; i < arguments_.size(); ++i) arguments_[i].init(options.arguments[i]);
  }
  ~RunDriver() {
    run_.close();
    machine_.end();
  }

  RunResult go() {
    if (run_.options.cancel) run_.options.cancel->watch(&run_);
    Frame* const entry = run_.make_entry_frame(machine_.cache_of(0), addresses(arguments_), addresses(results_));
    if (run_.options.leaves_memory) entry->retain();
    run_.pool.inject(*entry);
    machine_.run_to_rest();
    if (run_.options.cancel) run_.options.cancel->at_rest_.store(true, std::memory_order_release);
    if (run_.options.leaves_memory && entry->drop()) CellStore::abandon(entry);
    machine_.outside.end();
    end_programs();
    machine_.written_files.remove_partial();  // of programs that were ended with the run
    if (run_.options.cancel) run_.options.cancel->watch(nullptr);
    return result();
  }

 private:
  /// Those of a run that was stopped, which no worker has taken note of any more.
  void end_programs() {
    if (!run_.pool.stopped()) return;
    machine_.cells.for_each_live([&](Cell& cell) {
      auto* const program = dynamic_cast<ProgramRun*>(&cell);
      if (program == nullptr) return;
      if (program->waits_for_others) machine_.written_files.end(program->begun);  // what is there is theirs
      if (program->result.slot == 0) return program->own.remove();
      const bool has_succeeded = !program->result.was_asked_to_end && program->conclude().empty();
      if (has_succeeded) machine_.written_files.end(program->begun);
      if (TaskListener* const listener = run_.options.listener)
        program->tell(*listener, has_succeeded ? "" : "ended with the run", /*is_last=*/true,
                      /*is_interrupted=*/!has_succeeded);
      program->own.remove();
    });
  }

  const Function& entry() const { return run_.program.functions[run_.program.entry]; }
  /// Of an updateable: what all updates have made of it.
  static Value at_rest(const Value& result) {
    return result.kind() == ValueKind::updateable ? Value::of(result.as_updateable().get()) : result;
  }
  static std::vector<Future*> addresses(std::vector<Future>& futures) {
    std::vector<Future*> all;
    for (Future& future : futures) all.push_back(&future);
    return all;
  }

  RunResult result() {
    RunResult result;
    result.failures = run_.failures();
    result.replaced = run_.replaced_failures();
    result.failures_left_out = run_.failures_left_out();
    result.failed_iterations = run_.failed_iterations();
    for (const Future& future : results_) result.results.push_back(at_rest(future.get()));
    add_counters(result.counters);
    if (machine_.placed_calls) result.arrays_in_memory = machine_.placed_calls->arrays();
    if (run_.devices) {
      result.device_uses = run_.devices->uses();
      result.device_shares = run_.devices->shares();
      result.device_obstacles = run_.devices->obstacles();
    }
    if (run_.device_calls) add_single_calls(*run_.device_calls, result);
    if (run_.device_leaves) add_single_calls(*run_.device_leaves, result);
    const bool is_cancelled = run_.options.cancel && run_.options.cancel->is_cancelled();
    // with keep_going a failed run comes to rest, too; what a stopped one leaves says nothing
    if (!is_cancelled && !run_.is_stopped()) result.stuck = find_stuck(run_);
    if (!result.failures.empty()) {
      result.status = RunStatus::failed;
    } else if (is_cancelled) {
      result.status = RunStatus::cancelled;
    } else if (!result.stuck.empty()) {
      result.status = RunStatus::stuck;
    }
    return result;
  }

  static void add_single_calls(const CallSharing& calls, RunResult& result) {
    const std::vector<DeviceUse> uses = calls.uses();
    if (uses.size() > result.device_uses.size()) result.device_uses.resize(uses.size());
    for (std::size_t i = 0; i < uses.size(); ++i) {
      result.device_uses[i].name = uses[i].name;
      result.device_uses[i].calls += uses[i].calls;
      result.device_uses[i].traffic += uses[i].traffic;
    }
    std::ranges::copy(calls.shares(), std::back_inserter(result.device_shares));
    std::ranges::copy(calls.obstacles(), std::back_inserter(result.device_obstacles));
  }

  void add_counters(RunCounters& total) {
    total.leaf_calls_shared = run_.pool.leaf_calls_shared();
    total.cells = machine_.cells.counters();
    total.blocks = LargeBlocks::counters();
    if (const BoundedMemory* const bounded = BoundedMemory::get()) total.memory = bounded->counters();
    if (machine_.placed_calls) total.placed = machine_.placed_calls->counters();
    for (const RunWorker& each : run_.workers()) {
      const RunCounters& own = each.counters;
      total.tasks += own.tasks;
      total.frames += own.frames;
      total.iterations += own.iterations;
      total.iterations_native += own.iterations_native;
      total.loop_iterations_native += own.loop_iterations_native;
      total.strands_armed += own.strands_armed;
      total.leaf_calls_native += own.leaf_calls_native;
      total.leaf_calls_interpreted += own.leaf_calls_interpreted;
      total.builtin_calls += own.builtin_calls;
      total.app_kernel_calls += own.app_kernel_calls;
      total.programs_started += own.programs_started;
      total.memo_calls_taken += own.memo_calls_taken;
      total.memo_calls_run += own.memo_calls_run;
      total.launches.add(own.launches);
    }
  }

  Machine machine_;
  Run run_;
  std::vector<Future> arguments_, results_;
};

RunResult run(const Program& program, const RunOptions& options) { return RunDriver(program, options).go(); }

}  // namespace raddle::vm
