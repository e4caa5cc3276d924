#include "compiler/emit/structure_table.hpp"

#include <utility>

namespace raddle::emit {

std::uint32_t StructureTable::number_of(TypeId type) {
  const TypeId base = types_.base(type);
  const auto [known, is_new] = numbers_.try_emplace(base, static_cast<std::uint32_t>(program_.structures.size()));
  if (!is_new) return known->second;
  const StructType& structure = types_.structure(base);
  vm::StructureInfo info{structure.name, {}};
  for (const StructType::Field& field : structure.fields) info.fields.push_back(field.name);
  program_.structures.push_back(std::move(info));
  return known->second;
}

}  // namespace raddle::emit
