// Dense arrays: elements and slices, operators and functions that work on each element.
#include <algorithm>
#include <utility>

#include "compiler/check/array_choice.hpp"
#include "compiler/check/check_expression.hpp"
#include "compiler/types/table_type.hpp"

namespace raddle::check_detail {

using ast::as;
using ast::ExprKind;

namespace {

/// While it lives, expressions of dense arrays have the types of their elements.
class AsElements {
 public:
  AsElements(const TypeStore& types, std::initializer_list<ast::Expr*> operands) {
    for (ast::Expr* operand : operands) {
      if (!types.is_dense(operand->type)) continue;
      rank_ = std::max(rank_, types.rank(operand->type));
      kept_.emplace_back(operand, operand->type);
      operand->type = types.dense_element(operand->type);
    }
  }
  AsElements(const AsElements&) = delete;
  AsElements& operator=(const AsElements&) = delete;
  ~AsElements() {
    for (const auto& [operand, type] : kept_) operand->type = type;
  }
  std::uint32_t rank() const { return rank_; }

 private:
  std::vector<std::pair<ast::Expr*, TypeId>> kept_;
  std::uint32_t rank_ = 0;
};

/// `-1` as it is written; empty: it is none. What counts from behind elsewhere would be an empty slice here.
std::string negative_literal(const ast::Expr* expr) {
  if (expr == nullptr) return "";
  const auto* const negated = expr->kind == ExprKind::Unary ? &as<ast::Unary>(*expr) : nullptr;
  if (negated != nullptr && negated->op != ast::UnaryOp::negate) return "";
  const ast::Expr& literal = negated != nullptr ? *negated->operand : *expr;
  if (literal.kind != ExprKind::IntLiteral) return "";
  const std::int64_t number = as<ast::IntLiteral>(literal).value * (negated != nullptr ? -1 : 1);
  return number < 0 ? std::to_string(number) : "";
}

std::string dimensions_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " dimension" : " dimensions");
}

}  // namespace

void suggest_array_of(const Context& context, Diagnostic& diagnostic, const std::string& name, const ast::Expr& value,
                      TypeId target) {
  const TypeStore& types = context.program.types;
  if (!types.is_dense(target) || fit(context, value, types.dense_element(target)) == Fit::none) return;
  const TypeId element = types.dense_element(target);
  const std::string written = source_text(context, value.span);
  std::string colons = ":", extents = "n";
  for (const char extent : std::string_view("ml").substr(0, types.rank(target) - 1)) {
    colons += ", :";
    extents += std::string(", ") + extent;
  }
  diagnostic.note("`" + name + "[" + colons + "] = " + written +
                  ";` sets all elements, where the extents are declared: `" + context.name(element) + " " + name + "[" +
                  extents + "];`");
  if (element == TypeStore::float_ && types.rank(target) < 3)
    diagnostic.note("`full(" + written + ", " + extents + ")` is an array of one value, after `import arrays;`");
}

TypeId ExpressionChecker::dense_element(ast::Index& index, TypeId dense) {
  const TypeStore& types = context_.store();
  const std::uint32_t rank = types.rank(dense);
  std::uint32_t kept = 0, chosen = 0;  // dimensions: of slices; of arrays that choose elements
  bool is_wrong = false;
  ++brackets_;
  for (auto& entry : index.indices) {
    if (entry->kind == ExprKind::Slice) {
      auto& slice = as<ast::Slice>(*entry);
      for (ast::Expr* part : {slice.low.get(), slice.high.get(), slice.step.get()})
        if (part != nullptr) is_wrong = !index_of_dense(*part, dense) || is_wrong;
      for (const ast::Expr* part : {slice.low.get(), slice.high.get()})
        if (const std::string number = negative_literal(part); !number.empty())
          context_.diagnostics.report(DiagnosticKind::negative_bound, part->span, number)
              .note("`end` is the last index, `end-1` the one before");
      if (const std::string number = negative_literal(slice.step.get()); !number.empty()) {
        Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::negative_step, slice.step->span, number);
        if (rank == 1 && types.dense_element(dense) != TypeStore::boolean)
          diagnostic.note("`flip(...)` has the elements in the opposite order, after `import arrays;`");
      }
      ++kept;
    } else {
      is_wrong = !index_of_dense(*entry, dense) || is_wrong;
      if (types.is_dense(entry->type)) chosen = std::max(chosen, types.rank(entry->type));
    }
  }
  --brackets_;
  if (!is_wrong && chosen != 0 && index.indices.size() <= rank) return chosen_elements(index, dense, chosen);
  if (index.indices.size() > rank) {
    Diagnostic& diagnostic =
        context_.diagnostics.report(DiagnosticKind::too_many_indices, index.span, context_.name(dense),
                                    dimensions_text(rank), std::to_string(index.indices.size()) + " indices");
    const auto adds_axis = [](const auto& entry) {  // as in NumPy
      return entry->kind == ExprKind::Name &&
             (as<ast::Name>(*entry).text == "None" || as<ast::Name>(*entry).text == "newaxis");
    };
    if (std::ranges::any_of(index.indices, adds_axis))
      diagnostic.note("`column(v)` makes a column of a vector, `row(v)` a row, after `import arrays;`");
    return index.type = TypeStore::error;
  }
  if (is_wrong) return index.type = TypeStore::error;
  kept += rank - static_cast<std::uint32_t>(index.indices.size());
  const TypeId element = types.dense_element(dense);
  return index.type = kept == 0 ? element : context_.store().dense_of(element, kept);
}

