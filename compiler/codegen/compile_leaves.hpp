#pragma once
// Leaf functions -> machine code of this process, with LLVM's ORC. No LLVM header is needed to use it.
#include <expected>
#include <memory>
#include <string>

#include "compiler/codegen/leaf_source.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {

/// Owns the code it has made.
/// Threads: one at a time; the code may be called from any. Cost: some milliseconds a leaf, more for long ones.
class LeafJit {
 public:
  /// For the CPU of this machine.
  /// @error  LLVM's text, if it does not know this machine
  static std::expected<std::unique_ptr<LeafJit>, std::string> create(const LeafSource& source);
  ~LeafJit();

  /// Compiles `leaf` with those it calls. Asked again for the same leaf it would fail: see BackgroundCompiler.
  /// @error  why it can not be compiled, in words; nothing of it is kept then
  std::expected<raddle_leaf_function, std::string> compile(ir::FunctionId leaf);

 private:
  struct State;
  explicit LeafJit(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

enum class LlvmText : std::uint8_t { generated, optimised };

/// All leaves of the module as LLVM IR: `--emit=llvm`. A comment stands for each that can not be compiled.
std::expected<std::string, std::string> llvm_text(const LeafSource& source, LlvmText form);

}  // namespace raddle::codegen
