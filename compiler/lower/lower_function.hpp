#pragma once
// Lowers the body of one function. The parts are in the files lower_*.cpp beside this one.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "compiler/check/array_choice.hpp"
#include "compiler/lower/lifted.hpp"
#include "compiler/lower/module_context.hpp"
#include "compiler/lower/slice_bounds.hpp"

namespace raddle::lowering {

class FunctionLowering {
 public:
  FunctionLowering(ModuleContext& context, ir::FunctionId id);

  // ---- signature and body, in this order (lower.cpp)
  ir::VarId add_parameter(ast::VariableId variable);
  void add_input(ast::VariableId variable, bool may_be_view);
  ir::VarId add_output(ast::VariableId variable);
  /// An output of the entry function.
  void add_result(ast::VariableId variable);
  ir::VarId add_limit_parameter(TypeId type);
  /// All of the signature of a generic function in Tcl, as a call has it.
  void add_instance_signature(const ast::FunctionDefinition& definition, const std::vector<TypeId>& inputs,
                              const std::vector<TypeId>& outputs);
  /// Containers (arrays, bags, structures) in `body` that are written piece by piece; before the body is lowered.
  void find_containers(const ast::Stmt& body);
  void lower_block(const ast::Block& block);
  void lower_command(const ast::FunctionDefinition& definition, LimitSet from_caller);
  /// A function of a shared library or in Tcl.
  void lower_foreign(const ast::FunctionDefinition& definition);
  void begin_foreign();
  void call_with_parts(const ast::FunctionDefinition& definition, ir::Foreign foreign);
  /// The whole block of a function, after its signature.
  void lower_function_block(const ast::FunctionDefinition& definition, const std::vector<ast::VariableId>& outputs);
  /// Calls the script's function `main`.
  void call_function(std::uint32_t function, Span span);

 private:
  using Operands = std::vector<ir::Operand>;

  // ---- building
  ir::Function& function() { return context_.module.functions[id_]; }
  const TypeStore& types() const { return context_.program.types; }
  ir::VarId new_variable(std::string name, TypeId type, Span span, ir::RegionId region);
  ir::VarId temporary(TypeId type, Span span) { return local("", type, span, region_); }
  ir::VarId local(std::string name, TypeId type, Span span, ir::RegionId region);
  ir::VarId region_parameter(ir::RegionId region, ast::VariableId variable);
  ir::VarId declare(ast::VariableId variable);
  ir::RegionId new_region();
  ir::Op& emit(ir::OpKind kind, Operands operands, std::vector<ir::VarId> results, Span span);
  /// Into `target` if there is one, else into a new temporary.
  ir::Operand emit_value(ir::OpKind kind, Operands operands, TypeId type, Span span, ir::VarId target = ir::none);
  ir::Operand int_constant(std::int64_t value) { return ir::Operand::constant(context_.module.constant(value)); }
  /// Runs `body` with operations going to a new region nested in the present one.
  template <typename Body>
  ir::RegionId in_region(const Body& body, bool own_scope = true);
  ir::VarId variable_of(ast::VariableId variable);
  TypeId type_of(const ir::Operand& operand);

  // ---- expressions (lower_expression.cpp): the value after widening; in `target` if one is given
  ir::Operand value(const ast::Expr& expr, ir::VarId target = ir::none);
  ir::Operand unwidened(const ast::Expr& expr, ir::VarId target);
  ir::Operand converted_dense(const ast::Expr& expr, ir::VarId target);
  bool is_computed(const ast::Expr& expr) const;
  ir::Operand name(const ast::Name& name);
  ir::Operand unary(const ast::Unary& unary, ir::VarId target);
  ir::Operand binary(const ast::Binary& binary, ir::VarId target);
  /// To values. @param type  of the result
  ir::Operand apply(const ast::Unary& unary, ir::Operand operand, TypeId type, ir::VarId target);
  ir::Operand apply(const ast::Binary& binary, ir::Operand left, ir::Operand right, TypeId type, ir::VarId target);
  ir::Operand format(const ast::Binary& binary, ir::VarId target);
  ir::Operand index(const ast::Index& index, ir::VarId target);
  ir::Operand field(const ast::Field& field, ir::VarId target);
  ir::Operand range(const ast::Range& range, ir::VarId target);
  ir::Operand key(const ast::Index& index);
  ir::Operand condition(const ast::Expr& expr);
  Operands range_bounds(const ast::Range& range);
  std::uint32_t builtin_named(std::string_view name) const;

