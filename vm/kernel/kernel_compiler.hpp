#pragma once
// Where the VM gets machine code for kernels from. Implemented by compiler/codegen, wired by compiler/tool.
#include <cstddef>
#include <cstdint>
#include <functional>

#include "vm/kernel/kernel.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::vm {

/// What machine code is made for.
enum class KernelTarget : std::uint8_t { host };  ///< the CPU of this machine

/// How machine code is called; see raddle_leaf_function.
struct KernelEntry {
  enum Kind : std::uint8_t {
    call,    ///< for one call
    points,  ///< for points of an index launch: Note [stretches] in leaf_abi.hpp
    lanes,   ///< the same, mostly for many at once: side by side, if the kernel lets them
  };
  Kind kind = call;
  /// Of `points`: so many parameters, from the second one on, are elements that each point reads.
  std::uint8_t reads = 0;
  static constexpr std::size_t reads_limit = 256;
  constexpr KernelEntry(Kind kind = call, std::uint8_t reads = 0) : kind(kind), reads(reads) {}
  bool operator==(const KernelEntry&) const = default;
};

/// A kernel, by its index in a group, and how it is to be called.
struct KernelEntryPoint {
  KernelId kernel = 0;
  KernelEntry entry;
};

/// Compiles in the background: a request never stops the run.
class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;
  /// Starts compiling the first kernel of the group (with all others, which it calls) on the compiler's own thread.
  /// Equal requests get the same code.
  /// @param kernels  verified
  /// @param done  called on that thread with the code, or nullptr if it could not be compiled (the kernel is
  ///              interpreted then). The code stays valid as long as the compiler lives.
  virtual void request(const KernelGroup& kernels, KernelEntry entry, KernelTarget target,
                       std::function<void(raddle_leaf_function)> done) = 0;
};

}  // namespace raddle::vm
