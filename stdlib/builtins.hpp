#pragma once
// The table of native library functions. One list, builtins.def; the checker reads the signatures, the VM calls
// the functions.
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "vm/program/builtin_abi.hpp"

namespace raddle::stdlib {

/// How a call may be treated.
enum class BuiltinEffect : std::uint8_t {
  pure,         ///< same inputs, same outputs: may be shared, folded, dropped
  reduces,      ///< pure, and of its array it only wants what a vm::Reduction has
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
inline bool is_pure(BuiltinEffect effect) { return effect == BuiltinEffect::pure || effect == BuiltinEffect::reduces; }

struct Builtin {
  std::string_view name;       ///< overloads share it
  std::string_view module;     ///< "" = always there; else the import that brings it
  std::string_view signature;  ///< "string(string,int,int=-1)": see Note [signatures] in builtins.def
  BuiltinEffect effect;
  vm::BuiltinFunction function;
  std::string_view summary;  ///< a line for users; "" in further overloads of a name in a module
  std::string_view example;  ///< "sqrt(16.0) -> 4.0": an expression and what `trace` prints of it; or statements
};

inline bool gives_nothing(const Builtin& builtin) { return builtin.signature.starts_with("void("); }

/// The builtin's only input is a file or url of which it uses the name. Note [signatures] in builtins.def has the mark.
bool uses_name_of_file(const Builtin& builtin);
bool uses_name_of_url(const Builtin& builtin);
/// It looks at an array as it is at the time of the call.
bool looks_at_growing_array(const Builtin& builtin);

/// The builtin's last input is how many processes it uses: what `@par` before a call says.
inline bool takes_process_count(const Builtin& builtin) { return builtin.signature.ends_with("int par=1)"); }

/// Indexed by Call::callee_index and ir::Op::callee.
std::span<const Builtin> builtins();

/// A module of the library is one that some builtin names, or that has a source below stdlib/.
bool is_module(std::string_view name);
/// Text of stdlib/NAME.df if the module is (partly) written in the language itself; else empty.
std::string_view module_source(std::string_view name);

}  // namespace raddle::stdlib