  // ---- calls (lower_call.cpp)
  /// @param targets  one for each output of the callee, or empty: variables that take them (`none`: a temporary).
  ///                 A file target is an object that exists already, or a variable without one: then it is made here
  /// @return         the outputs
  Operands call(const ast::Call& call, std::vector<ir::VarId> targets);
  Operands call_script_function(const ast::Call& call, std::vector<ir::VarId> targets, ir::Operand rank);
  Operands call_builtin(const ast::Call& call, std::vector<ir::VarId> targets, ir::Operand rank);
  bool is_size_of_dense(const ast::Call& call) const;
  std::optional<std::size_t> axis_of_size(const ast::Call& call) const;
  ir::Operand size_of_dense(const ast::Expr& array, std::size_t axis, ir::VarId target);
  ir::Operand construct(const ast::Call& call, ir::VarId target);
  ir::VarId file_for_output(ir::VarId target, TypeId type, Span span);
  ir::Operand annotation_operand(const ast::Annotations& annotations, std::string_view name);
  struct PlaceOfCall {
    ir::Operand rank = {};  ///< a vm::RankWish; index none: none
    Operands checks = {};   ///< to be waited for: they fail where the place is none
  };
  Operands call_at_place(const ast::Call& call, std::vector<ir::VarId> targets);
  /// The call itself, once its place is checked.
  Operands call_callee(const ast::Call& call, std::vector<ir::VarId> targets, ir::Operand rank);
  PlaceOfCall place_of(const ast::Call& call);
  void add_work_type(const ast::Call& call, PlaceOfCall& place);
  ir::Operand limit_value(const ast::Annotation& annotation);
  ir::Operand launcher_words(const ast::Annotation& annotation);
  /// The app for a call that gives limits; adds their values to its operands.
  ir::FunctionId limited_app(const ast::Call& call, Operands& operands);
  ir::FunctionId instance(const ast::Call& call, const Operands& operands);
  void lower_tcl(const ast::FunctionDefinition& definition);
  /// True if the call makes its file output itself, given a file object (not: a builtin that returns an existing file).
  bool fills_files(const ast::Call& call) const;

  // ---- assignments (lower_assignment.cpp)
  void assign(const ast::Assign& assign);
  void assign_outputs(const ast::Assign& assign, const ast::Call& call);
  void assign_one(const ast::Expr& target, const ast::Expr& value, bool declares);
  /// Gives `variable` the value of `expr`.
  void initialise(ir::VarId variable, const ast::Expr& expr);
  void store(const ast::Expr& target, ir::Operand source);
  void store_whole(ir::VarId variable, ir::Operand source, Span span);
  /// True if the file variable has its object before it is assigned: mapped ones, and file outputs of this function.
  bool file_has_object(ir::VarId variable);
  /// The array, bag or structure that `expr` names as the place to write into.
  ir::Operand container(const ast::Expr& expr);
  void create_container(ast::VariableId variable, ir::VarId var);
  void create_fields(ast::VariableId variable, ir::VarId structure, const std::vector<std::uint32_t>& path);
  void declare_auto(const ast::Expr& target);
  ir::Operand converted(ir::Operand value, TypeId wanted, Span span, ir::VarId target = ir::none);
  ir::Operand converted(ir::Operand value, ast::Conversion conversion, Span span, ir::VarId target = ir::none);
  ir::Operand computed(ir::OpKind kind, Operands operands, TypeId type, Span span, ir::VarId target);

