#pragma once
// Which operations tell the iterations at the ends of a loop's range from the others.
#include <cstdint>
#include <optional>

#include "compiler/ir/module.hpp"
#include "compiler/opt/ints/int_order.hpp"

namespace raddle::opt {

/// Of a loop's variable with the iteration `distance` behind the first one, or before the last one.
struct BorderTest {
  ir::OpKind kind = ir::OpKind::eq;  ///< a comparison; the variable is on the left
  bool is_at_low = true;
  std::int64_t distance = 0;
};

/// Iterations of a loop, counted from its first one on, or from its last one on: then those before have less than 0.
struct Iterations {
  bool is_at_low = true;
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first + 1; }
};

/// What the test gives in all of the iterations. @return none: it differs, or nothing is known
std::optional<bool> outcome(const BorderTest& test, const Iterations& iterations);
/// Iterations at one end for which the test gives something else than for the others. @return none: none, or many
std::optional<Iterations> border_of(const BorderTest& test);
Iterations all_but(const Iterations& border);

/// `(i + offset) %% n`, or `(i + n + offset) %% n`: that is i + offset where the test does not hold. Where it does, the
/// second one is what is divided.
struct WrappedIndex {
  BorderTest test;
  ir::Operand variable;
  std::int64_t offset = 0;
};

/// Finds both in a function, which must not change meanwhile.
class BorderTests {
 public:
  BorderTests(const ir::Module& module, const ir::Function& function)
      : module_(module), function_(function), order_(module, function) {}
  /// @return none: the operation compares the loop's variable with no iteration at that end
  std::optional<BorderTest> test(const ir::Op& loop, const ir::Op& op, bool is_at_low) const;
  std::optional<WrappedIndex> wrapped_index(const ir::Op& loop, const ir::Op& op) const;

 private:
  /// `own` times the loop's variable, `extents` times an extent, and a number.
  struct Terms {
    std::int64_t own = 0, extents = 0, number = 0;
  };
  bool add_terms(Terms& terms, ir::Operand operand, std::int64_t sign, ir::Operand variable, const ints::IntSum& extent,
                 unsigned steps) const;
  ir::Operand variable_of(const ir::Op& loop) const {
    return ir::Operand::variable(function_.regions[loop.regions[0]].parameters[0]);
  }

  const ir::Module& module_;
  const ir::Function& function_;
  const ints::IntOrder order_;
};

}  // namespace raddle::opt
