#include "compiler/types/table_type.hpp"

namespace raddle {

namespace {

/// 0: it can be no field of a table
char letter_of(TypeId type) {
  if (type == TypeStore::string) return 's';
  if (type == TypeStore::float_) return 'f';
  if (type == TypeStore::int_) return 'i';
  return type == TypeStore::boolean ? 'b' : '\0';
}

bool is_list(const TypeStore& types, TypeId type) {
  return types.is_array(type) && types.at(type).key == TypeStore::int_;
}

/// `string names[]`, `float doses[:]`
TypeId element_of_column(const TypeStore& types, TypeId column) {
  if (types.is_dense(column) && types.rank(column) == 1) return types.dense_element(column);
  return is_list(types, column) ? types.at(column).element : TypeStore::error;
}

}  // namespace

std::optional<TableType> table_type(const TypeStore& types, TypeId type) {
  const TypeId base = types.base(type);
  const bool has_rows = is_list(types, base);
  const TypeId structure = has_rows ? types.base(types.at(base).element) : base;
  if (types.kind(structure) != TypeKind::structure || types.is_dense(structure)) return std::nullopt;
  TableType found{structure, has_rows, ""};
  for (const StructType::Field& field : types.structure(structure).fields) {
    const TypeId type = has_rows ? field.type : element_of_column(types, field.type);
    const char letter = letter_of(type);
    if (letter == '\0') return std::nullopt;
    found.kinds += letter;
  }
  return found.kinds.empty() ? std::nullopt : std::optional(found);
}

bool is_written_as_table(const TypeStore& types, TypeId type) {
  if (table_type(types, type)) return true;
  TypeId element = types.base(type);
  for (int level = 0; level < 2 && is_list(types, element); ++level) {
    element = types.at(element).element;
    if (letter_of(element) != '\0') return true;
  }
  return false;
}

std::string numpy_types(const TypeStore& types, TypeId type) {
  const TypeId structure = types.base(type);
  if (types.kind(structure) != TypeKind::structure || types.is_dense(structure)) return "";
  std::string all;
  for (const StructType::Field& field : types.structure(structure).fields) {
    if (!types.is_dense(field.type)) return "";
    const TypeId element = types.dense_element(field.type);
    all += element == TypeStore::float_    ? "f8"
           : element == TypeStore::float32 ? "f4"
           : element == TypeStore::int32   ? "i4"
           : element == TypeStore::boolean ? "b1"
                                           : "i8";
  }
  return all;
}

}  // namespace raddle
