#pragma once
// Where the VM gets machine code for leaf functions from. Implemented by compiler/codegen, wired by compiler/tool.
#include <atomic>
#include <cstdint>
#include <functional>

#include "vm/program/leaf_abi.hpp"

namespace raddle::vm {

using LeafId = std::uint32_t;

/// Compiles in the background: a request never stops the run.
class LeafCompiler {
 public:
  virtual ~LeafCompiler() = default;
  /// Starts compiling `leaf` (with the leaves it calls) on the compiler's own thread; at most once for each leaf.
  /// @param done  called on that thread with the code, or nullptr if it could not be compiled (the leaf is
  ///              interpreted then). The code stays valid as long as the compiler lives.
  virtual void request(LeafId leaf, std::function<void(raddle_leaf_function)> done) = 0;
};

}  // namespace raddle::vm
