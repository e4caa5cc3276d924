#pragma once
// Runs kernels by themselves: Note [scalar code] in scalar_code.hpp.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vm/foreign/foreign_code.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

/// Registers and open calls of one worker.
class ScalarMachine {
 public:
  enum class Outcome : std::uint8_t {
    done,
    failed,   ///< something can not be computed, or the calls take too many registers
    stopped,  ///< goes_on() was false
  };

  using Foreigns = std::vector<std::unique_ptr<ForeignCode>>;  ///< by index of Program::foreigns

  /// Both must outlive this.
  ScalarMachine(const Program& program, const Foreigns& foreigns) : program_(program), foreigns_(foreigns) {}

  /// @param leaf       has scalar code
  /// @param arguments  words of its parameters, as in leaf_abi.hpp
  /// @param results    a word for each output
  /// @param goes_on    asked now and then
  template <typename GoesOn>
  Outcome run(FunctionId leaf, std::span<const std::int64_t> arguments, std::int64_t* results, const GoesOn& goes_on) {
    start(leaf, arguments);
    for (;;) {
      const Outcome outcome = advance(results);
      if (outcome != Outcome::stopped) return outcome;
      if (!goes_on()) return Outcome::stopped;
    }
  }

 private:
  struct OpenCall {
    const ScalarCode* code;
    const ScalarInstruction* next;  ///< of a call that has called another one
    const ScalarCall* site;         ///< null: the first one
  };

  void start(FunctionId leaf, std::span<const std::int64_t> arguments);
  /// Until the end, a failure, or for a while.
  Outcome advance(std::int64_t* results);
  bool make_room(std::size_t words);
  bool call_foreign(const ScalarForeignCall& site, std::int64_t* registers);

  const Program& program_;
  const Foreigns& foreigns_;
  std::vector<std::int64_t> registers_;
  std::vector<OpenCall> open_;  ///< from the first on
  std::size_t running_ = 0;     ///< of the open calls the last one; while advance() does not run
  std::size_t base_ = 0;        ///< its first register, likewise
  std::vector<Value> arguments_;
};

}  // namespace raddle::vm
