#pragma once
// Inside of launch_flat_body: what an iteration computes is copied, operation by operation, into the function that is
// made. Files: flat_bodies.cpp values and operations; flat_arrays.cpp arrays; flat_control.cpp loops and branches;
// flat_calls.cpp calls of functions.
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/opt/flatten/body_builder.hpp"
#include "compiler/ir/body_accesses.hpp"
#include "compiler/ir/reduced_loops.hpp"
#include "stdlib/own_functions.hpp"

namespace raddle::opt {

/// What a variable is in the function that is made: a value, or of a structure values of its fields.
struct Known {
  ir::Operand operand = {};  ///< index none: not assigned yet, a field
  std::vector<Known> fields = {};
  ir::RegionId made_in = ir::none;  ///< a structure whose fields are assigned one by one, in that region
};

/// The variables of the loop's body, or of a function that is called.
struct Scope {
  const ir::Function* function = nullptr;
  bool is_body = false;
  std::unordered_map<ir::VarId, Known> known = {};
  std::set<ir::VarId> assigned_in_branches = {};  ///< by copies to what is known of them
};

/// What the kernel of a loop's iterations is made of.
struct FlatBody {
  ir::Function function;              ///< a launched leaf
  std::vector<ir::Operand> captures;  ///< parameters behind the first one, which is the loop's variable
  std::vector<ir::Access> accesses;   ///< of its outputs
};

/// Why an operation can not be a part of a kernel, where several places say so: whole clauses.
inline constexpr std::string_view other_type = "it needs what is neither a number nor an array of numbers",
                                  other_array = "it makes an array of other things than numbers",
                                  array_in_each = "it makes an array in each iteration of a loop within",
                                  other_element = "it writes elements by other numbers than that of the iteration",
                                  unknown_step = "whether the range goes up or down is known only when it runs",
                                  open_array =
                                      "it needs an array as a whole of which it is not known here that each "
                                      "element is assigned",
                                  unknown_extent = "extents, or an axis, are known only when it runs";

class Flattener {
 public:
  Flattener(ir::Module& module, const ir::Function& around, const ir::Op& loop);
  std::optional<FlatBody> run();
  struct Refused {
    Span span;
    std::string_view why;
  };
  /// The operation that can not be a part of a kernel. @pre run() has made none
  std::optional<Refused> refused() const { return refused_; }

 private:
  /// What a branch that is tried may have to begin anew from.
  struct State {
    BodyBuilder builder;
    std::vector<ir::Operand> captures = {};
    std::vector<std::optional<ir::Operand>> outputs = {};  ///< by write of the body
    bool has_own_array = false;
  };

  /// That loops which are one now have had between them.
  static void drop_unread_arrays(ir::Function& function);
  void refuse(std::string_view why);
  void collect_inside(ir::RegionId id);
  bool is_outside(ir::Operand operand) const;
  /// Elements of arrays from outside that have the iteration's number, and rows; the body reads none of these arrays.
  bool are_sinks() const;
  bool is_written(ir::VarId array) const;

  // ---------------------------------------------------------------- values
  TypeId type_of(const Scope& scope, ir::Operand operand) const;
  Known known(Scope& scope, ir::Operand operand);
  static bool is_there(const Known& known);
  ir::Operand value(Scope& scope, ir::Operand operand);
  std::vector<ir::Operand> values(Scope& scope, const std::vector<ir::Operand>& operands);
  /// What keys and bounds from outside are made of is to be known here.
  std::optional<Known> computed_again(Scope& scope, ir::Operand operand);
  const ir::Op* maker_of(ir::VarId variable) const;
  /// An extent that was checked to be another one: it is a parameter nevertheless, as the check is to be waited for.
  std::optional<Known> checked_extent(Scope& scope, ir::VarId variable);
  void bind(Scope& scope, ir::VarId variable, Known value);
  /// Of an own array that is there as a whole, or one from outside.
  ir::Operand array(Scope& scope, ir::Operand operand);
  /// What comes behind may read all of its elements. @return what it is to read
  ir::Operand complete(ir::Operand array);
  bool is_dense(const Known& known) const;
  /// What is known of something in parts that loops carry: its fields, or itself. Extents of dense arrays are none:
  /// they are to stay the same.
  void take_apart(const Known& value, std::vector<ir::Operand>& parts);
  /// What a dense array has in its fields is known of its elements, too.
  void know_extents(const Known& dense);
  void expect_same_extents(const Known& first, const Known& next, Span span);
  Known put_together(const Known& like, std::span<const ir::Operand> parts, std::size_t& next);
  ir::Operand size_of(ir::Operand array, Span span);

