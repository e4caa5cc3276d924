#include "compiler/opt/flatten/array_functions.hpp"

#include <cstdint>

#include "stdlib/builtin_names.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

namespace {

/// Of elements `apart` from each other. They are put into an array, which ir/reduced_loops.hpp finds that there need be
/// none of.
Operand reduce_line(BodyBuilder& builder, const ir::Op& call, Operand array, Operand first, Operand apart,
                    Operand count, TypeId type) {
  const TypeId elements = builder.type_of(array), element = builder.element_of(elements);
  const Operand line = builder.new_array(elements, {count}, call.span);
  const Operand point = builder.begin_each(count, call.span);
  const Operand distance = builder.put(OpKind::index_mul, {point, apart}, TypeStore::int_, call.span);
  const Operand key = builder.put(OpKind::index_add, {first, distance}, TypeStore::int_, call.span);
  const Operand value = builder.put(OpKind::array_get, {array, key}, element, call.span);
  builder.insert(line, point, value, call.span);
  builder.end_each();
  return builder.call(call, {line}, type);
}

}  // namespace

Operand reduced(BodyBuilder& builder, const ir::Op& call, Operand array, Operand count, TypeId type) {
  return reduce_line(builder, call, array, builder.number(0), builder.number(1), count, type);
}

std::optional<Operand> loops_over_lines(BodyBuilder& builder, const Lines& lines, TypeId type, Span span) {
  ir::Op call;
  call.kind = OpKind::call_builtin;
  call.span = span;
  const TypeId element = builder.element_of(type);
  if (lines.what == "sum")
    call.callee = stdlib::find_builtin(element == TypeStore::float_ ? "sum_float" : "sum_integer").value();
  else if (lines.what == "mean" && builder.element_of(builder.type_of(lines.array)) == TypeStore::float_)
    call.callee = stdlib::find_builtin("avg.1").value();
  else
    return std::nullopt;
  const bool are_rows = builder.known(lines.apart) == 1, are_columns = lines.apart == lines.count;
  if (!are_rows && !are_columns) return std::nullopt;
  const Operand made = builder.new_array(type, {lines.count}, span);
  const Operand line = builder.begin_each(lines.count, span);
  const Operand first = are_rows ? builder.put(OpKind::index_mul, {line, lines.length}, TypeStore::int_, span) : line;
  const Operand value = reduce_line(builder, call, lines.array, first, lines.apart, lines.length, element);
  builder.insert(made, line, value, span);
  builder.end_each();
  return made;
}

namespace {

/// A sum after the other.
Operand product_by_columns(BodyBuilder& builder, Operand vector, Operand matrix, Operand k, Operand m, TypeId type,
                           Span span) {
  const Operand made = builder.new_array(type, {m}, span);
  const Operand column = builder.begin_each(m, span);
  const auto next = [&](Operand point, const BodyBuilder::Operands& sum) -> BodyBuilder::Operands {
    const Operand row = builder.put(OpKind::index_mul, {point, m}, TypeStore::int_, span);
    const Operand key = builder.put(OpKind::index_add, {row, column}, TypeStore::int_, span);
    const Operand factor = builder.put(OpKind::array_get, {vector, point}, TypeStore::float_, span),
                  element = builder.put(OpKind::array_get, {matrix, key}, TypeStore::float_, span);
    return {builder.put(OpKind::mul_add, {factor, element, sum[0]}, TypeStore::float_, span)};
  };
  const BodyBuilder::Operands sum = builder.accumulate(k, {builder.real(0.0)}, next, span);
  builder.insert(made, column, sum[0], span);
  builder.end_each();
  return made;
}

}  // namespace

Operand vector_product(BodyBuilder& builder, Operand vector, Operand matrix, Operand k, Operand m, TypeId type,
                       Span span) {
  constexpr std::int64_t most_columns = 8;  // whose sums are computed side by side
  const std::optional<std::int64_t> columns = builder.known(m);
  if (!columns || *columns < 1 || *columns > most_columns)
    return product_by_columns(builder, vector, matrix, k, m, type, span);
  const auto get = [&](Operand array, Operand key) {
    return builder.put(OpKind::array_get, {array, key}, TypeStore::float_, span);
  };
  const auto next = [&](Operand point, const BodyBuilder::Operands& sums) {
    const Operand factor = get(vector, point), row = builder.put(OpKind::index_mul, {point, m}, TypeStore::int_, span);
    BodyBuilder::Operands made;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const Operand key =
          builder.put(OpKind::index_add, {row, builder.number(static_cast<std::int64_t>(j))}, TypeStore::int_, span);
      made.push_back(builder.put(OpKind::mul_add, {factor, get(matrix, key), sums[j]}, TypeStore::float_, span));
    }
    return made;
  };
  const BodyBuilder::Operands zeros(static_cast<std::size_t>(*columns), builder.real(0.0));
  const BodyBuilder::Operands sums = builder.accumulate(k, zeros, next, span);
  const Operand made = builder.new_array(type, {m}, span);
  for (std::size_t j = 0; j < sums.size(); ++j) builder.insert_one(made, static_cast<std::int64_t>(j), sums[j], span);
  return made;
}

}  // namespace raddle::opt
