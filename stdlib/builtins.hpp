#pragma once
// The table of native library functions. One list, builtins.def.
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stdlib/signature.hpp"
#include "vm/program/builtin_abi.hpp"

namespace raddle::stdlib {

/// How a call may be treated.
enum class BuiltinEffect : std::uint8_t {
  pure,         ///< same inputs, same outputs: may be shared, folded, dropped
  reduces,      ///< pure, and of its array it only wants what a vm::Reduction has without the deviation
  deviates,     ///< pure, and of its array it only wants what a vm::Reduction has
  acts,         ///< none of the others: works on files that are its inputs or outputs, for one
  prints,       ///< acts
  asserts,      ///< acts: fails if something is not so, and gives nothing
  draws,        ///< acts: takes random numbers of the run's seed
  reads_words,  ///< acts: reads the words behind the script
  asks,         ///< acts: what it gives is another value next time, or on another machine
  looks,        ///< acts: at files that are no inputs
  waits,        ///< acts, and its results may come later (vm::BuiltinHost): then it holds no worker meanwhile
  waits_and_prints,
};
inline bool may_end_later(BuiltinEffect effect) {
  return effect == BuiltinEffect::waits || effect == BuiltinEffect::waits_and_prints;
}
inline bool is_reduction(BuiltinEffect effect) {
  return effect == BuiltinEffect::reduces || effect == BuiltinEffect::deviates;
}
inline bool is_pure(BuiltinEffect effect) { return effect == BuiltinEffect::pure || is_reduction(effect); }

struct Builtin {
  std::string_view name;       ///< overloads share it
  std::string_view module;     ///< "" = always there; else the import that brings it
  std::string_view signature;  ///< the text that slices of signature_of() are of
  BuiltinEffect effect;
  vm::BuiltinFunction function;
  std::string_view summary;  ///< a line for users; "" in further overloads of a name in a module
  std::string_view example;  ///< "sqrt(16.0) -> 4.0": an expression and what `trace` prints of it; or statements
};

/// Its signature does not tell of which type the result is; it is not called.
bool is_made_by_lowering(const Builtin& builtin);

/// What a check of extents, indices or axes gives, which only lowering and the library call.
/// @param arguments  ints and strings  @return none: it fails, or is no such check
std::optional<std::int64_t> evaluate_check(const Builtin& builtin, std::span<const vm::Value> arguments);

/// Runs code in a process of the rank that a call's `@location` names.
inline bool uses_rank(const Builtin& builtin) {
  return may_end_later(builtin.effect) && (builtin.module == "python" || builtin.module == "R");
}

/// Indexed by Call::callee_index and ir::Op::callee.
std::span<const Builtin> builtins();
/// @param builtin  an entry of the table
const BuiltinSignature& signature_of(const Builtin& builtin);
inline const BuiltinSignature& signature_of(std::uint32_t index) { return signature_of(builtins()[index]); }

/// A module of the library is one that some builtin names, or that has a source below stdlib/.
bool is_module(std::string_view name);
/// Text of stdlib/NAME.df if the module is (partly) written in the language itself; else empty.
std::string_view module_source(std::string_view name);

}  // namespace raddle::stdlib