  // ---- dense arrays (lower_dense.cpp): see Note [dense] there
  struct Dense {
    ir::Operand elements;  ///< `float[]`, by their numbers in row-major order
    Operands extents;
    ir::Operand first = {};  ///< of a view: the key of its first element
  };
  Dense& parts_of(ir::VarId variable);
  /// The same operands, but of dense arrays the elements.
  Operands elements_of(Operands operands);
  ir::VarId pack(const Dense& parts, TypeId type, Span span, ir::VarId target);
  ir::VarId new_elements(std::string name, TypeId element, const Operands& extents, Span span);
  ir::Operand call_builtin_named(std::string_view name, Operands operands, TypeId type, Span span);
  ir::Operand text_constant(std::string text);
  ir::Operand key_of(const Operands& indices, const Dense& of, Span span);
  ir::Operand key_of_number(ir::Operand number, const Dense& of, Span span);
  /// What stands between brackets: `end` is the last index of a dimension of that extent.
  ir::Operand bracketed(const ast::Expr& expr, ir::Operand extent);
  /// Which index, or slice, of which array: for the message if it is outside. @param extents  of the array
  std::string short_text(Span span) const;
  Operands place_of_index(const ast::Index& index, std::size_t axis, const Operands& extents);
  ir::Operand index_check(ir::Operand at, const Operands& extents, const ast::Index& index, std::size_t axis);
  ir::Operand checked_index(const ast::Index& index, std::size_t axis, const Operands& extents);
  ir::Operand dense_key(const ast::Index& index, const Dense& of);
  ir::Operand dense_index(const ast::Index& index, ir::VarId target);
  void store_dense(const ast::Index& target, ir::Operand source);
  /// The array whose elements are assigned; without elements if that can not be.
  Dense dense_target(const ast::Index& target);
  /// @param dimension  null: the extents are not named
  void declare_extents(ast::VariableId variable, const ast::Dimension* dimension);
  /// Index none: open. Empty: none are written.
  Operands written_extents(ast::VariableId variable, const ast::Dimension* dimension);
  Operands fixed_extents(const std::vector<std::int64_t>& fixed);
  void check_held_arrays(const ast::Formal& input, Operands& checks);
  const Operands& extents_declared_for(ir::VarId variable) const;
  Operands extents_inside(const ast::Expr& place);
  ir::Operand fitted(ir::Operand source, const ast::Expr& place, Span span);
  ir::Operand fitted(ir::Operand source, const Operands& wanted, const std::string& name, Span span);
  void check_elements(ir::VarId variable, Span span);
  void check_elements(ir::Operand whole, const Operands& wanted, const std::string& name, Span span);
  Operands extents_of_loop_variable(const ast::For::Variable& variable);
  void expect_extents(ir::VarId variable, const Operands& wanted);
  void note_extent(ir::Operand& extent, ir::Operand known);
  void take_extents(ir::VarId from, ir::VarId to);
  /// Names in the brackets of dense inputs. @return  extents that have to be others and are to be checked
  Operands bind_extents(const ast::FunctionDefinition& definition);
  /// The extents that an output of code outside is to have; -1: any.
  Dense wanted_parts(const ast::Formal& output);
  const ast::Dimension* extents_of_formal(const ast::Formal& formal) const;
  void create_dense(ast::VariableId variable, ir::VarId var);
  struct SharedExtent {
    std::string other, extent;  ///< for the message: who has it, too; by which name. "": nobody, none
    Operands shape;             ///< of the other one
  };
  std::string name_of_input(const ast::FunctionDefinition& definition, const ast::Formal& input,
                            bool says_function) const;
  SharedExtent shared_extent(const ast::FunctionDefinition& definition, const ast::Formal& input,
                             const ast::Expr& entry);
  ir::Operand checked_extent(const std::string& name, std::size_t axis, const Operands& wanted, const Operands& found,
                             Span span, const SharedExtent& shared = {});
  /// They are equal, or the script has failed.
  bool is_same_extent(ir::Operand left, ir::Operand right) const;
  bool are_same_extents(const Operands& left, const Operands& right) const {
    return std::ranges::equal(left, right, [this](ir::Operand a, ir::Operand b) { return is_same_extent(a, b); });
  }
  ir::Operand known_extent(ir::Operand extent) const;
  void note_extents(const ast::Call& call, const Operands& outputs);
  ir::Operand argument_of(const ast::Call& call, ast::VariableId of_callee);
  /// The extents stand in the declaration, some of them at least. @param variable  none: false
  bool has_declared_extents(ir::VarId variable) const;
  bool is_of_library(Span span) const { return context_.module.sources->at(span.file).is_of_library(); }
  void initialise_declared(ir::VarId variable, const ast::Expr& expr);
  void store_declared(ir::VarId variable, const Dense& found, Span span);
  Dense fitting(ir::VarId variable, const Dense& found, Span span);
  Dense fitting(const std::string& name, const Operands& wanted, const Dense& found, Span span);
  /// What has been found, where the declaration says more: once that is known to be the same.
  Operands declared_extents(ir::VarId variable, const Operands& found, Span span);
  /// All that sees the variable sees what is computed here.
  bool is_declared_here(ir::VarId variable) const;

