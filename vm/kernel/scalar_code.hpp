#pragma once
// Kernels as flat code for the scalar machine.
#include <cstdint>
#include <vector>

#include "vm/kernel/kernel.hpp"

namespace raddle::vm {

/// Note [scalar code]. A leaf without machine code need not be expanded into futures when its inputs are set: its
/// strands can not wait then. So its kernel is assembled to instructions over registers of 8 bytes, encoded as in
/// leaf_abi.hpp: of the parameters, constants, variables and what it passes on. A call's registers lie behind its
/// caller's, its parameters where the caller has put the arguments. Code stops at whatever can not be computed, without
/// saying why: as leaves have no effects, the call is then interpreted in frames, which know the words of messages. A
/// leaf of an index launch may call one function of a shared library: nothing that follows can stop.
/// Source of the form: Ierusalimschy, de Figueiredo, Celes, "The Implementation of Lua 5.0" (JUCS 2005).
enum class ScalarOpcode : std::uint16_t {
// a = op of b, c, and `a` of the instruction that follows, as many as there are; arrays are in two words
#define RADDLE_KERNEL_OP(name, inputs, result, failure) name,
#include "vm/kernel/kernel_ops.def"
  // to instruction a
  jump,
  jump_back,  ///< a loop's: a place to stop
  unless,
  when,  ///< if b is 0, if it is not
  unless_eq_int,
  unless_ne_int,
  unless_lt_int,
  unless_le_int,  ///< if not b op c
  // calls
  call,     ///< ScalarCode::calls[a]
  foreign,  ///< ScalarCode::foreign_calls[a]
  end,
};

struct ScalarInstruction {
  ScalarOpcode opcode;
  std::uint16_t a = 0, b = 0, c = 0;
};

struct ScalarCall {
  KernelId kernel;
  std::vector<std::uint16_t> results;
};

struct ScalarForeignCall {
  struct Argument {
    KernelType type;  ///< no array
    std::uint16_t word;
  };
  std::uint32_t function;
  std::vector<Argument> arguments;
  std::uint16_t result;
};

/// Words: parameters, constants, then all others.
struct ScalarCode {
  std::vector<ScalarInstruction> instructions;  ///< empty: the kernel has no such form
  std::vector<std::int64_t> constants;
  std::vector<std::uint16_t> outputs;
  std::vector<ScalarCall> calls;
  std::vector<ScalarForeignCall> foreign_calls;
  std::uint16_t parameter_words = 0;
  std::uint16_t frame_words = 0;  ///< without those that it passes on
  std::uint16_t most_passed = 0;  ///< words of arguments of one call

  bool exists() const { return !instructions.empty(); }
};

/// @return no instructions if the kernel is too long, reduces, calls two C functions or one of arrays
ScalarCode assemble(const Kernel& kernel);

}  // namespace raddle::vm
