#pragma once
// Which ints and booleans have the same value whenever they are set, and which dense arrays the same shape.
#include <functional>
#include <optional>
#include <vector>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Found by following all operations until nothing changes. What a loop carries is first taken to be what it begins
/// with, until its body gives something else: so the extents of an array that goes through a loop are known.
/// Source: M. N. Wegman, F. K. Zadeck, "Constant Propagation with Conditional Branches", 1991, without the branches
class KnownValues {
 public:
  /// Whose results are taken to be whatever fits, as its body will stand in its place.
  using IsOpen = std::function<bool(const ir::Op& call)>;
  /// Both must outlive this. Of variables that come later nothing is known.
  KnownValues(const ir::Module& module, const ir::Function& function, IsOpen is_open);

  /// @return null: not known, or the variable is never set
  const ir::Constant* of(ir::Operand operand) const;
  std::optional<std::int64_t> number(ir::Operand operand) const;
  /// How many elements a dense array has.
  std::optional<std::int64_t> element_count(ir::VarId dense) const;
  /// The extents of a dense array, all of them known.
  std::optional<std::vector<std::int64_t>> extents(ir::VarId dense) const;
  /// No extent of the dense array is known to differ: each is known, or rests on open calls.
  bool may_be_known(ir::VarId dense) const;

 private:
  struct Cell {
    enum class State : std::uint8_t { open, known, varying } state = State::open;
    ir::Constant value = std::int64_t{0};
    bool operator==(const Cell&) const = default;
  };
  using Cells = std::vector<Cell>;  ///< one for a scalar, one for each extent of a dense array

  static Cell cell_of(const ir::Constant& value);
  Cells cells_of(ir::Operand operand) const;
  Cells all(ir::VarId variable, Cell::State state) const;
  void meet(ir::VarId variable, const Cells& with);
  void follow(const ir::Op& op);
  Cell result_of(const ir::Op& op) const;

  const ir::Module& module_;
  const ir::Function& function_;
  const IsOpen is_open_;
  std::vector<Cells> cells_;  ///< by variable
  bool has_changed_ = true;
};

}  // namespace raddle::opt
