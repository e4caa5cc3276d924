#pragma once
// Which expressions may stand where a type is wanted, and the marks that make them do so.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// From best to worst; of an array literal that of its worst element.
enum class Fit : std::uint8_t {
  exact,
  converts,  ///< a named type to its base, updateable_float to float, a dense array to a growing one
  widens,    ///< int to float, numbers of 32 bits to those of 64; a literal to one of 32
  prints,    ///< a dense array to a string, where one is printed
  lifts,     ///< a dense array to its elements: the call is done for each
  none,
};

/// A list, a map or a range as it is written.
bool is_array_expression(const ast::Expr& expr);
/// Changes nothing. Expressions or targets of the error type fit everywhere.
Fit fit(const Context& context, const ast::Expr& expr, TypeId target);
/// Marks `expr` (its conversion, types of literals) to be a `target`. @param expr  fits
void convert(Context& context, ast::Expr& expr, TypeId target);
/// As `fit` for a value that no expression stands for: one of several outputs of a call.
Fit fit_type(const TypeStore& types, TypeId found, TypeId target);
/// Of a number itself, or of an array's elements.
TypeId number_in(const TypeStore& types, TypeId type);
/// Orders overloads: 0 for exact, a step for each named type on the way to a base, more than any of them for widening.
/// @param fit  of a `found` to a `target`, not none
int conversion_cost(const TypeStore& types, Fit fit, TypeId found, TypeId target);
/// Adds the help that says what makes a `target` of a `found`, if something does.
void suggest_conversion(const TypeStore& types, Diagnostic& diagnostic, TypeId found, TypeId target);
/// The same for a literal that has the wrong type only: how it is written. @return  false if there is no such help
bool suggest_literal(const Context& context, Diagnostic& diagnostic, const ast::Expr& value, TypeId target);
/// The first `/` of two ints, which makes a float, among what decides of which type `value` is; nullptr if there is
/// none.
const ast::Expr* quotient_of_ints(const Context& context, const ast::Expr& value);
/// Help for a `value` that is to be an `int` or an array of them. @return whether it is made of such a quotient
bool suggest_quotient(const Context& context, Diagnostic& diagnostic, const ast::Expr& value, TypeId target);
/// `foreach i in [0:n/2] { a[i] = i; }`: one report at the quotient for all places where `i` is to be an `int`.
/// @return whether `value`, which does not fit, is explained so
bool report_counter_of_quotient(Context& context, const ast::Expr& value, TypeId target);
/// The help for a value as it is written: of these what applies.
void suggest_for_value(const Context& context, Diagnostic& diagnostic, const ast::Expr& value, TypeId target);
/// `float x[:] = 0.0;`: the help for a number that is to be all elements of a dense array, if that is what `target` is.
void suggest_array_of(const Context& context, Diagnostic& diagnostic, const std::string& name, const ast::Expr& value,
                      TypeId target);
/// What stands at `span`, for help; `...` of what is long.
std::string source_text(const Context& context, Span span);
/// A literal of a scalar type, for help.
const char* example_of(TypeId type);
/// True if part of the type is unknown: of an empty literal, or after an error.
bool is_incomplete(const TypeStore& types, TypeId type);

}  // namespace raddle::check_detail
