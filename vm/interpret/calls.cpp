// Calls of functions of the script and of the library.
#include <fmt/format.h>

#include "vm/interpret/borrow.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"

namespace raddle::vm {

namespace {

/// Callers beyond this depth are not kept for messages when they have nothing left to do.
constexpr std::uint32_t kept_depth = 200;

Frame* function_frame(Frame* frame) {
  while (!frame->is_function()) frame = frame->outer;
  return frame;
}

}  // namespace

void Interpreter::call(Frame& frame, const Instruction& in) {
  const CallSite& site = program_.calls[in.d];
  if (program_.functions[site.function].is_leaf) {
    if (call_leaf(frame, site, index_of(in))) return;
    ++counters.leaf_calls_interpreted;
  }
  call_composite(frame, site, index_of(in), false);
}

void Interpreter::call_composite(Frame& frame, const CallSite& site, std::uint32_t instruction, bool interpret_only) {
  const Function& function = program_.functions[site.function];
  Frame* outer = &frame;
  if (site.is_tail && frame.depth >= kept_depth) {
    Frame* caller = function_frame(&frame);
    if (caller->outer) outer = caller->outer;
  }
  Frame* callee = make_frame(function.body, outer, mix_stream(frame.stream, position_of(instruction)));
  callee->call_site = instruction;
  callee->interpret_only = interpret_only || frame.interpret_only;
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    pass(frame.at(site.arguments[i]), frame, callee->slots()[i], *callee);
  }
  for (std::uint32_t i = 0; i < site.results.size(); ++i) callee->set_output(i, frame.at(site.results[i]));
  if (nesting_ < nesting_limit && !worker_->others_are_hungry())
    activate(callee);
  else
    push(*callee);
}

bool Interpreter::call_builtin(Frame& frame, const Instruction& in) {
  const BuiltinSite& site = program_.builtins[in.d];
  ++counters.builtin_calls;
  arguments_.clear();
  for (const Operand argument : site.arguments) arguments_.push_back(frame.at(argument).get());
  results_.assign(site.results.size(), Value());
  const BuiltinCall call{run_.options.settings, mix_stream(frame.stream, position_of(index_of(in)))};
  const std::expected<void, std::string> outcome = site.function(call, arguments_, results_);
  if (!outcome) fail_results(frame, in, failure_at(frame, index_of(in), outcome.error()));
  for (std::size_t i = 0; i < results_.size() && outcome; ++i) {
    if (site.results[i].is_absent()) continue;
    if (!results_[i] && site.returns_void[i]) results_[i] = Value::of_void();
    set(frame.at(site.results[i]), std::move(results_[i]), frame, index_of(in), site.results[i]);
  }
  for (std::uint32_t i = 0; i < site.file_output_count && outcome; ++i) {
    if (!set(arguments_[i].as_file().complete(), Value::of_void())) {
      assigned_twice(frame, index_of(in), arguments_[i].as_file().path());
    }
  }
  arguments_.clear();
  return outcome.has_value();
}

}  // namespace raddle::vm
