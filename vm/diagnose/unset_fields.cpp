#include "vm/diagnose/unset_fields.hpp"

#include "vm/interpret/frame.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

namespace {

bool has_structures(const Array& array) {
  bool found = false;
  array.for_each_future(
      [&](Future& element) { found = found || (element.is_resolved() && element.kind() == ValueKind::structure); });
  return found;
}

}  // namespace

void UnsetFields::add(Frame& frame) {
  const BodyId body = variables_.body_of(frame);
  for (std::uint32_t slot = 0; slot < frame.body.future_count; ++slot) {
    const Home home{body, slot};
    const VariableInfo& variable = variables_.variable_at(home);
    const Future& future = frame.slots()[slot];
    if (!future.is_resolved() || (future.kind() != ValueKind::structure && future.kind() != ValueKind::array)) continue;
    // the same variable in another frame has no more to tell of it
    if (!looked_at_.emplace(future.peek(), home.body, home.slot).second) continue;
    add(frame.slots()[slot], {variable, {home}, variable.name});
  }
}

const UnsetField* UnsetFields::find(const Future& future) const {
  const auto found = fields_.find(&future);
  return found == fields_.end() ? nullptr : &found->second;
}

void UnsetFields::add(Future& future, const Path& path) {
  if (!future.is_resolved()) return;
  if (future.kind() == ValueKind::structure) add(object_in<Structure>(future), path);
  if (future.kind() == ValueKind::array && !path.name.empty()) add(object_in<Array>(future), path);
}

void UnsetFields::add(Structure& structure, const Path& path) {
  for (std::size_t i = 0; i < structure.field_count(); ++i) {
    Path inner = path;
    inner.name += "." + structure.field_name(i);
    inner.holder.field += (inner.holder.field.empty() ? "" : ".") + structure.field_name(i);
    if (structure.field(i).is_resolved()) {
      add(structure.field(i), inner);
      continue;
    }
    UnsetField& field = fields_[&structure.field(i)];
    const bool is_first = !field.variable || field.variable->name.empty() ||
                          (!path.variable.name.empty() && path.variable.place < field.variable->place);
    if (is_first) {
      field.variable = &path.variable;
      field.name = path.variable.name.empty() ? "" : inner.name;
      field.is_in_element = inner.holder.is_element;
    }
    field.holders.push_back(std::move(inner.holder));
  }
}

void UnsetFields::add(Array& array, const Path& path) {
  if (path.holder.is_element || !path.holder.field.empty() || !has_structures(array)) return;
  array.for_each([&](const Value& key, const Value& element) {
    if (element.kind() != ValueKind::structure) return;
    Path inner = path;
    inner.holder.is_element = true;
    inner.name = array.element_name(key);
    add(element.as_structure(), inner);
  });
}

}  // namespace raddle::vm