  // ---- inputs and arguments (lower_inputs.cpp)
  /// Each part is a parameter.
  void add_dense_input(ast::VariableId variable, bool may_be_view);
  ir::Operand whole_input(ir::VarId variable);
  Dense copied_input(ir::VarId variable);
  ir::RegionId before_loops(ir::RegionId region);
  void add_parts(Operands& operands, const Dense& parts, bool may_be_view);
  /// As the callee has them. @return  some are views
  bool add_arguments(Operands& operands, const ast::Call& call);
  void add_globals(Operands& operands, std::uint32_t function);
  ir::FunctionId function_of_views(std::uint32_t function);
  Dense dense_parts(const ast::Expr& expr);  ///< no view
  Dense dense_view(const ast::Expr& expr);   ///< perhaps one
  Dense unwidened_view(const ast::Expr& expr);
  std::optional<Dense> view_of_slice(const ast::Index& index);

  // ---- whole-array expressions (lower_lifted.cpp, lower_slices.cpp)
  /// The indices of one dimension that a slice, or one index, selects; one index has no step and no count.
  struct Selection {
    ir::Operand first, step, count;
    /// The index at a place, where an array has it.
    std::function<ir::Operand(ir::Operand)> chosen = {};
  };
  Selection chosen_along(const ast::Index& index, std::size_t axis, const Operands& extents);
  ir::Operand true_keys(const Dense& mask, const Operands& extents, Span span);
  Lifted lifted(const ast::Expr& expr);
  Lifted lifted_dense(const ast::Expr& expr);
  Lifted lifted_call(const ast::Call& call);
  /// In `m * exp(v)` the exponentials are computed once, not for each row. Not where they may not be needed at all.
  void compute_before(std::vector<Lifted>& operands, const std::vector<const ast::Expr*>& exprs);
  /// `where(c, a, b)` of the module arrays: of a and b only what is taken is computed.
  bool is_in_arrays(Span span) const;  ///< in the module `arrays`
  bool is_of_arrays(const ast::Call& call) const;
  bool is_where(const ast::Call& call) const;
  ir::Operand choice(const ast::Call& call, ir::VarId target);
  ir::Operand choose(ir::Operand condition, TypeId type, Span span, ir::VarId target,
                     const std::function<ir::Operand(bool)>& value_of);
  /// A call of what stdlib::is_made_by_lowering.
  ir::Operand array_function(const ast::Call& call, ir::VarId target);
  Dense reshaped(const ast::Call& call);
  Dense read_from_file(const ast::Call& call);
  Dense read_from_blob(const ast::Call& call);
  Dense read_by(std::string_view reader, const ast::Call& call, Operands operands);
  void add_table_form(const ast::Call& call, bool has_header, Operands& operands);
  ir::Operand records_from_file(const ast::Call& call, ir::VarId target);
  ir::Operand product(const Operands& extents, Span span);
  Operands lifted_outputs(const ast::Call& call, const std::vector<ir::VarId>& targets);
  bool is_taken_whole(const ast::Call& call, std::size_t argument) const;
  Operands call_at_point(const ast::Call& call, Operands operands);
  Lifted read_whole(const Dense& array, Span span);
  Operands indices_at(const Point& point, const Stretched& read, Span span);
  struct NamedShape {
    Operands extents;
    std::string name;  ///< for the message; "": none
  };
  Lifted joined(const std::vector<Lifted>& operands, const std::vector<Span>& written, std::string_view what,
                Span span);
  Operands joint_extents(const NamedShape& first, const NamedShape& second, std::string_view what, Span span);
  Lifted slice(const ast::Index& index);
  void note_count(const ast::Slice& slice, ir::Operand extent, ir::Operand count);
  check_detail::Choice choice_in(const ast::Index& index) const;
  Lifted chosen(const ast::Index& index);
  Lifted chosen_points(const ast::Index& index);
  Lifted chosen_by_mask(const ast::Index& index);
  Selection selection(const ast::Index& index, std::size_t axis, const Operands& extents);
  std::vector<Selection> selections(const ast::Index& index, const Operands& extents);
  Operands selected(const std::vector<Selection>& selections, Operands indices, Span span);
  static Operands extents_of(const std::vector<Selection>& selections);