/// A new array. `A[mask]`: where a mask of its shape is true; `A[rows, cols]`: an element for each place of the arrays
/// of indices; `A[rows, :]`, `A[:, mask]`: along one dimension what an array of one dimension chooses, in its place.
TypeId ExpressionChecker::chosen_elements(ast::Index& index, TypeId dense, std::uint32_t rank) {
  TypeStore& types = context_.store();
  const TypeId element = types.dense_element(dense);
  switch (choice_of(types, index, dense)) {
    case Choice::by_mask: return index.type = types.dense_of(element, 1);
    case Choice::of_points: return index.type = types.dense_of(element, rank);
    case Choice::none:
    case Choice::along_one: break;
  }
  const auto is_array = [&types](const auto& each) { return types.is_dense(each->type); };
  if (rank != 1 || std::ranges::count_if(index.indices, is_array) != 1) {
    context_.diagnostics
        .report(DiagnosticKind::not_supported, index.span,
                "choosing along some dimensions by several arrays, or by one that is no vector")
        .note(
            "one vector of indices or of booleans beside slices, as in `A[rows, :]`; indices for each dimension, as in "
            "`A[rows, cols]`; or a mask of the array's own shape");
    return index.type = TypeStore::error;
  }
  const auto is_single = [&](const auto& each) { return each->kind != ExprKind::Slice && !is_array(each); };
  const auto singles = static_cast<std::uint32_t>(std::ranges::count_if(index.indices, is_single));
  return index.type = types.dense_of(element, types.rank(dense) - singles);
}

/// An int, or a dense array of ints or booleans.
bool ExpressionChecker::index_of_dense(ast::Expr& entry, TypeId dense) {
  const TypeStore& types = context_.store();
  const TypeId found = types.base(value(entry));
  if (found == TypeStore::int_) return true;
  if (found == TypeStore::int32) return convert(context_, entry, TypeStore::int_), true;
  if (entry.kind == ExprKind::ArrayLiteral || entry.kind == ExprKind::Range) {  // `A[[0, 2, 4]]`, `A[[true, false], :]`
    for (const TypeId element : {TypeStore::int_, TypeStore::boolean}) {
      for (std::uint32_t rank = 1; rank <= types.rank(dense); ++rank) {
        const TypeId indices = context_.store().dense_of(element, rank);
        if (fit(context_, entry, indices) == Fit::none) continue;
        convert(context_, entry, indices);
        return true;
      }
    }
  }
  if (types.is_dense(found) && types.dense_element(found) == TypeStore::int32)
    return convert(context_, entry, context_.store().dense_of(TypeStore::int_, types.rank(found))), true;
  if (types.is_dense(found) && TypeStore::wide(types.dense_element(found)) != TypeStore::float_) return true;
  if (found == TypeStore::error) return false;
  if (report_counter_of_quotient(context_, entry, TypeStore::int_)) return false;
  Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::wrong_key_type, entry.span, context_.name(dense),
                                                       "int", context_.name(found));
  if (suggest_quotient(context_, diagnostic, entry, TypeStore::int_)) return false;
  const bool is_growing = types.is_array(found) && types.at(found).key == TypeStore::int_;
  const TypeId element = is_growing ? types.at(found).element : TypeStore::error;
  if (element == TypeStore::int_ || element == TypeStore::boolean)
    diagnostic.note("indices are a dense array: `dense(" + source_text(context_, entry.span) +
                    ")` makes one, after `import arrays;`");
  if (element == TypeStore::float_) diagnostic.note("places are ints, from 0, or truth values, one for each element");
  suggest_conversion(types, diagnostic, types.is_dense(found) ? types.dense_element(found) : found, TypeStore::int_);
  return false;
}

TypeId ExpressionChecker::value_for(ast::Expr& expr, TypeId target) {
  if (expr.kind == ExprKind::Call) wanted_ = target;
  const TypeId found = value(expr);
  wanted_ = TypeStore::error;
  return found;
}

