#pragma once
// Structures: one future for each field.
#include <memory>
#include <string>
#include <vector>

#include "vm/value/future.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

class Structure final : public HeapObject {
 public:
  /// @param names  of the fields; must outlive the structure
  explicit Structure(const std::vector<std::string>& names)
      : names_(names), fields_(std::make_unique<Future[]>(names.size())) {}
  std::size_t field_count() const { return names_.size(); }
  const std::string& field_name(std::size_t index) const { return names_[index]; }
  Future& field(std::size_t index) { return fields_[index]; }

 private:
  const std::vector<std::string>& names_;
  std::unique_ptr<Future[]> fields_;
};

inline Structure& Value::as_structure() const { return *static_cast<Structure*>(object()); }

}  // namespace raddle::vm
