// Calls of functions of the script and of the library.
#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "vm/calls/memo_caller.hpp"
#include "vm/calls/program_caller.hpp"
#include "vm/interpret/builtin_return.hpp"
#include "vm/interpret/builtin_task.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/kernel_caller.hpp"
#include "vm/interpret/placed_calls.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/interpret/task_timer.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/string_limit.hpp"

namespace raddle::vm {

namespace {

/// Callers beyond this depth are not kept for messages when they have nothing left to do.
constexpr std::uint32_t kept_depth = 200;

/// Open activations in one chain of calls that are shown as a recursion.
constexpr std::uint64_t least_recursion = 1000;

/// @return what is wrong with results of a function of the library, "" if nothing
std::string too_long_result(const std::vector<Value>& results) {
  for (const Value& result : results)
    if (result.kind() == ValueKind::string && result.as_string().size() > longest_string)
      return too_long_text(result.as_string().size());
  return {};
}

/// Of one call, on the stack of call_builtin.
class CallHost final : public BuiltinHost {
 public:
  CallHost(RunWorker& here, Frame& frame, std::uint32_t instruction)
      : here_(here), frame_(frame), instruction_(instruction) {}
  BuiltinCompletion end_later() override {
    ends_later_ = true;
    frame_.retain();
    auto* ending = here_.make<BuiltinReturn>(frame_, instruction_);
    Run& run = here_.run();
    run.pool.hold();
    run.throttle.begin();
    return [ending, &pool = run.pool](BuiltinOutcome outcome, std::int32_t rank) {
      ending->outcome = std::move(outcome);
      ending->rank = rank;
      pool.inject(*ending);
      pool.release_hold();
    };
  }
  Outside& outside() override { return here_.run().outside; }
  std::int32_t rank() const override { return static_cast<std::int32_t>(here_.worker().index()); }
  bool ends_later() const { return ends_later_; }

 private:
  RunWorker& here_;
  Frame& frame_;
  const std::uint32_t instruction_;
  bool ends_later_ = false;
};

/// The frame of the function that this one belongs to; null if an attempt is between them, whose end would come too
/// soon without its call.
Frame* function_frame(Frame* frame) {
  while (!frame->is_function()) {
    if (frame->is_attempt) return nullptr;
    frame = frame->outer;
  }
  return frame;
}

}  // namespace

/// Of an operand of a call, whose value is there.
std::int32_t Interpreter::priority_of(Frame& frame, Operand operand) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(frame.at(operand).get().as_int(), Limits::min(), Limits::max()));
}

void Interpreter::call(Frame& frame, const Instruction& in) {
  const CallSite& site = program_.calls[in.d];
  const std::uint32_t instruction = here_.index_of(in);
  if (run_.machine.placed_calls && place_call(frame, site, instruction)) return;
  if (!site.priority.is_absent()) return call_by_priority(frame, site, instruction);
  call_now(frame, site, instruction);
}

void Interpreter::call_now(Frame& frame, const CallSite& site, std::uint32_t instruction) {
  if (program_.functions[site.function].is_leaf) {
    if (here_.kernels().call_leaf(frame, site, instruction)) return;
    ++here_.counters.leaf_calls_interpreted;
  } else if (here_.programs().call_foreign(frame, site, instruction)) {
    return;
  }
  call_composite(frame, site, instruction, false);
}

void Interpreter::call_by_priority(Frame& frame, const CallSite& site, std::uint32_t instruction) {
  const std::int32_t priority = priority_of(frame, site.priority);
  if (here_.kernels().queue_leaf(frame, site, instruction, priority)) return;
  if (Frame* callee = enter_function(frame, site, instruction, false)) {
    callee->priority = priority;
    here_.push(*callee, priority);
  }
}

void Interpreter::call_composite(Frame& frame, const CallSite& site, std::uint32_t instruction, bool interpret_only) {
  Frame* callee = enter_function(frame, site, instruction, interpret_only);
  if (!callee) return;
  // while too much is under way outside, what would only add to it waits as loops do: so recursion is bounded, too.
  // Calls by priority keep their order
  const bool adds_programs = program_.functions[site.function].starts_programs && callee->priority == 0;
  if (adds_programs && run_.throttle.is_tight() && run_.throttle.park(*callee)) return;
  switch (way_of_call(site.function)) {
    case CallWay::queued: return here_.push(*callee, callee->priority);
    case CallWay::timed: return may_nest() ? activate_timed(callee) : here_.push(*callee, callee->priority);
    case CallWay::in_place: return may_nest() ? activate(callee) : here_.push(*callee, callee->priority);
  }
}

