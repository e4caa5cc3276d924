#pragma once
// All that is assigned to and read from each variable, found by one walk over the bodies.
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/assignment/write_set.hpp"

namespace raddle::check_detail {

/// What is so in the branch that a statement is in: its own condition and those of the branches around.
struct Known {
  Condition condition;
  std::shared_ptr<const Known> around;
};

struct Read {
  Path path;  ///< fields only: reading an element is reading the array
  Span span;
  bool awaits = true;      ///< false: `filename(f)`, which does not need the file itself
  std::size_t number = 0;  ///< in the order of the text
  std::shared_ptr<const Known> known = {};
  std::vector<Path> assigned = {};  ///< parts that a block around it surely assigns
};

/// How often a loop's body runs in one run of the loop, as far as is known before.
enum class Repeats : std::uint8_t {
  never,  ///< once at most
  perhaps,
  surely,  ///< twice or more
};

/// A block that may run at another number of times than what is around it.
struct Surrounding {
  Span span;                 ///< what it depends on; the name of a function
  std::uint32_t number = 0;  ///< of the block
  LoopKind loop = LoopKind::none;
  Repeats repeats = Repeats::never;
  bool is_try = false;
  bool is_loop() const { return loop != LoopKind::none; }
  bool operator==(const Surrounding& other) const { return number == other.number; }
};

struct VariableUse {
  Writes writes;
  std::vector<Read> reads;
  const ast::Expr* mapping = nullptr;                 ///< `file f<"name">`
  std::vector<Surrounding> around;                    ///< the declaration, if there is a mapping; outermost first
  std::vector<Awaited> waits;                         ///< without which such a declaration is not reached
  std::shared_ptr<const Known> known;                 ///< where it is reached
  const ast::FunctionDefinition* function = nullptr;  ///< in which that is; null: top level
  std::vector<Awaited> initial;                       ///< of a loop's variable: without which it has no first value
  std::vector<Awaited> carried;                       ///< of a loop's variable: without which there is no next value
  std::vector<const ast::Expr*> loop_values;          ///< of a loop's variable: its first and its next value
  std::vector<VariableId> in_loops;  ///< the variables that carry it through loops: what they end with is its value
  bool ends_loop = false;            ///< of a loop's variable: it is in the loop's condition
  bool is_declared = false;          ///< by a statement or as a formal of a function with a body
  bool is_updated = false;           ///< `u <incr> := 1.0;`
  bool is_implicit = false;          ///< declared by an assignment
  std::size_t loop_depth = 0;        ///< number of loops around its declaration
};

/// A call of a function with a body.
struct BodyCall {
  const ast::Call* call;
  const ast::FunctionDefinition* function;  ///< in which it is; null: top level
  std::vector<Surrounding> around;          ///< outermost first
  std::vector<Awaited> waits;               ///< without which it is not reached
  std::shared_ptr<const Known> known;       ///< where it is reached
};

struct CollectedUse {
  std::vector<VariableUse> variables;  ///< indexed by VariableId
  std::vector<BodyCall> calls;         ///< none if no function maps a file
};

/// All that is so in a branch.
Condition condition_in(const Known* known);

/// Wherever this is read, the part at `path` is assigned: by the block that declares the variable, which does `writes`,
/// or by one that is in it.
bool is_assigned_at(const Read& read, const Writes& writes, const Path& path);

/// Walks all bodies; reports what is assigned twice and what waits for itself.
CollectedUse collect_use(Context& context);

}  // namespace raddle::check_detail
