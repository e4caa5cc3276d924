#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Copies operations of a region, with all that is nested in them, to another place: of the same function or of another
/// one. What they declare is declared anew there.
class RegionCopier {
 public:
  /// `from` and `to` may be the same; both must outlive this.
  RegionCopier(const ir::Function& from, ir::Function& to) : from_(from), to_(to), here_(from.variables.size()) {}

  /// What is copied stands in the place of a call. Note [inlined text] in source_buffer.hpp.
  void set_call(SourceMap& sources, Span call) { sources_ = &sources, call_ = call; }
  /// What stands for a variable of `from` in the copy.
  void set(ir::VarId variable, ir::Operand here) { here_[variable] = here; }
  /// Copies of all operations of a region, for a region of `to`, which declares its variables from now on.
  /// @pre its parameters, and all else that it reads from other regions of another function, have been set
  std::vector<ir::Op> copy(ir::RegionId region, ir::RegionId into);
  /// A copy of one operation, for the same.
  ir::Op copy(const ir::Op& op, ir::RegionId into);

 private:
  void declare(ir::VarId variable, ir::RegionId region);
  void move(Span& span);
  ir::Operand translate(ir::Operand operand) const;

  const ir::Function& from_;
  ir::Function& to_;
  SourceMap* sources_ = nullptr;  ///< null: nothing is inlined
  Span call_;
  std::map<std::uint32_t, std::uint32_t> inlined_files_;
  std::vector<std::optional<ir::Operand>> here_;  ///< by variable of `from`; none: itself
};

}  // namespace raddle::opt