/// See Note [call profiles].
CallWay Interpreter::way_of_call(FunctionId function) {
  const CallProfile& profile = run_.call_profiles[function];
  const bool is_shared_out = here_.nesting.iterations > 0 || run_.pool.capacity() == 1;
  if (!is_shared_out && profile.may_be_long() && !is_perturbed_ && worker_->waiting_tasks() < most_waiting_calls)
    return CallWay::queued;
  if (!worker_->others_are_hungry())
    return is_shared_out || ++calls_in_place_ % calls_to_time != 0 ? CallWay::in_place : CallWay::timed;
  return !profile.is_short() || worker_->queues_all() || is_due_to_share() ? CallWay::queued : CallWay::timed;
}

bool Interpreter::is_due_to_share() {
  const std::int64_t now = now_ns();
  if (now < next_share_ns_) return false;
  next_share_ns_ = now + share_interval_ns;
  return true;
}

/// The frame outside of that of a call.
Frame& Interpreter::frame_around(Frame& frame, const CallSite& site) {
  if (!site.is_tail || frame.depth < kept_depth) return frame;
  Frame* const caller = function_frame(&frame);
  return caller && caller->outer ? *caller->outer : frame;
}

/// @return the frame that is to be activated; null where there is no memory for it
Frame* Interpreter::enter_function(Frame& frame, const CallSite& site, std::uint32_t instruction, bool interpret_only) {
  if (run_.cells.is_full()) {
    end_for_memory(frame, instruction);
    return nullptr;
  }
  Frame& around = frame_around(frame, site);
  if (around.call_depth >= run_.options.most_nested_calls) {
    end_for_depth(frame, instruction);
    return nullptr;
  }
  const Function& function = program_.functions[site.function];
  Frame* callee = here_.make_frame(function.body, &around, here_.stream_at(frame, instruction));
  callee->call_site = instruction;
  callee->interpret_only = interpret_only || frame.interpret_only;
  if (run_.machine.placed_calls) {
    const PlacedCalls::CallId id = std::exchange(placing_, no_id);
    callee->placed = id != no_id ? id : frame.inner_placed();
  }
  if (!site.rank.is_absent()) callee->rank = RankWish::from_code(frame.at(site.rank).get().as_int());
  callee->followed_rank = here_.followed_rank;
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    pass(frame.at(site.arguments[i]), frame, callee->slots()[i], *callee);
  }
  for (std::uint32_t i = 0; i < site.results.size(); ++i) callee->set_output(i, frame.at(site.results[i]));
  return callee;
}

/// The function with the most activations around a frame, and how many these are.
std::pair<const std::string&, std::uint64_t> Interpreter::most_active(const Frame& frame) const {
  std::vector<std::uint64_t> activations(program_.functions.size());
  for (const Frame* each = &frame; each != nullptr; each = each->outer)
    if (each->is_function()) ++activations[each->body.function];
  const auto most = std::ranges::max_element(activations);
  return {program_.functions[static_cast<std::size_t>(most - activations.begin())].name, *most};
}

void Interpreter::end_for_depth(Frame& frame, std::uint32_t instruction) {
  if (run_.is_stopped()) return;
  here_.end_run_at(
      frame, instruction,
      fmt::format("more than {} calls are open inside each other, most of them of `{}`: does the recursion "
                  "end? `--call-memory N` allows as many as fit into N MiB",
                  run_.options.most_nested_calls, most_active(frame).first));
}

void Interpreter::end_for_memory(Frame& frame, std::uint32_t instruction) {
  if (run_.is_stopped()) return;
  const auto [name, most] = most_active(frame);
  std::uint64_t about = 1;  // which of the calls finds no memory is an accident of the schedule
  while (about <= most / 10) about *= 10;
  const std::size_t mebibytes = run_.cells.limit_bytes() >> 20;
  const std::string memory = fmt::format("more than {} MiB (see --call-memory)", mebibytes);
  here_.end_run_at(
      frame, instruction,
      about < least_recursion
          ? fmt::format("open calls and loops take {}", memory)
          : fmt::format("more than {} activations of `{}` are open, which take {}: does the recursion end?", about,
                        name, memory));
}

