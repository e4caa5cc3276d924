// `read_npy`, `read_npz` and `read_csv`: into dense arrays, arrays of structures and structures of arrays.
#include <algorithm>
#include <array>

#include "compiler/lower/lower_function.hpp"
#include "compiler/types/table_type.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::lowering {

using ir::OpKind;

namespace {

/// What stands for the input `name` of a function of the library; nullptr: it has no such input.
const ast::Expr* argument_for(const ast::Call& call, std::string_view name) {
  const std::string_view text = stdlib::builtins()[call.callee_index].signature;
  const auto& inputs = stdlib::signature_of(call.callee_index).inputs;
  const auto found = std::ranges::find(inputs, name, [&](const auto& input) { return input.name.of(text); });
  return found == inputs.end() ? nullptr : call.resolved_arguments[static_cast<std::size_t>(found - inputs.begin())];
}

bool is_written(const ast::Call& call, const ast::Expr* argument) {
  return std::ranges::any_of(call.arguments,
                             [&](const ast::Call::Argument& each) { return each.value.get() == argument; });
}

}  // namespace

/// What `read_csv` is told of a table, in the order in which the library takes it.
/// @param has_header  where the call does not say so
void FunctionLowering::add_table_form(const ast::Call& call, bool has_header, Operands& operands) {
  const auto constant = [&](auto known) { return ir::Operand::constant(context_.module.constant(known)); };
  Operands columns;
  if (const ast::Expr* const argument = argument_for(call, "columns")) columns = {value(*argument)};
  if (!columns.empty() && types().at(types().base(type_of(columns[0]))).element == TypeStore::string) has_header = true;
  const ast::Expr* const header = argument_for(call, "header");
  operands.push_back(is_written(call, header) ? value(*header) : constant(has_header));
  operands.push_back(value(*argument_for(call, "separator")));
  operands.push_back(value(*argument_for(call, "comments")));
  const ast::Expr* const missing = argument_for(call, "missing");
  operands.push_back(missing != nullptr ? value(*missing) : constant(0.0));
  operands.push_back(constant(missing != nullptr));
  operands.insert(operands.end(), columns.begin(), columns.end());
}

/// The variable's type says what is to be in the file.
FunctionLowering::Dense FunctionLowering::read_from_file(const ast::Call& call) {
  Operands operands = {value(*call.resolved_arguments.front()), int_constant(types().rank(call.type))};
  const std::string_view reader = stdlib::builtins()[call.callee_index].name;
  if (reader == "read_csv")
    add_table_form(call, false, operands);
  else
    for (std::size_t i = 1; i < call.resolved_arguments.size(); ++i)
      operands.push_back(value(*call.resolved_arguments[i]));
  return read_by("@" + std::string(reader), call, std::move(operands));
}

/// @param reader  gives the elements of the call's type, and their extents: its name without that of the type
FunctionLowering::Dense FunctionLowering::read_by(std::string_view reader, const ast::Call& call, Operands operands) {
  TypeStore& all = context_.program.types;
  const TypeId element = all.dense_element(call.type);
  const ir::VarId elements = temporary(all.array_of(TypeStore::int_, element), call.span);
  const ir::VarId extents = temporary(all.array_of(TypeStore::int_, TypeStore::int_), call.span);
  std::vector<TypeId> operand_types;
  for (const ir::Operand& operand : operands) operand_types.push_back(type_of(operand));
  ir::Op& op = emit(OpKind::call_builtin, std::move(operands), {elements, extents}, call.span);
  op.callee = builtin_named(std::string(reader) + "_" + all.name(element));
  op.operand_types = std::move(operand_types);
  Dense made{ir::Operand::variable(elements), {}};
  for (std::uint32_t axis = 0; axis < all.rank(call.type); ++axis)
    made.extents.push_back(emit_value(OpKind::array_get, {ir::Operand::variable(extents), int_constant(axis)},
                                      TypeStore::int_, call.span));
  return made;
}

