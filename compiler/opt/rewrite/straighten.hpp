#pragma once
// Control that is known when compiling gives way to what it does.
#include <functional>

#include "compiler/opt/rewrite/known_values.hpp"

namespace raddle::opt {

/// How often the body of a `foreach` runs. none: not known
std::optional<std::int64_t> trip_count(const KnownValues& known, const ir::Op& foreach_range);

/// Puts the operations of a region, with their variables, in the place of an operation of the region around it.
void take_out(ir::Function& function, ir::RegionId nested, ir::RegionId around, std::vector<ir::Op>& ops);
/// Nothing is in the region any more, nor in those in it.
void clear_region(ir::Function& function, ir::RegionId region);

/// Branches whose condition is a constant are replaced by the one that is taken, `wait` for constants by its region.
/// @param may  leaves others as they are; null: all  @return true if something has changed
bool take_known_branches(const ir::Module& module, ir::Function& function,
                         const std::function<bool(const ir::Op&)>& may = nullptr);

}  // namespace raddle::opt
