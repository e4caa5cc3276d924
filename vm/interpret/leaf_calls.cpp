// Leaf functions: native code is called when there is any. A leaf without loops is interpreted until it has been called
// often; calls of one with a loop or recursion wait for its code (other work goes on), but for a loop in the text of
// another function, which has a moment to end without code. Interpreting does not wait for
// arguments; native code does. Should a run come to rest with calls that wait for arguments, they are interpreted after
// all (Run), so that a program never depends on which way a call takes.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "vm/interpret/call_profile.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/kernel_caller.hpp"
#include "vm/interpret/leaf_call.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/schedule/leaf_forks.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

namespace {

/// A loop in the text of a script that is shorter needs no machine code, for which a compiler would be loaded.
constexpr std::int64_t short_loop_ns = 2'000'000;

/// On the stack of a call.
using LeafWords = std::array<std::int64_t, leaf_word_limit>;

bool fits(const Function& function) {
  return function.leaf_parameters.size() * 2 <= leaf_word_limit && function.leaf_results.size() <= leaf_word_limit;
}

/// @pre fits(function), and no part of the arguments is missing
/// @return how many words; none if an argument has failed or is no dense array
std::optional<std::size_t> encode_arguments(Frame& frame, const CallSite& site, const Function& function,
                                            LeafWords& words) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    const Future& argument = frame.at(site.arguments[i]);
    if (!encode(argument, function.leaf_parameters[i], words.data(), count)) return std::nullopt;
    if (BoundedMemory::get() && is_array(function.leaf_parameters[i])) object_in<Array>(argument).use_packed();
  }
  return count;
}

/// The first future that an argument still waits for; null if all are there or have failed.
Future* missing_argument(Frame& frame, const CallSite& site, const Function& function) {
  for (std::size_t i = 0; i < site.arguments.size(); ++i)
    if (Future* missing = missing_part(frame.at(site.arguments[i]), function.leaf_parameters[i])) return missing;
  return nullptr;
}

}  // namespace

KernelCaller::KernelCaller(RunWorker& here) : WorkerService(here), scalar_machine_(program_, run_.foreigns) {}

void KernelCaller::set_leaf_results(Frame& frame, const CallSite& site, std::uint32_t instruction,
                                    const std::int64_t* words) {
  const std::vector<KernelType>& types = program_.functions[site.function].leaf_results;
  for (std::size_t i = 0; i < site.results.size(); ++i)
    here_.set(frame.at(site.results[i]), decode(words[i], kind_of(types[i])), frame, instruction, site.results[i]);
}

bool KernelCaller::call_leaf(Frame& frame, const CallSite& site, std::uint32_t instruction) {
  const Function& function = program_.functions[site.function];
  LeafTable& leaves = run_.leaves;
  const bool is_possible =
      !frame.interpret_only && leaves.stage(site.function) != LeafTable::Stage::impossible && fits(function);
  if (run_.device_leaves && !frame.interpret_only && fits(function) && run_.device_leaves->may_go(site.function)) {
    frame.retain();
    here_.make<LeafCall>(frame, site, instruction, frame.priority)->resolved(*worker_);
    return true;
  }
  const bool may_share = run_.pool.capacity() > 1 && here_.nesting.iterations == 0;
  if (!is_possible) {
    if (!function.is_heavy || !function.is_sequential || !may_share || !worker_->others_are_hungry())
      return call_in_registers(frame, site, instruction);
    if (frame.interpret_only || missing_argument(frame, site, function)) return false;
    frame.retain();
    here_.make<LeafCall>(frame, site, instruction, frame.priority)->queue(here_);
    return true;
  }
  const raddle_leaf_function code = leaves.code(site.function);
  const bool waits_for_code = waits_for_code_of(function);
  if (!waits_for_code && worker_->perturbation().one_in(8)) return false;
  if (!code && function.is_outlined && run_.options.leaf_threshold != 0) {
    count_calls(site.function, 1);
    if (call_in_registers(frame, site, instruction, short_loop_ns)) return true;
  }
  if (!code && !waits_for_code) {
    count_calls(site.function, 1);
    return call_in_registers(frame, site, instruction);
  }
  const bool is_ready = code && !missing_argument(frame, site, function);
  // long calls are queued, so that other workers can take them; iterations of a `foreach` are shared out already
  const bool in_place = (!function.is_heavy || here_.nesting.iterations > 0 || run_.pool.capacity() == 1) &&
                        !worker_->perturbation().one_in(4);
  if (is_ready && in_place) return call_native(frame, site, instruction, code);
  frame.retain();
  auto* call = here_.make<LeafCall>(frame, site, instruction, frame.priority);
  if (is_ready)
    call->queue(here_);
  else
    call->resolved(*worker_);
  return true;
}