  // --- lower_small_sums.cpp
  /// The sum or mean of a slice of few elements, see Note [small sums]; none: the call is something else.
  std::optional<ir::Operand> small_sum(const ast::Call& call, ir::VarId target);
  Operands indices_of(const ast::Index& index, std::size_t axis, std::int64_t count, const Operands& extents);
  bool has_extents_of(const Lifted& of, const Stretched& read) const;
  bool make_factors(const Lifted& of, Span span);
  bool is_one(ir::Operand extent);  ///< as far as that is known
  bool is_sure_to_stretch(const Lifted& of, const Stretched& read);
  ir::Operand nothing_stretches(const Lifted& of, Span span);
  void for_each_point(const Lifted& of, Span span, const std::function<void(const Point&)>& visit);
  void count_to(ir::Operand count, Span span, const std::function<void(ir::Operand)>& body);
  void flat_loop(const Operands& extents, Span span, const std::function<void(const Point&)>& visit);
  void nested_loops(const Operands& extents, bool stretches, Operands indices, Span span,
                    const std::function<void(const Point&)>& visit);
  /// Arrays of all results. @param elements  their types
  std::vector<Dense> fill(const Lifted& of, const std::vector<TypeId>& elements, Span span);
  bool is_dense_value(const ast::Expr& expr) const;
  ir::Operand dense_value(const ast::Expr& expr, ir::VarId target);
  void set_extents(Lifted& of, Operands checked) const;
  Dense dense_literal(const ast::Expr& expr);
  void add_elements(const ast::Expr& literal, std::uint32_t rank, Operands& elements);
  bool is_slice(const ast::Expr& target) const;  ///< of a dense array
  /// @param source  asked where the target's bounds have been computed
  void store_slice(const ast::Index& target, const std::function<Lifted()>& source);

