#pragma once
// What neighbouring points of a stencil compute alike.
#include <cstdint>
#include <optional>
#include <vector>

#include "vm/kernel/kernel_compiler.hpp"

namespace raddle::codegen {

/// Note [shared windows]. The mean of 27 elements around a point is computed along the last axis last: of three sums of
/// nine elements. That around the next point is made of two of the same sums and another one. So for points that follow
/// each other all such sums are computed first, one for each element of the row, and then each point reads three of
/// them: 12 numbers in place of 27.
///
/// Where points lie in rows, as those of a nest do, rows have sums in common, too: the nine elements are three sums, of
/// three planes, one for each of three rows. Those of the next row are two of the same and another one. So sums are
/// kept for as many rows as a point needs, in a ring: 9 elements are read in place of 27. What is left is shared along
/// the row as above.
///
/// A part of a kernel is shared if the kernel computes the same of elements that lie `n` further on, too, for some `n`,
/// or so many rows. What may fail, depends on the point's number or is in a branch or loop is computed by each point
/// itself.
struct SharedWindows {
  /// A part, as a kernel for points that reads elements: its one output is the number.
  struct Part {
    vm::Kernel kernel;
    std::vector<std::uint32_t> reads;  ///< by parameter behind the point: which read of the whole kernel
    std::uint32_t reach = 0;           ///< so many numbers more than points are needed
    std::uint32_t rows = 0;            ///< and so many rows more than that of the points
  };
  /// What a parameter of `rest` is.
  struct Input {
    std::optional<std::uint32_t> part;  ///< none: a read of the whole kernel
    std::uint32_t number = 0;           ///< which read; or of the part's numbers the one so much further on
    std::uint32_t row = 0;              ///< of the part: so many rows further on
  };
  std::vector<Part> parts;
  vm::Kernel rest;            ///< the whole kernel, which takes the parts' numbers
  std::vector<Input> inputs;  ///< of `rest`, behind the point
};

/// @param kernel   verified; it has no rows
/// @param reads    so many parameters behind the first one are elements that points read
/// @param follows  see vm::KernelEntry
/// @return  none: it would not pay
std::optional<SharedWindows> share_windows(const vm::Kernel& kernel, std::uint32_t reads, std::uint64_t follows);
/// What rows have in common, not neighbours of a row: share_windows() of the rest tells that.
/// @param row_follows  see vm::KernelEntry
std::optional<SharedWindows> share_rows(const vm::Kernel& kernel, std::uint32_t reads, std::uint64_t follows,
                                        std::uint64_t row_follows);
/// Which inputs of the rest follow the one before: see vm::KernelEntry. @param follows  of the whole kernel
std::uint64_t following_inputs(const SharedWindows& windows, std::uint64_t follows);

}  // namespace raddle::codegen
