#pragma once
// Programs written by hand, for tests of the interpreter alone. Strands of a region are given in order; regions are
// made before the instruction that enters them.
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/stress/schedulers.hpp"
#include "vm/interpret/run.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm::test {

inline Operand slot(std::uint32_t index, std::uint32_t level = 0) { return Operand::local(index, level, false); }
inline Operand output(std::uint32_t index, std::uint32_t level = 0) { return Operand::local(index, level, true); }

struct StrandText {
  std::vector<AwaitedInput> awaited;
  std::vector<Instruction> code;
};

class Assembler {
 public:
  Operand constant(Value value) {
    program.constants.push_back(std::move(value));
    return Operand::constant(static_cast<std::uint32_t>(program.constants.size() - 1));
  }
  Operand constant(int value) { return constant(Value::of(std::int64_t{value})); }

  /// @param futures  names of the variables, parameters first; outputs get the slots behind them
  BodyId body(FunctionId function, const std::vector<std::string>& futures,
              const std::vector<std::string>& outputs = {}, BodyId parent = no_id) {
    Body body;
    body.function = function;
    body.parent = parent;
    body.future_count = static_cast<std::uint32_t>(futures.size());
    body.output_count = static_cast<std::uint32_t>(outputs.size());
    for (const auto& names : {futures, outputs}) {
      for (const std::string& name : names) body.variables.push_back({name, next_place(), {}});
    }
    program.bodies.push_back(std::move(body));
    return static_cast<BodyId>(program.bodies.size() - 1);
  }

  FunctionId function(const std::string& name, BodyId body, std::uint32_t parameters) {
    Function function;
    function.name = name;
    function.body = body;
    function.parameter_count = parameters;
    function.output_count = program.bodies[body].output_count;
    program.functions.push_back(std::move(function));
    return static_cast<FunctionId>(program.functions.size() - 1);
  }

  RegionId region(BodyId body, const std::vector<StrandText>& strands) {
    const auto first = static_cast<StrandId>(program.strands.size());
    for (const StrandText& text : strands) {
      Strand strand;
      strand.body = body;
      strand.first_awaited = static_cast<std::uint32_t>(program.awaited.size());
      strand.awaited_count = static_cast<std::uint32_t>(text.awaited.size());
      strand.first_instruction = static_cast<std::uint32_t>(program.instructions.size());
      strand.instruction_count = static_cast<std::uint32_t>(text.code.size());
      if (!text.awaited.empty()) strand.state = program.bodies[body].state_count++;
      program.awaited.insert(program.awaited.end(), text.awaited.begin(), text.awaited.end());
      for (const Instruction& in : text.code) {
        program.instructions.push_back(in);
        program.places.push_back(next_place());
        program.streams.push_back(program.instructions.size());
      }
      program.strands.push_back(strand);
    }
    program.regions.push_back({first, static_cast<std::uint32_t>(strands.size())});
    return static_cast<RegionId>(program.regions.size() - 1);
  }

  /// Instruction that calls `function`.
  Instruction call(FunctionId function, std::vector<Operand> arguments, std::vector<Operand> results) {
    program.calls.push_back({function, std::move(arguments), std::move(results), {}, {}, false});
    Instruction in;
    in.opcode = Opcode::call;
    in.d = static_cast<std::uint32_t>(program.calls.size() - 1);
    return in;
  }

  static Instruction op(Opcode opcode, Operand a, Operand b = {}, Operand c = {}, std::uint32_t d = 0) {
    Instruction in;
    in.opcode = opcode;
    in.a = a;
    in.b = b;
    in.c = c;
    in.d = d;
    return in;
  }

  Program program;

 private:
  Place next_place() {
    ++position_;
    return {0, position_, position_ + 1};
  }
  std::uint32_t position_ = 0;
};

/// Runs with both schedulers, several numbers of workers and orders of tasks; `look` checks each result.
template <typename Look>
void run_everywhere(const Program& program, const Look& look, bool keep_going = false) {
  constexpr unsigned worker_counts[] = {1, 2, 8};
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    for (std::size_t w = 0; w < std::size(worker_counts); ++w) {
      for (std::size_t s = 0; s < std::size(schedulers); ++s) {
        if (seed != 0 && (w + seed) % std::size(schedulers) != s) continue;  // these take long: schedulers in turn
        RunOptions options;
        options.scheduler = schedulers[s].scheduler;
        options.queue_order = schedulers[s].order;
        options.workers = worker_counts[w];
        options.scheduler_seed = seed;
        options.keep_going = keep_going;
        look(run(program, options));
      }
    }
  }
}

}  // namespace raddle::vm::test