/// If its inputs are there, and it has nothing to share or nobody looks for work: calls in registers are one task.
/// Should somebody come meanwhile, what has been computed is dropped, and the call is made once more as one that can be
/// shared out.
/// @param most_ns  0: as long as it takes
/// @return false: to be interpreted in frames
bool KernelCaller::call_in_registers(Frame& frame, const CallSite& site, std::uint32_t instruction,
                                     std::int64_t most_ns) {
  const Function& function = program_.functions[site.function];
  if (!function.scalar_code.exists() || frame.interpret_only || !fits(function)) return false;
  if (worker_->perturbation().one_in(4) || missing_argument(frame, site, function)) return false;
  LeafWords words, results;
  const std::optional<std::size_t> count = encode_arguments(frame, site, function, words);
  if (!count) return false;
  const std::int64_t end_ns = most_ns == 0 ? std::numeric_limits<std::int64_t>::max() : now_ns() + most_ns;
  const auto goes_on = [&] {
    const bool is_wanted = function.is_sequential ? !worker_->queues_all() : !worker_->others_are_hungry();
    return is_wanted && (most_ns == 0 || now_ns() < end_ns);
  };
  if (!goes_on()) return false;
  switch (scalar_machine_.run(site.function, {words.data(), *count}, results.data(), goes_on)) {
    case ScalarMachine::Outcome::done: break;
    case ScalarMachine::Outcome::stopped: return false;
    case ScalarMachine::Outcome::failed:
      here_.interpreter().call_composite(frame, site, instruction, true);
      return true;
  }
  ++here_.counters.leaf_calls_interpreted;
  set_leaf_results(frame, site, instruction, results.data());
  return true;
}

bool KernelCaller::waits_for_code_of(const Function& leaf) const {
  return leaf.is_heavy || run_.options.leaf_threshold == 0;
}

void KernelCaller::count_calls(FunctionId leaf, std::uint32_t count) {
  const std::uint32_t before = run_.leaves.count_calls(leaf, count);
  const std::uint32_t threshold = run_.options.leaf_threshold;
  if (before < threshold && before + count >= threshold) run_.leaves.request(leaf);
}

bool KernelCaller::queue_leaf(Frame& frame, const CallSite& site, std::uint32_t instruction, std::int32_t priority) {
  const Function& function = program_.functions[site.function];
  const bool is_possible = function.is_leaf && !frame.interpret_only && fits(function) &&
                           run_.leaves.stage(site.function) != LeafTable::Stage::impossible;
  if (!is_possible) return false;
  if (!waits_for_code_of(function) && !run_.leaves.code(site.function)) count_calls(site.function, 1);
  frame.retain();
  here_.make<LeafCall>(frame, site, instruction, priority)->resolved(*worker_);
  return true;
}

void LeafCall::resolved(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  if (is_replaced) {
    Frame* caller = &frame;
    here.destroy(this);
    return here.release(caller);
  }
  const Function& function = frame.run_state.program.functions[site.function];
  awaits_input = true;
  while (Future* missing = missing_argument(frame, site, function)) {
    if (missing->enlist(*this)) return;
  }
  awaits_input = false;
  if (here.kernels().hand_over(*this)) return;
  LeafTable& leaves = frame.run_state.leaves;
  const bool waits = !leaves.code(site.function) && here.kernels().waits_for_code_of(function);
  if (!waits || !leaves.wait(site.function, *this)) queue(here);
}

DeferredCall* LeafCall::replacement(CellCache& cache) {
  frame.retain();
  return ::new (cache.allocate(sizeof(LeafCall))) LeafCall(frame, site, instruction, priority);
}

void LeafCall::queue(RunWorker& here) {
  has_turn = true;
  here.push(*this, priority);
}

void LeafCall::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  if (!has_turn && priority != 0) return queue(here);
  const TaskTimer timer(here, TaskKind::leaf, frame, instruction);
  here.kernels().run_leaf_call(this);
}

void KernelCaller::run_leaf_call(LeafCall* call) {
  Frame& frame = call->frame;
  if (!call->is_forced && !call->given && hand_over(*call)) return;
  const bool is_made = take_results(*call);
  if (call->given && !is_made) {  // it is a worker's, as if there were no device
    call->given.reset();
    call->stays = true;
  }
  const FunctionId leaf = call->site.function;
  raddle_leaf_function code = run_.leaves.code(leaf);
  if (!code && !is_made && !call->is_forced && call->stays && waits_for_code_of(program_.functions[leaf])) {
    if (run_.leaves.wait(leaf, *call)) return;
    code = run_.leaves.code(leaf);
  }
  const bool is_done =
      is_made || (!call->is_forced && (code ? call_native(frame, call->site, call->instruction, code)
                                            : call_in_registers(frame, call->site, call->instruction)));
  if (!is_done) here_.interpreter().call_composite(frame, call->site, call->instruction, false);
  here_.destroy(call);
  here_.release(&frame);
}