// The library reads the values of all columns of one type into one array, column after column; from there they go to
// where they belong. The ints begin with the number of rows, and end with the booleans.
ir::Operand FunctionLowering::records_from_file(const ast::Call& call, ir::VarId target) {
  const TableType table = *table_type(types(), call.type);
  const std::vector<StructType::Field> fields = types().structure(table.structure).fields;
  const Span span = call.span;
  std::string names;
  for (const StructType::Field& field : fields) names += field.name + "\n";

  Operands operands = {value(*call.resolved_arguments.front()), text_constant(names), text_constant(table.kinds)};
  add_table_form(call, true, operands);
  constexpr std::string_view letters = "sfib";
  constexpr std::array<std::size_t, letters.size()> array_of_kind = {0, 1, 2, 2};
  constexpr std::array element_types = {TypeStore::string, TypeStore::float_, TypeStore::int_};
  std::vector<ir::VarId> results;
  for (const TypeId element : element_types)
    results.push_back(temporary(context_.program.types.array_of(TypeStore::int_, element), span));
  std::vector<TypeId> operand_types;
  for (const ir::Operand& operand : operands) operand_types.push_back(type_of(operand));
  ir::Op& read = emit(OpKind::call_builtin, std::move(operands), results, span);
  read.callee = builtin_named("@read_records");
  read.operand_types = std::move(operand_types);

  const ir::Operand count =
      emit_value(OpKind::array_get, {ir::Operand::variable(results[2]), int_constant(0)}, TypeStore::int_, span);
  std::array<std::int64_t, letters.size()> before = {0, 0, 0, std::ranges::count(table.kinds, 'i')};
  Operands starts;  // of the columns
  for (const char letter : table.kinds) {
    const std::size_t kind = letters.find(letter);
    const ir::Operand columns_before =
        emit_value(OpKind::index_mul, {count, int_constant(before[kind]++)}, TypeStore::int_, span);
    const std::int64_t first = array_of_kind[kind] == 2 ? 1 : 0;
    starts.push_back(emit_value(OpKind::index_add, {columns_before, int_constant(first)}, TypeStore::int_, span));
  }
  const auto value_at = [&](std::size_t field, ir::Operand row) {
    const std::size_t array = array_of_kind[letters.find(table.kinds[field])];
    const ir::Operand key = emit_value(OpKind::index_add, {row, starts[field]}, TypeStore::int_, span);
    const ir::Operand found =
        emit_value(OpKind::array_get, {ir::Operand::variable(results[array]), key}, element_types[array], span);
    return table.kinds[field] == 'b' ? emit_value(OpKind::ne, {found, int_constant(0)}, TypeStore::boolean, span)
                                     : found;
  };
  const auto fill = [&](TypeId type, const std::function<ir::Operand(ir::Operand row)>& element) {
    const ir::VarId made = local("", type, span, region_);
    emit(OpKind::array_new, {}, {made}, span);
    count_to(count, span, [&](ir::Operand row) {
      emit(OpKind::array_insert, {ir::Operand::variable(made), row, element(row)}, {}, span);
    });
    return ir::Operand::variable(made);
  };
  if (!table.has_rows) {
    Operands columns;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const TypeId type = fields[i].type;
      const bool is_dense = types().is_dense(type);
      const ir::Operand elements =
          fill(is_dense ? types().dense_elements(type) : type, [&](ir::Operand row) { return value_at(i, row); });
      const ir::Operand column =
          is_dense ? ir::Operand::variable(pack({elements, {count}}, type, span, ir::none)) : elements;
      columns.push_back(fitted(column, fixed_extents(fields[i].extents), "`" + fields[i].name + "`", span));
    }
    return emit_value(OpKind::struct_make, std::move(columns), call.type, span, target);
  }
  const TypeId element = types().at(types().base(call.type)).element;
  const ir::Operand made = fill(types().base(call.type), [&](ir::Operand row) {
    Operands values;
    for (std::size_t i = 0; i < fields.size(); ++i) values.push_back(value_at(i, row));
    return emit_value(OpKind::struct_make, std::move(values), element, span);
  });
  return target == ir::none ? made : emit_value(OpKind::copy, {made}, call.type, span, target);
}

}  // namespace raddle::lowering