  // ---------------------------------------------------------------- operations
  void region(Scope& scope, ir::RegionId id);
  void complete_own(const Scope& scope, ir::VarId array);
  void operation(Scope& scope, const ir::Op& op);
  bool makes_other(const Scope& scope, const ir::Op& op) const;
  void compute(Scope& scope, const ir::Op& op);
  void make(Scope& scope, const ir::Op& op);
  void list(Scope& scope, const ir::Op& op);
  void range(Scope& scope, const ir::Op& op);
  void insert(Scope& scope, const ir::Op& op);
  void get(Scope& scope, const ir::Op& op);
  /// Of a range of ints: fewer than 0 are none.
  struct Steps {
    ir::Operand first, step, count;
  };
  /// @return none: it is not known whether it goes up or down
  std::optional<Steps> steps(Scope& scope, const ir::Op& op);
  /// @pre the step is known, and not 0
  ir::Operand step_count(ir::Operand first, ir::Operand last, ir::Operand step, Span span);
  ir::Operand step_at(const Steps& steps, ir::Operand point, Span span);
  void each(Scope& scope, const ir::Op& op);
  void each_of_any_order(Scope& scope, const ir::Op& op);
  /// As a `for`, which makes arrays anew in each round.
  void each_in_order(Scope& scope, const ir::Op& op);
  void each_element(Scope& scope, const ir::Op& op);
  /// `for` and `iterate`.
  void loop(Scope& scope, const ir::Op& op);
  /// Null: the operation is none of those of a sum, or the like, of numbers that one loop computes.
  const ir::ReducedLoop* reduced_of(const Scope& scope, const ir::Op& op);
  void reduce(Scope& scope, const ir::ReducedLoop& loop);
  /// Tracked arrays of which not all may be there. What is reduced reads them as others: all that it reads is looked
  /// for in a loop before it.
  std::set<ir::VarId> open_arrays_read(Scope& scope, const ir::Op& loop);

  // ---------------------------------------------------------------- branches
  void branch(Scope& scope, const ir::Op& op);
  /// Computes scalars only.
  bool is_plain(const ir::Function& function, const ir::Op& op) const;
  /// After a way that was tried and refused.
  void begin_anew(Scope& scope, const State& before, const Scope& scope_before);
  /// An `if` of the kernel.
  void both_ways(Scope& scope, const ir::Op& op, ir::Operand condition);
  template <typename Then, typename Else>
  void put_branch(ir::Operand condition, Span span, const Then& then, const Else& otherwise);
  /// Variables from outside of a branch that it assigns, on each way, are variables of the kernel.
  std::optional<std::vector<ir::VarId>> declare_assigned(Scope& scope, const ir::Op& op);
  /// A `switch` is an `if` in the other way of another one.
  void choose(Scope& scope, const ir::Op& op);
  void choose_from(Scope& scope, const ir::Op& op, ir::Operand value, std::size_t first);
  /// Each way through an `if` or `switch` assigns the variable.
  bool assign_always(const ir::Function& function, const ir::Op& op, ir::VarId id) const;
  /// The first way that can be a part of a kernel; where a point is to go the other one it is interpreted.
  void one_way(Scope& scope, const ir::Op& op, ir::Operand condition);

  // ---------------------------------------------------------------- calls
  void call(Scope& scope, const ir::Op& op);
  /// A leaf that is as well computed where it is called.
  bool is_short(const ir::Function& leaf) const;
  void library(Scope& scope, const ir::Op& op);
  /// What functions of arrays and their extents are in kernels; none: it is none of these, or refused.
  std::optional<ir::Operand> array_function(Scope& scope, const ir::Op& op, std::string_view name, TypeId type);
  /// Of arrays, which is called as it is: stdlib/own_functions.hpp.
  void own_function(Scope& scope, const ir::Op& op, const stdlib::OwnFunction& function);
  std::optional<ir::Operand> none();
  std::optional<ir::Operand> lines(Scope& scope, const ir::Op& op, TypeId type);

  ir::Module& module_;
  const ir::Function& around_;
  const ir::Op& loop_;
  const ir::BodyAccesses body_accesses_;
  std::set<ir::RegionId> inside_;  ///< of the loop
  State now_;
  std::map<const ir::Function*, ir::ReducedLoops> reduced_;
  std::set<ir::VarId> checked_;  ///< tracked arrays of which all is there that is being read
  bool is_checking_ = false;     ///< of a loop only what it reads is done
  bool is_reducing_ = false;     ///< what is reduced is being computed
  std::size_t count_ = 0;
  unsigned depth_ = 0;
  bool is_refused_ = false;
  std::string_view why_;  ///< it is refused
  std::optional<Refused> refused_;
};

}  // namespace raddle::opt