bool Interpreter::call_builtin(Frame& frame, const Instruction& in) {
  const BuiltinSite& site = program_.builtins[in.d];
  if (site.priority.is_absent()) return call_builtin_now(frame, in);
  frame.retain();
  here_.push(*here_.make<BuiltinTask>(frame, here_.index_of(in)), priority_of(frame, site.priority));
  return true;
}

void BuiltinTask::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::strand, frame, instruction);
  here.interpreter().run_builtin(this);
}

void Interpreter::run_builtin(BuiltinTask* task) {
  Frame& frame = task->frame;
  call_builtin_now(frame, program_.instructions[task->instruction]);
  here_.destroy(task);
  here_.release(&frame);
}

bool Interpreter::call_builtin_now(Frame& frame, const Instruction& in) {
  const BuiltinSite& site = program_.builtins[in.d];
  ++here_.counters.builtin_calls;
  if (site.file_output_count != 0) {
    if (const Value failure = here_.programs().begin_outputs_at_once(frame, in)) {
      fail_results(frame, in, failure);
      return false;
    }
  }
  arguments_.clear();
  for (const Operand argument : site.arguments) arguments_.push_back(frame.at(argument).get());
  if (BoundedMemory::get()) {
    for (const Value& argument : arguments_) {
      const Buffer* const numbers = argument.kind() == ValueKind::array ? argument.as_array().find_packed() : nullptr;
      if (numbers) numbers->announce();
    }
    for (const Value& argument : arguments_)
      if (argument.kind() == ValueKind::array) argument.as_array().use_packed();
  }
  results_.assign(site.results.size(), Value());
  if (site.files_read != FilesRead::none) here_.memos().note_reads(frame, site);
  if (site.runs_code) run_.note_program();
  CallHost host(here_, frame, here_.index_of(in));
  const BuiltinCall call{.settings = run_.options.settings,
                         .stream = here_.stream_at(frame, here_.index_of(in)),
                         .host = &host,
                         .rank = here_.rank_wish(frame, site.rank)};
  std::expected<void, std::string> outcome = site.function(call, arguments_, results_);
  arguments_.clear();
  if (host.ends_later()) return true;
  if (std::string problem = too_long_result(results_); outcome && !problem.empty())
    outcome = std::unexpected(std::move(problem));
  if (outcome && site.files_read == FilesRead::of_pattern) here_.memos().note_found(frame, results_[0]);
  if (outcome) {
    set_results(frame, in, results_);
  } else {
    fail_results(frame, in, here_.failure_at(frame, here_.index_of(in), outcome.error()));
  }
  return outcome.has_value();
}

void Interpreter::set_results(Frame& frame, const Instruction& in, std::vector<Value>& results) {
  const BuiltinSite& site = program_.builtins[in.d];
  results.resize(site.results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (site.results[i].is_absent()) continue;
    if (!results[i] && site.returns_void[i]) results[i] = Value::of_void();
    here_.set(frame.at(site.results[i]), std::move(results[i]), frame, here_.index_of(in), site.results[i]);
  }
  for (std::uint32_t i = 0; i < site.file_output_count; ++i) {
    File& file = object_in<File>(frame.at(site.arguments[i]));
    if (!here_.set(file.complete(), Value::of_void())) here_.assigned_twice(frame, here_.index_of(in), file.path());
  }
}

void BuiltinReturn::run(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const TaskTimer timer(here, TaskKind::ending, frame, instruction);
  here.interpreter().finish_builtin(this);
}

void Interpreter::finish_builtin(BuiltinReturn* ended) {
  Frame& frame = ended->frame;
  const Instruction& in = program_.instructions[ended->instruction];
  if (ended->outcome)
    if (std::string problem = too_long_result(*ended->outcome); !problem.empty())
      ended->outcome = std::unexpected(std::move(problem));
  const FollowedRank followed(here_, ended->rank);
  if (ended->outcome) {
    set_results(frame, in, *ended->outcome);
  } else {
    fail_results(frame, in, here_.failure_at(frame, ended->instruction, ended->outcome.error()));
  }
  here_.destroy(ended);
  here_.release(&frame);
  run_.throttle.end(1);
}

}  // namespace raddle::vm