/// Short ones would hide the tasks that they are in.
void KernelCaller::trace_leaf(TaskTrace& trace, std::int64_t start_ns, const Function& function,
                              std::uint32_t instruction) const {
  constexpr std::int64_t shortest_ns = 10'000;
  const std::int64_t duration_ns = trace.now_ns() - start_ns;
  if (duration_ns < shortest_ns) return;
  trace.add(worker_->index(), {.start_ns = start_ns,
                               .duration_ns = duration_ns,
                               .kind = TaskKind::leaf,
                               .is_nested = true,
                               .name = &function.name,
                               .instruction = instruction});
}

/// @return false: it is to be interpreted in frames
bool KernelCaller::call_native(Frame& frame, const CallSite& site, std::uint32_t instruction,
                               raddle_leaf_function code) {
  const Function& function = program_.functions[site.function];
  LeafWords words, results;
  if (!encode_arguments(frame, site, function, words)) return false;
  raddle_leaf_failure failure;
  failure.call_count = 0;
  ++here_.counters.leaf_calls_native;
  TaskTrace* const trace = run_.options.trace;
  const std::int64_t start_ns = trace ? trace->now_ns() : 0;
  const std::int64_t begun_ns = is_measured(site.function) ? now_ns() : 0;
  const std::int32_t status = code(&worker_->leaf_worker(), words.data(), results.data(), &failure);
  if (begun_ns != 0) note_call(site.function, now_ns() - begun_ns);
  if (trace) trace_leaf(*trace, start_ns, function, instruction);
  if (status == raddle_leaf_shareable) return false;
  if (status == raddle_leaf_recursion_too_deep || status == raddle_leaf_domain_error ||
      status == raddle_leaf_assertion || status == raddle_leaf_interrupted) {
    here_.interpreter().call_composite(frame, site, instruction, true);
    return true;
  }
  if (status != raddle_leaf_ok) {
    fail_native(frame, site, instruction, status, failure);
    return true;
  }
  set_leaf_results(frame, site, instruction, results.data());
  return true;
}

namespace {

/// What native code says of an index: the words are those of interpreted code.
std::string missing_text(Frame& frame, const CallSite& site, const std::vector<KernelType>& types,
                         const raddle_leaf_failure& failure) {
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    if (!is_array(types[i])) continue;
    Array& array = object_in<Array>(frame.at(site.arguments[i]));
    if (address_of(array) == failure.detail[1]) return array.missing(Value::of(failure.detail[0]))->message;
  }
  return fmt::format("the array has no element {}", failure.detail[0]);
}

std::string message_of(Frame& frame, const CallSite& site, const std::vector<KernelType>& types, std::int32_t status,
                       const raddle_leaf_failure& failure) {
  switch (static_cast<raddle_leaf_status>(status)) {
    case raddle_leaf_division_by_zero: return "division by zero";
    case raddle_leaf_integer_overflow: return "integer overflow";
    case raddle_leaf_index_out_of_range: return missing_text(frame, site, types, failure);
    case raddle_leaf_ok:
    case raddle_leaf_recursion_too_deep:
    case raddle_leaf_domain_error:
    case raddle_leaf_assertion:
    case raddle_leaf_interrupted:
    case raddle_leaf_shareable: break;
  }
  return "unknown failure of a leaf function";
}

}  // namespace

void KernelCaller::fail_native(Frame& frame, const CallSite& site, std::uint32_t instruction, std::int32_t status,
                               const raddle_leaf_failure& failure) {
  const auto place_of = [](const raddle_leaf_place& place) { return Place{place.file, place.begin, place.end}; };
  std::vector<Place> calls;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(failure.call_count, raddle_leaf_call_limit); ++i)
    calls.push_back(place_of(failure.calls[i]));
  if (!program_.functions[site.function].is_outlined) calls.push_back(program_.places[instruction]);
  const std::vector<KernelType>& types = program_.functions[site.function].leaf_parameters;
  const std::string message = message_of(frame, site, types, status, failure);
  here_.fail_all(frame, site.results, here_.failure_at(frame, place_of(failure.place), message, std::move(calls)));
}

}  // namespace raddle::vm
