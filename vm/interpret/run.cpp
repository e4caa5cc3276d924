#include "vm/interpret/run.hpp"

#include <algorithm>
#include <tuple>

#include "vm/interpret/diagnosis.hpp"
#include "vm/interpret/leaf_call.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/temporaries.hpp"

namespace raddle::vm {

namespace {

/// Loops stop making iterations when so many programs and calls wait for the outside.
std::uint32_t throttle_limit(const RunOptions& options) { return 1000 + 4 * options.process_budget.programs; }

/// Enough iterations for all workers and all programs that run at once.
std::int64_t window_limit(const RunOptions& options, const WorkerPool& pool) {
  return std::max<std::int64_t>(8 * pool.capacity(), 4 * options.process_budget.programs);
}

constexpr std::size_t failure_limit = 1000;  ///< different ones kept for the report

/// The order among failures that are alike: the report must not depend on which came first.
bool comes_before(const Failure& a, const Failure& b) {
  return std::tie(a.calls, a.notes) < std::tie(b.calls, b.notes);
}

}  // namespace

// ---------------------------------------------------------------- Run

Run::Run(const Program& program, const RunOptions& options)
    : program(program),
      options(options),
      cells(options.call_memory_bytes != 0 ? options.call_memory_bytes : memory_limit_bytes() / 2),
      pool(std::max(1u, options.workers), {.scheduler = options.scheduler,
                                           .order = options.queue_order,
                                           .scheduler_seed = options.scheduler_seed,
                                           .inlining = options.inlining}),
      throttle(pool, throttle_limit(options)),
      leaves(program.functions.size(), options.leaf_compiler, pool, throttle),
      outside(options.process_budget, pool.capacity()),
      loop_windows(pool, window_limit(options, pool)),
      loop_profiles(program.foreaches.size()),
      results(program.functions[program.entry].output_count),
      constants_(program.constants.size()) {
  for (std::size_t i = 0; i < constants_.size(); ++i) constants_[i].init(program.constants[i]);
  for (const ForeignFunction& function : program.foreigns) {
    foreigns.push_back(make_foreign_code(function, options.package_folders));
  }
  for (unsigned i = 0; i < pool.capacity(); ++i) interpreters_.emplace_back(*this);
}

Run::~Run() {
  leaves.close();
  outside.end();  // its callbacks use the pool and cells
  cells.destroy_all();
}

void Run::go_on_when_idle() {
  if (!leaves.is_awaited()) loop_windows.go_on();  // code that is being compiled will do more than loops
}

void Run::report(Ref<Failure> failure) {
  {
    const std::lock_guard lock(failures_mutex_);
    if (!options.keep_going && !failures_.empty()) return;  // the run is over: how many more come is an accident
    const auto key = std::pair(failure->place, failure->message);
    if (failures_.size() < failure_limit || failures_.contains(key)) {
      Alike& alike = failures_[key];
      ++alike.count;
      if (!alike.least || comes_before(*failure, *alike.least)) alike.least = std::move(failure);
    }
  }
  if (!options.keep_going) pool.stop();
}

std::vector<RunFailure> Run::failures() {
  const std::lock_guard lock(failures_mutex_);
  std::vector<RunFailure> all;
  for (const auto& [key, alike] : failures_) {
    all.push_back({key.second, key.first, alike.least->notes, alike.least->calls, alike.count});
  }
  return all;
}

// ---------------------------------------------------------------- CancelHook

void CancelHook::cancel() {
  cancelled_.store(true, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  if (run_) run_->pool.stop();
}

void CancelHook::abandon() {
  const std::lock_guard lock(mutex_);
  if (run_) run_->partial_outputs.remove_all();
  remove_temporaries();
}

void CancelHook::watch(Run* run) {
  const std::lock_guard lock(mutex_);
  run_ = run;
  if (run && is_cancelled()) run->pool.stop();
}

// ---------------------------------------------------------------- the run

/// The entry's first activation, and the stages of a run.
class RunDriver {
 public:
  RunDriver(const Program& program, const RunOptions& options) : run_(program, options) {}

  RunResult go() {
    if (run_.options.cancel) run_.options.cancel->watch(&run_);
    run_.pool.inject(*entry_frame());
    do {
      run_.pool.run();
    } while (!run_.is_stopped() && (run_.loop_windows.go_on() || force_leaf_calls()));
    run_.outside.end();
    run_.partial_outputs.remove_all();  // of programs that were ended with the run
    if (run_.options.cancel) run_.options.cancel->watch(nullptr);
    return result();
  }

 private:
  Frame* entry_frame() {
    const Function& entry = run_.program.functions[run_.program.entry];
    const Body& body = run_.program.bodies[entry.body];
    auto* frame =
        ::new (first_cells_.allocate(Frame::size_of(body))) Frame(run_, body, nullptr, run_.options.settings.seed);
    for (std::size_t i = 0; i < run_.options.arguments.size() && i < entry.parameter_count; ++i) {
      frame->slots()[i].init(run_.options.arguments[i]);
    }
    for (std::uint32_t i = 0; i < run_.results.size(); ++i) frame->set_output(i, run_.results[i]);
    return frame;
  }

  /// Nothing is left to do but calls of leaf functions that wait for arguments: such a function may be able to give
  /// some outputs without them. @return true if there were such calls: the run goes on
  bool force_leaf_calls() {
    std::vector<LeafCall*> waiting;
    run_.cells.for_each_live([&waiting](Cell& cell) {
      auto* call = dynamic_cast<LeafCall*>(&cell);
      if (call && call->awaits_argument && !call->is_replaced) waiting.push_back(call);
    });
    for (LeafCall* call : waiting) {
      // it stays enlisted with its argument's future: another one goes in its place
      auto* forced =
          ::new (first_cells_.allocate(sizeof(LeafCall))) LeafCall(call->frame, call->site, call->instruction);
      forced->is_forced = true;
      call->is_replaced = true;
      call->frame.retain();
      run_.pool.inject(*forced);
    }
    return !waiting.empty();
  }

  RunResult result() {
    RunResult result;
    result.failures = run_.failures();
    for (const Future& future : run_.results) result.results.push_back(future.get());
    add_counters(result.counters);
    const bool is_cancelled = run_.options.cancel && run_.options.cancel->is_cancelled();
    if (!result.failures.empty()) {
      result.status = RunStatus::failed;
    } else if (is_cancelled) {
      result.status = RunStatus::cancelled;
    } else {
      result.stuck = find_stuck(run_);
      if (!result.stuck.empty()) result.status = RunStatus::stuck;
    }
    return result;
  }

  void add_counters(RunCounters& total) {
    total.leaf_calls_shared = run_.pool.leaf_calls_shared();
    for (const Interpreter& each : run_.interpreters()) {
      const RunCounters& own = each.counters;
      total.tasks += own.tasks;
      total.frames += own.frames;
      total.iterations += own.iterations;
      total.iterations_native += own.iterations_native;
      total.strands_armed += own.strands_armed;
      total.leaf_calls_native += own.leaf_calls_native;
      total.leaf_calls_interpreted += own.leaf_calls_interpreted;
      total.builtin_calls += own.builtin_calls;
      total.programs_started += own.programs_started;
    }
  }

  Run run_;
  CellCache first_cells_{run_.cells};
};

RunResult run(const Program& program, const RunOptions& options) { return RunDriver(program, options).go(); }

}  // namespace raddle::vm
