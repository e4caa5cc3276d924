#pragma once
// Types of what is written to files: tables as text whose columns have types of their own, structures of arrays.
#include <optional>
#include <string>
#include <string_view>

#include "compiler/types/type_store.hpp"

namespace raddle {

/// How a record's values are held: an array of structures, a row in each, or a structure of arrays, a column in each.
struct TableType {
  TypeId structure;
  bool has_rows;      ///< an array of structures
  std::string kinds;  ///< a letter for each field: s, f, i, b
};

/// nullopt: it is none. Fields are strings, floats, ints and booleans.
std::optional<TableType> table_type(const TypeStore& types, TypeId type);

/// `write_csv` can write it: such a table, a growing array of values of these types, or of such arrays.
bool is_written_as_table(const TypeStore& types, TypeId type);

/// NumPy's types of a structure's fields, as "f8i4", if all are dense arrays; else "": `write_npz` can not write it.
std::string numpy_types(const TypeStore& types, TypeId type);

}  // namespace raddle
