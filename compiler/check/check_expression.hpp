#pragma once
// Types of expressions and the meaning of names, operators and calls in them.
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/check/annotations.hpp"
#include "compiler/check/convert.hpp"
#include "compiler/check/scopes.hpp"

namespace raddle::check_detail {

/// Fills the "set by check" fields of expressions. After a report the expression's type is the error type.
class ExpressionChecker {
 public:
  ExpressionChecker(Context& context, Scopes& scopes) : context_(context), scopes_(scopes) {}

  /// An expression of which one value is wanted.
  TypeId value(ast::Expr& expr);
  /// The same for a variable of that type: `float A[:, :] = read_npy(f)`.
  TypeId value_for(ast::Expr& expr, TypeId target);
  /// A value that must become a `target`; reports `cannot assign ... to ...`-like mismatches as "expected".
  void value_of_type(ast::Expr& expr, TypeId target);
  /// Any number of outputs: statements, multiple assignment.
  void call(ast::Call& call);
  /// boolean or int.
  void condition(ast::Expr& expr);
  /// Values of annotations that are expressions (@prio, ...).
  void annotation_values(const ast::Annotations& annotations);
  /// `[key]` of an element access; returns the element type. @param array  an array type
  TypeId element(ast::Index& index, TypeId array);
  /// `.name`; returns the field's type. @param base  type of field.base
  TypeId field(ast::Field& field, TypeId base);
  /// The variable's type; reports unknown names.
  TypeId name(ast::Name& name);

  /// Statements that follow in the enclosing blocks are searched for the declaration of an unknown name.
  void enter_block(const ast::Block& block) { blocks_.push_back({&block}); }
  void leave_block() { blocks_.pop_back(); }

 private:
  struct EnclosingBlock {
    const ast::Block* block;
    std::optional<std::unordered_map<std::string, std::vector<const ast::Declarator*>>> declared =
        {};  ///< once asked for
    const std::vector<const ast::Declarator*>& declared_as(const std::string& name);
  };

  TypeId infer(ast::Expr& expr);
  TypeId array_literal(ast::ArrayLiteral& literal);
  TypeId map_literal(ast::MapLiteral& literal);
  TypeId range(ast::Range& range);
  void check_step_and_bounds(const ast::Range& range);
  void warn_of_missed_end(const ast::Range& range, double low, double high, double step);
  void report_repeated_keys(const std::vector<ast::Expr*>& keys);
  TypeId index(ast::Index& index);
  /// The same of a dense array: an element, or a slice if an index is missing or is a range.
  TypeId dense_element(ast::Index& index, TypeId dense);
  TypeId chosen_elements(ast::Index& index, TypeId dense, std::uint32_t rank);
  bool index_of_dense(ast::Expr& entry, TypeId dense);
  TypeId part_of_string(ast::Index& index);
  std::string help_for_field(const ast::Field& field) const;
  TypeId file_name(ast::FileName& name);
  TypeId unary(ast::Unary& unary);
  TypeId binary(ast::Binary& binary);
  /// By the types that the operands have now.
  TypeId of_operand(ast::Unary& unary);
  TypeId of_operands(ast::Binary& binary);
  bool is_lifted(const ast::Expr& one, const ast::Expr& other) const;
  TypeId lifted_unary(ast::Unary& unary);
  void take_list_as_dense(ast::Expr& operand);
  TypeId lifted_binary(ast::Binary& binary);
  TypeId add(ast::Binary& binary);
  TypeId arithmetic(ast::Binary& binary);
  TypeId float_arithmetic(ast::Binary& binary);
  TypeId int_arithmetic(ast::Binary& binary);
  bool is_weak(const ast::Expr& operand, TypeId other) const;
  TypeId common_number(const ast::Binary& binary) const;
  TypeId as_one_type(ast::Binary& binary, TypeId type);
  TypeId comparison(ast::Binary& binary);
  TypeId logic(ast::Binary& binary);
  TypeId format(ast::Binary& binary);
  TypeId bad_operands(const ast::Binary& binary, const char* help = nullptr);
  TypeId number_type(const ast::Expr& expr) const;
  bool is_printable(TypeId type) const;
  /// Makes all of `elements` one type and returns it; incomplete if there are none, nullopt after a report.
  std::optional<TypeId> common_type(const std::vector<ast::Expr*>& elements);
  void resolve_call(ast::Call& call);
  void check_default(ast::Call& call);
  void keep_narrow(ast::Call& call);
  void construct(ast::Call& call, TypeId type);
  /// Functions of the module arrays whose signatures do not tell of which type the result is: `reshape(A, n, m)`.
  /// @param wanted  the type of the variable that gets it, if that is known
  void array_result(ast::Call& call, TypeId wanted);
  void check_outputs_are_known(const ast::Call& call, const Signature& signature);
  void known_arguments(const ast::Call& call);
  void known_comparison(const ast::Call& call);
  void check_callee(const ast::Call& call);
  void unknown_function(const ast::Call& call);
  void unknown_variable(const ast::Name& name);

  Context& context_;
  Scopes& scopes_;
  std::vector<EnclosingBlock> blocks_;
  TypeId wanted_ = TypeStore::error;         ///< of the call that comes next, see value_for()
  const ast::Expr* beside_array_ = nullptr;  ///< the scalar operand of an operator whose other one is a dense array
  unsigned brackets_ = 0;                    ///< of dense arrays around the expression
};

/// Values that the script takes by `argv("name")` though it declares a parameter of that name, above or below.
void check_arguments_read(Context& context);

}  // namespace raddle::check_detail
