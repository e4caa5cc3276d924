#pragma once
// Leaf functions as code for registers: how they are interpreted where all of their inputs are there.
#include <cstdint>
#include <vector>

#include "vm/program/builtin_abi.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

namespace math {
struct LaneFunction;
}

/// Note [leaf code]. A leaf without machine code need not be expanded into futures when its inputs are set: its strands
/// can not wait then. So it has a second form, instructions over registers of 8 bytes, encoded as in leaf_abi.hpp: of
/// the parameters, constants, variables and what it passes on. A call's registers lie behind its caller's, its
/// parameters where the caller has put the arguments. Code stops at whatever can not be computed, without saying why:
/// as leaves have no effects, the call is then interpreted in frames, which know the words of messages. A leaf of an
/// index launch may call one function of a shared library: nothing that follows can stop.
/// Code that neither branches nor calls functions of the script can be run for many points of an index launch at once
/// (vm/kernel/lane_machine.hpp).
/// Source of the form: Ierusalimschy, de Figueiredo, Celes, "The Implementation of Lua 5.0" (JUCS 2005).
enum class LeafOpcode : std::uint16_t {
  // a = b op c
  add_int,
  sub_int,
  mul_int,
  idiv,
  mod,
  add_float,
  sub_float,
  mul_float,
  div_float,
  pow_float,
  eq_int,
  ne_int,
  lt_int,
  le_int,
  eq_float,
  ne_float,
  lt_float,
  le_float,
  and_,
  or_,
  get_int,
  get_float,
  get_boolean,  ///< element c of the array in b, b + 1
  // a = op b
  move,
  int_to_float,
  neg_int,
  neg_float,
  not_,
  // a = b*c + d, b*c - d, d - b*c; d is `a` of the instruction that follows
  mul_add,
  mul_sub,
  sub_mul,
  // to instruction a
  jump,
  jump_back,  ///< a loop's: a place to stop
  unless,
  when,  ///< if b is 0, if it is not
  unless_eq_int,
  unless_lt_int,
  unless_le_int,  ///< if not b op c
  // calls
  call,     ///< LeafCode::calls[a]
  library,  ///< LeafCode::library[a]
  foreign,  ///< LeafCode::foreign[a]
  end,
};

struct LeafInstruction {
  LeafOpcode opcode;
  std::uint16_t a = 0, b = 0, c = 0;
};

struct LeafCallCode {
  std::uint32_t function;
  std::vector<std::uint16_t> results;
};

/// A function of the library that only computes.
struct LeafLibraryCode {
  struct Argument {
    ValueKind kind;
    std::uint16_t word;
    Value constant;  ///< a string's
  };
  BuiltinFunction function;
  std::vector<Argument> arguments;
  bool has_result;
  std::uint16_t result;
  const math::LaneFunction* lanes = nullptr;  ///< the same of many floats, if it is mathematics
};

/// A C function of numbers and booleans (ir/library_calls.hpp).
struct LeafForeignCode {
  struct Argument {
    ValueKind kind;
    std::uint16_t word;
  };
  std::uint32_t function;
  std::vector<Argument> arguments;
  std::uint16_t result;
};

/// Registers: parameters, constants, then all others.
struct LeafCode {
  std::vector<LeafInstruction> instructions;  ///< empty: the function has no such form
  std::vector<std::int64_t> constants;
  std::vector<std::uint16_t> outputs;
  std::vector<LeafCallCode> calls;
  std::vector<LeafLibraryCode> library;
  std::vector<LeafForeignCode> foreign;
  std::uint16_t parameter_words = 0;
  std::uint16_t frame_words = 0;  ///< without those that it passes on
  std::uint16_t most_passed = 0;  ///< words of arguments of one call
  /// What a point costs where many are run at once, in instructions; 0: they can not be.
  std::uint32_t batch_cost = 0;
};

}  // namespace raddle::vm