  // ---- statements (lower_statement.cpp, lower_loop.cpp)
  void statement(const ast::Stmt& stmt);
  void declaration(const ast::Declaration& declaration);
  void append(const ast::Append& append);
  void update(const ast::Update& update);
  void evaluate(const ast::Evaluate& evaluate);
  void lower_branch(const ast::Stmt& branch);
  void branch(const ast::If& branch);
  void branch(const ast::Switch& branch);
  ir::Operand awaitable(const ast::Expr& expr);
  void wait(const ast::Wait& wait);
  void wait_for(const Operands& awaited, const std::function<void()>& then, Span span, bool has_scope = true);
  void chain(const ast::Chain& chain);
  void chain_from(const ast::Chain& chain, std::size_t link, const Operands& gate);
  void chain_after(const Operands& awaited, const ast::Chain& chain, std::size_t link, const Operands& gate);
  // ---- `try` and `@default` (lower_try.cpp)
  /// What a block assigns that may fail, until it is done.
  struct HeldBack {
    ast::VariableId variable;
    ir::VarId made;                 ///< in place of the variable, or the elements that are assigned
    std::size_t depth;              ///< of AttemptedVariable
    ir::VarId whole;                ///< depth 0: the variable itself
    ir::Operand held_parts;         ///< else what held its elements before; index none: nothing
    std::size_t handed_over_depth;  ///< 0: whole, else by elements
  };
  void try_(const ast::Try& written);
  HeldBack hold_back(ast::VariableId variable, std::size_t depth);
  void hand_over(const HeldBack& held, Span span);
  void hand_over_elements(ir::Operand from, ir::Operand into, std::size_t depth, Span span);
  ir::Operand attempt(const std::function<void()>& body, Span span);
  ir::Operand or_default(TypeId type, ir::VarId target, const ast::Expr& otherwise, Span span,
                         const std::function<ir::Operand(ir::VarId)>& make);
  void refuse_update(const ir::Operand& updateable, Span span);
  void foreach (const ast::Foreach& loop);
  void lower_foreach(const ast::Foreach& loop);
  bool is_upwards(ir::Operand step);
  void foreach_either_way(const ast::Foreach& loop, const Operands& bounds);
  void foreach_dense(const ast::Foreach& loop);
  void for_loop(const ast::For& loop);
  Operands awaited_by(const ast::For& loop);
  std::vector<ir::VarId> final_values(const ast::For& loop);
  void iterate(const ast::Iterate& loop);
  Diagnostic& not_supported(Span span, std::string_view what);

  ModuleContext& context_;
  ir::FunctionId id_;
  ir::RegionId region_ = 0;                       ///< where operations go
  vm::Placement placement_ = vm::Placement::any;  ///< of loops here
  ir::RegionId body_ = 0;   ///< what the whole block is in: one that waits, if inputs are to be checked
  ir::RegionId scope_ = 0;  ///< where declared variables live: differs from region_ in the later links of a chain
  std::unordered_map<ast::VariableId, ir::VarId> variables_;
  ir::RegionId attempt_ = ir::none;  ///< the innermost one around
  /// In a `try`: where elements that it assigns of arrays and bags from outside are held back.
  std::unordered_map<ast::VariableId, ir::Operand> held_parts_;
  /// Paths of fields from a structure variable to the containers inside it that are written piece by piece.
  using Path = std::pair<ast::VariableId, std::vector<std::uint32_t>>;
  std::map<Path, ir::VarId> containers_;        ///< none until the variable is declared
  std::set<ir::VarId> files_with_object_;       ///< variables whose file object is made before they are assigned
  Operands outputs_;                            ///< of the last statement, for chains
  bool is_awaited_ = false;                     ///< the statement that is lowered is followed by another of its chain
  std::unordered_map<ir::VarId, Dense> dense_;  ///< as far as they have been asked for
  std::map<std::pair<ir::VarId, ir::RegionId>, Dense> copies_;  ///< of inputs that are views
  std::set<ir::VarId> unpacked_;                                ///< dense inputs of which no structure has been made
  /// Extents that are another one, or the script has failed: what they have been checked to be.
  std::unordered_map<ir::VarId, ir::Operand> checked_extents_;
  struct SliceCount {
    SliceLength length;
    ir::Operand extent, count;  ///< of the dimension; of the slice
  };
  std::vector<SliceCount> slice_counts_;                      ///< lengths of slices that differ
  std::unordered_map<ir::VarId, Operands> declared_extents_;  ///< index none: open
  Operands ends_;              ///< extents of the dimensions whose brackets are around the expression
  bool is_in_choice_ = false;  ///< what is lowered may not be needed: of `where`
};

template <typename Body>
ir::RegionId FunctionLowering::in_region(const Body& body, bool own_scope) {
  const ir::RegionId region = new_region();
  const ir::RegionId outer_region = std::exchange(region_, region);
  const ir::RegionId outer_scope = scope_;
  if (own_scope) scope_ = region;
  body();
  region_ = outer_region;
  scope_ = outer_scope;
  return region;
}

}  // namespace raddle::lowering
