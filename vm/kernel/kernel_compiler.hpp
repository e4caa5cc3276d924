#pragma once
// Where the VM gets machine code for kernels from. Implemented by compiler/codegen, wired by compiler/tool.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vm/kernel/kernel.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::vm {

/// What machine code is made for.
enum class KernelTarget : std::uint8_t {
  host,   ///< the CPU of this machine
  nvptx,  ///< GPUs of NVIDIA, sm_70 and later: text in PTX, ISA 7.8
  super,  ///< the same GPUs: a super kernel for many kernels
};

/// How machine code is called; see raddle_leaf_function.
struct KernelEntry {
  enum Kind : std::uint8_t {
    call,    ///< for one call
    points,  ///< for points of an index launch: Note [stretches] in leaf_abi.hpp
    lanes,   ///< the same, mostly for many at once: side by side, if the kernel lets them
    range,   ///< of points, for the threads of a device: Note [ranges] in leaf_abi.hpp
  };
  Kind kind = call;
  /// Of `points` and `range`: so many parameters, from the second one on, are elements that each point reads.
  std::uint8_t reads = 0;
  /// Of `points`: bit i: read i is mostly of the element behind that of read i - 1, as in windows of a stencil.
  std::uint64_t follows = 0;
  /// Likewise, of an inner loop, whose points are a row: bit i: read i is the first one of some that follow each other,
  /// and mostly of the element that the first one of those before reads in the next row.
  std::uint64_t row_follows = 0;
  static constexpr std::size_t reads_limit = 256;
  constexpr KernelEntry(Kind kind = call, std::uint8_t reads = 0) : kind(kind), reads(reads) {}
  bool operator==(const KernelEntry&) const = default;
};

/// A kernel, by its index in a group, and how it is to be called.
struct KernelEntryPoint {
  KernelId kernel = 0;
  KernelEntry entry;
};

/// The first kernel of a group, for the threads of a device.
struct RangeKernel {
  KernelGroup group;
  KernelEntry entry;  ///< of the kind `range`
};

inline constexpr const char* range_kernel_name = "raddle_range";
inline constexpr const char* super_kernel_name = "raddle_super";

/// Compiles in the background: a request never stops the run.
class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;
  /// Starts compiling the first kernel of the group (with all others, which it calls) on a thread of the compiler's,
  /// for the CPU of this machine. Equal requests get the same code.
  /// @param kernels  verified
  /// @param done  called on such a thread, while others may be called on others, with the code, or nullptr if it could
  ///              not be compiled (the kernel is interpreted then). The code stays valid as long as the compiler lives.
  virtual void request(const KernelGroup& kernels, KernelEntry entry,
                       std::function<void(raddle_leaf_function)> done) = 0;
  /// The same for KernelTarget::nvptx: the text of a module with one kernel, `range_kernel_name`, whose parameters are
  /// the words of Note [ranges], of 8 bytes each, then the address of a word that becomes the least number of a point
  /// that does not end well, if it is less than what is there. No kernel of the group may be recursive or call C.
  /// @param entry  of the kind `range`  @param done  "": it could not be compiled
  virtual void request_ptx(const KernelGroup& kernels, KernelEntry entry, std::function<void(std::string)> done) = 0;
  /// For KernelTarget::super: a module with one kernel, `super_kernel_name`, which takes the Queues of
  /// gpu/superkernel/queues.hpp. Its function N computes points of ranges[N], whose words lie in memory.
  virtual void request_super_ptx(const std::vector<RangeKernel>& ranges, std::function<void(std::string)> done) = 0;
};

}  // namespace raddle::vm
