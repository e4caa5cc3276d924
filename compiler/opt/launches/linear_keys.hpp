#pragma once
// Ints of a loop's body as sums of its variables and of what is the same for all iterations.
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

struct LinearKey {
  std::map<ir::VarId, std::int64_t> terms = {};  ///< factors; none is 0
  std::int64_t constant = 0;
  bool operator==(const LinearKey&) const = default;
};

class LinearKeys {
 public:
  /// All of them must outlive this. @param own  regions of the loop, those within included
  LinearKeys(const ir::Module& module, const ir::Function& around, const ir::Op& loop,
             const std::set<ir::RegionId>& own);

  /// @return none: it is made otherwise, or of numbers that are too large
  std::optional<LinearKey> find(ir::Operand operand) const;
  /// How far the keys of two iterations are apart. @return none: not always as far
  std::optional<std::int64_t> stride(const LinearKey& key) const;

 private:
  const ir::Module& module_;
  const ir::Function& around_;
  const ir::Op& loop_;
  const std::set<ir::RegionId>& own_;
  std::map<ir::VarId, const ir::Op*> made_by_;  ///< in the loop, by one operation only
};

}  // namespace raddle::opt
