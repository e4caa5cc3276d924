// What library functions give for numbers of 32 bits.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compiler/check/check_expression.hpp"
#include "compiler/check/constant_value.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::check_detail {

namespace {

/// Of what a library function has been given: what it takes as a float decides.
class NarrowArguments {
 public:
  explicit NarrowArguments(const Context& context) : context_(context) {}
  void add(const ast::Expr& argument) {
    const TypeStore& types = context_.store();
    const bool is_array = types.is_dense(argument.type);
    const TypeId number = is_array ? types.dense_element(argument.type) : types.base(argument.type);
    if (!TypeStore::is_number(number)) return;
    has_float32_ |= number == TypeStore::float32;
    has_int32_ |= number == TypeStore::int32;
    has_array_ |= is_array && TypeStore::is_narrow(number);
    if (TypeStore::is_narrow(number) || constant_value(context_, argument)) return;
    (is_array ? has_wide_array_ : has_wide_scalar_) |= number == TypeStore::float_ || is_array;
    has_int_ |= number == TypeStore::int_;
  }
  /// Those of which an array is not widened by a scalar.
  bool are_float32() const { return has_float32_ && !has_wide_array_ && (has_array_ || !has_wide_scalar_); }
  bool are_int32() const {
    return has_int32_ && !has_float32_ && !has_wide_array_ && !has_wide_scalar_ && (has_array_ || !has_int_);
  }

 private:
  const Context& context_;
  bool has_float32_ = false, has_int32_ = false, has_array_ = false, has_wide_array_ = false, has_wide_scalar_ = false,
       has_int_ = false;
};

bool is_of_library(const Context& context, const ast::Call& call) {
  if (call.callee_kind == ast::CalleeKind::builtin) return true;
  return call.callee_kind == ast::CalleeKind::function &&
         context.is_of_library(context.program.functions[call.callee_index].definition->span);
}

}  // namespace

/// A function's own form for float32 (vm/math/functions32.def), which takes the same arguments as floats.
/// @return  an index of builtins(); nullopt: it has none
std::optional<std::uint32_t> float32_form(const ast::Call& call) {
  std::string_view name = call.callee.text;
  if (name == "ln") name = "log";
  if (name == "pow") name = "pow_float";
  const std::string form = "@" + std::string(name) + "_32";
  const auto builtins = stdlib::builtins();
  const auto found = std::ranges::find(builtins, form, &stdlib::Builtin::name);
  const bool is_taken = call.callee_kind == ast::CalleeKind::builtin && found != builtins.end() &&
                        stdlib::signature_of(*found).inputs.size() == call.resolved_arguments.size();
  return is_taken ? std::optional(static_cast<std::uint32_t>(found - builtins.begin())) : std::nullopt;
}

/// Functions of the library compute with float and int. Of float32 what they give becomes a float32 again, as if it
/// were `float32(sum(x))`, and of int32 what is one of them. Mathematics is computed as float32.
void ExpressionChecker::keep_narrow(ast::Call& call) {
  TypeStore& types = context_.store();
  if (call.output_types.size() != 1 || !is_of_library(context_, call)) return;
  const bool is_array = types.is_dense(call.type);
  const TypeId number = is_array ? types.dense_element(call.type) : call.type;
  if (number != TypeStore::float_ && number != TypeStore::int_) return;
  NarrowArguments arguments(context_);
  for (const ast::Expr* argument : call.resolved_arguments)
    if (argument != nullptr) arguments.add(*argument);
  const std::string& name = call.callee.text;
  const bool gives_one_of_them = name == "abs" || name == "max" || name == "min" || name == "where" || name == "clip";
  const bool is_float32 = number == TypeStore::float_ && arguments.are_float32();
  const bool is_int32 = number == TypeStore::int_ && gives_one_of_them && arguments.are_int32();
  if (!is_float32 && !is_int32) return;
  if (const auto form = is_float32 ? float32_form(call) : std::nullopt) {
    call.callee_index = *form;
    call.type = is_array ? types.dense_of(TypeStore::float32, types.rank(call.type)) : TypeStore::float32;
    call.output_types = {call.type};
    return;
  }
  auto inner = std::make_unique<ast::Call>(std::move(call));
  const TypeId narrow = is_float32 ? TypeStore::float32 : TypeStore::int32;
  const std::string_view function = is_float32 ? "@rounded32" : "int32";
  const auto builtins = stdlib::builtins();
  const auto found = std::ranges::find_if(builtins, [&](const stdlib::Builtin& each) { return each.name == function; });
  call.callee = {std::string(function), inner->callee.span};
  call.callee_kind = ast::CalleeKind::builtin;
  call.callee_index = static_cast<std::uint32_t>(found - builtins.begin());
  call.annotations.clear();
  call.arguments.clear();
  call.is_lifted = is_array;
  call.type = is_array ? types.dense_of(narrow, types.rank(inner->type)) : narrow;
  call.output_types = {call.type};
  call.resolved_arguments = {inner.get()};
  call.arguments.push_back({std::nullopt, std::move(inner)});
}

}  // namespace raddle::check_detail
