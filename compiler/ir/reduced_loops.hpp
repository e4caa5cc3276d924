#pragma once
// Arrays of a function that only one number is made of: leaves compute them without the array.
#include <unordered_map>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::ir {

/// `sum((a - b) ** 2)` after lowering: a new array, a loop of a whole-array expression that writes all of it, a library
/// function that reduces it, and nothing else that sees it. In the kernel of a leaf all three are one `reduce` (Note
/// [reductions] in vm/kernel/kernel.hpp); the operations stay for who interprets the function.
struct ReducedLoop {
  const Op* array = nullptr;
  const Op* loop = nullptr;
  const Op* reduction = nullptr;
};

/// A growing array of ints or floats with int keys.
bool holds_numbers(const TypeStore& types, TypeId type);
/// A call of a library function that makes of an array what can be made of its parts, in any order.
bool is_reduction(const Op& op);
/// Which needs the squared distances from the mean.
bool needs_deviation(const Op& reduction);

class ReducedLoops {
 public:
  /// Both must stay as they are.
  ReducedLoops(const Module& module, const Function& function);
  /// Of any of the three operations; null: it is none of such.
  const ReducedLoop* of(const Op& op) const {
    const auto found = by_op_.find(&op);
    return found == by_op_.end() ? nullptr : &all_[found->second];
  }

 private:
  std::vector<ReducedLoop> all_;
  std::unordered_map<const Op*, std::size_t> by_op_;
};

}  // namespace raddle::ir
