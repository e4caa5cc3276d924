#pragma once
// Which of a program's structures is which type.
#include <cstdint>
#include <unordered_map>

#include "compiler/types/type_store.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

class StructureTable {
 public:
  StructureTable(const TypeStore& types, vm::Program& program) : types_(types), program_(program) {}
  /// Its number in the program, to which it is added if it is new. @param type  a structure, or one named after it
  std::uint32_t number_of(TypeId type);

 private:
  const TypeStore& types_;
  vm::Program& program_;
  std::unordered_map<TypeId, std::uint32_t> numbers_;
};

}  // namespace raddle::emit
