#pragma once
// Types as written -> TypeId, and the type definitions of all modules.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// Enters the predefined types and the definitions of all modules into `context.types`; definitions may refer to
/// each other in any order.
void declare_types(Context& context);

/// The type that `type` and the `[...]` after the declared name make. Reports unknown names and bad keys;
/// the error type then.
TypeId resolve_type(Context& context, const ast::TypeExpr& type, const std::vector<ast::Dimension>& dimensions);

/// The types that a formal accepts, more than one for a union; `variables` are the function's type variables. A formal
/// that has its type behind its name is reported, and gets the name that was meant.
std::vector<TypePattern> resolve_formal(Context& context, const std::vector<ast::Identifier>& variables,
                                        ast::Formal& formal);

/// `:` in place of an extent: it is that of what is assigned. With bounds it is none.
bool is_open(const ast::Expr& entry);
/// `[n]`, `[n, m]`, `[:]`: of a dense array. One name of a type is that of keys.
bool has_extents(const Context& context, const ast::Dimension& dimension);
/// Where the extents stand in what has been resolved to a dense array, or to arrays of such; null: nowhere, its type is
/// an alias.
template <typename Type, typename Dimensions>
auto* extents_of(Type& type, Dimensions& dimensions) {
  return !type.dimensions.empty() ? &type.dimensions.back() : dimensions.empty() ? nullptr : &dimensions.back();
}
/// The type of a dense array is the innermost one: arrays and bags around it hold such arrays.
bool has_dense_inside(const TypeStore& types, TypeId type);
/// What Variable::fixed_extents has of a variable of this type. @param resolved  with its own dimensions, too
std::vector<std::int64_t> fixed_extents(Context& context, const ast::TypeExpr& type, TypeId resolved);

}  // namespace raddle::check_detail
