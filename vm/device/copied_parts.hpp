#pragma once
// Arguments of AppKernels that are parts of arrays, copied for one call.
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "vm/program/program.hpp"

namespace raddle::vm {

/// Slices, as `x[i, :]`, lie in arrays of their own when an AppKernel gets them: each call has its copy. Devices are
/// told of the array that it is a part of in its place, so that they know the same part again. Which arguments are such
/// copies is found in the program: a loop fills them with elements of one array that follow each other, and nothing
/// else.
class CopiedParts {
 public:
  /// Elements from `offset` on.
  struct Part {
    BodyId body = 0;        ///< of the call
    Operand array, offset;  ///< seen from there
  };
  explicit CopiedParts(const Program& program);
  /// @param call  the instruction  @return nothing: it is no such copy, as far as is known
  std::optional<Part> part(std::uint32_t call, std::size_t argument) const;

 private:
  std::map<std::uint32_t, std::vector<std::optional<Part>>> parts_;  ///< by argument; of calls that have some
};

}  // namespace raddle::vm