void ExpressionChecker::array_result(ast::Call& call, TypeId wanted) {
  TypeStore& types = context_.store();
  const std::string& name = call.callee.text;
  const ast::Expr& array = *call.resolved_arguments.front();
  const auto extents = static_cast<std::uint32_t>(call.resolved_arguments.size() - 1);
  const auto refuse = [&](const char* what) {
    if (array.type == TypeStore::error) return TypeStore::error;
    Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::wrong_argument_type, array.span, 1, name, what,
                                                         context_.name(array.type));
    if (name == "dense" && types.is_array(array.type) && types.is_array(types.at(array.type).element))
      diagnostic.note(
          "an array of several dimensions is declared with its extents: `float A[2, 2] = [[1.0, 2.0], [3.0, 4.0]];`");
    else if (name == "dense" && array.type == TypeStore::blob)
      diagnostic.note("the extents tell how many numbers a blob holds: `float x[:] = dense(" +
                      source_text(context_, array.span) + ", n);`, or -1 for all of them");
    else if (name != "dense" && types.is_array(array.type) && types.at(array.type).key == TypeStore::int_ &&
             TypeStore::is_number_or_truth(types.at(array.type).element))
      diagnostic.note("`dense(" + source_text(context_, array.span) + ")` makes one");
    return TypeStore::error;
  };
  if (name == "reshape" || name == "flatten") {
    for (const ast::Call::Argument& argument : call.arguments)
      if (argument.value.get() == &array) take_list_as_dense(*argument.value);
    call.type = types.is_dense(array.type) ? types.dense_of(types.dense_element(array.type), std::max(1U, extents))
                                           : refuse("a dense array");
  } else if (name == "dense" && extents != 0) {  // of a blob
    if (types.is_dense(wanted)) {
      call.type = types.dense_of(types.dense_element(wanted), extents);
    } else {
      context_.diagnostics
          .report(DiagnosticKind::untyped_file, call.callee.span, name,
                  wanted == TypeStore::error ? "" : ": `" + context_.name(wanted) + "` is no dense array")
          .note("as in `float x[:] = dense(" + source_text(context_, array.span) + ", n);`");
      call.type = TypeStore::error;
    }
  } else if (name == "dense") {
    const TypeId element = types.is_array(array.type) && types.at(array.type).key == TypeStore::int_
                               ? types.at(array.type).element
                               : TypeStore::error;
    call.type =
        TypeStore::is_number_or_truth(element) ? types.dense_of(element, 1) : refuse("a growing array of numbers");
  } else if (types.is_dense(wanted) || (name == "read_csv" && table_type(types, wanted))) {
    call.type = wanted;
  } else {
    const std::string unfit =
        wanted == TypeStore::error ? "" : ": `" + context_.name(wanted) + "` is nothing that it reads";
    Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::untyped_file, call.callee.span, name, unfit);
    diagnostic.note("as in `float A[:, :] = " + name + "(f);`");
    if (name == "read_csv")
      diagnostic.note(
          "columns of several types go into an array of structures, as in `type sample { string name; float "
          "dose; } sample s[] = read_csv(f);`, or a structure of arrays");
    call.type = TypeStore::error;
  }
  call.output_types = {call.type};
}

bool ExpressionChecker::is_lifted(const ast::Expr& one, const ast::Expr& other) const {
  return context_.store().is_dense(one.type) || context_.store().is_dense(other.type);
}

/// `x + [1.0, 2.0]`, `A * [1:3]`: a list or range beside a dense array is one, too.
void ExpressionChecker::take_list_as_dense(ast::Expr& operand) {
  if (!is_array_expression(operand)) return;
  TypeStore& types = context_.program.types;
  TypeId element = types.base(operand.type);
  std::uint32_t rank = 0;
  for (; types.is_array(element); element = types.base(types.at(element).element)) ++rank;
  if (!TypeStore::is_number_or_truth(element)) return;
  const TypeId dense = types.dense_of(element, rank);
  if (fit(context_, operand, dense) != Fit::none) convert(context_, operand, dense);
}

TypeId ExpressionChecker::lifted_binary(ast::Binary& binary) {
  const TypeStore& types = context_.store();
  take_list_as_dense(*binary.left);
  take_list_as_dense(*binary.right);
  for (const ast::Expr* operand : {binary.left.get(), binary.right.get()}) {
    const TypeId base = types.base(operand->type);
    const bool fits = types.is_dense(base) || TypeStore::is_number_or_truth(base) || base == TypeStore::updateable;
    if (!fits) return bad_operands(binary, nullptr);
  }
  TypeId element = TypeStore::error;
  std::uint32_t rank = 0;
  const bool are_both = types.is_dense(binary.left->type) && types.is_dense(binary.right->type);
  const ast::Expr* const scalar = types.is_dense(binary.left->type) ? binary.right.get() : binary.left.get();
  beside_array_ = are_both ? nullptr : scalar;
  {
    const AsElements operands(types, {binary.left.get(), binary.right.get()});
    element = of_operands(binary);
    rank = operands.rank();
  }
  beside_array_ = nullptr;
  return element == TypeStore::error ? element : context_.store().dense_of(element, rank);
}

TypeId ExpressionChecker::lifted_unary(ast::Unary& unary) {
  TypeId element = TypeStore::error;
  std::uint32_t rank = 0;
  {
    const AsElements operand(context_.store(), {unary.operand.get()});
    element = of_operand(unary);
    rank = operand.rank();
  }
  return element == TypeStore::error ? element : context_.store().dense_of(element, rank);
}

}  // namespace raddle::check_detail
