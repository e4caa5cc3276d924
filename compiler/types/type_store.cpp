#include "compiler/types/type_store.hpp"

namespace raddle {

TypeStore::TypeStore() {
  for (const TypeKind kind :
       {TypeKind::error, TypeKind::int_, TypeKind::float_, TypeKind::string, TypeKind::boolean, TypeKind::void_,
        TypeKind::blob, TypeKind::file, TypeKind::url, TypeKind::updateable, TypeKind::int32, TypeKind::float32})
    intern({.kind = kind});
}

TypeId TypeStore::intern(Type type) {
  const auto [known, is_new] = ids_.try_emplace(type, static_cast<TypeId>(types_.size()));
  if (is_new) types_.push_back(type);
  return known->second;
}

TypeId TypeStore::array_of(TypeId key, TypeId element) {
  return intern({.kind = TypeKind::array, .key = key, .element = element});
}

TypeId TypeStore::bag_of(TypeId element) { return intern({.kind = TypeKind::bag, .element = element}); }

TypeId TypeStore::new_structure(std::string name, Span span) {
  structures_.push_back({std::move(name), {}, span});
  return intern({.kind = TypeKind::structure, .index = static_cast<std::uint32_t>(structures_.size() - 1)});
}

TypeId TypeStore::dense_of(TypeId element, std::uint32_t rank) {
  const auto [known, is_new] = dense_.try_emplace({element, rank}, error);
  if (!is_new) return known->second;
  if (rank > 1) dense_of(element, rank - 1);
  std::string name = this->name(element) + "[:";
  for (std::uint32_t axis = 1; axis < rank; ++axis) name += ", :";
  known->second = new_structure(name + "]", {});
  StructType& made = structure(known->second);
  made.rank = rank;
  made.fields.push_back({dense_elements_name, array_of(int_, element), {}});
  for (std::uint32_t axis = 0; axis < rank; ++axis) made.fields.push_back({"[" + std::to_string(axis) + "]", int_, {}});
  return known->second;
}

TypeId TypeStore::new_named(std::string name, TypeId base) {
  names_.push_back(std::move(name));
  return intern({.kind = TypeKind::named, .element = base, .index = static_cast<std::uint32_t>(names_.size() - 1)});
}

TypeId TypeStore::base(TypeId id) const {
  while (kind(id) == TypeKind::named) id = types_[id].element;
  return id;
}

bool TypeStore::is_scalar(TypeId id) const {
  const TypeId base_id = base(id);
  return is_number_or_truth(base_id) || base_id == string;
}

bool TypeStore::widens(TypeId from, TypeId to) {
  if (to == int_) return from == int32;
  return to == float_ && (is_int(from) || from == float32);
}

std::string TypeStore::name(TypeId id) const {
  const Type& type = at(id);
  switch (type.kind) {
    case TypeKind::error: return "<error>";
    case TypeKind::int_: return "int";
    case TypeKind::float_: return "float";
    case TypeKind::string: return "string";
    case TypeKind::boolean: return "boolean";
    case TypeKind::void_: return "void";
    case TypeKind::blob: return "blob";
    case TypeKind::file: return "file";
    case TypeKind::url: return "url";
    case TypeKind::updateable: return "updateable_float";
    case TypeKind::int32: return "int32";
    case TypeKind::float32: return "float32";
    case TypeKind::bag: return "bag<" + name(type.element) + ">";
    case TypeKind::structure: return structures_[type.index].name;
    case TypeKind::named: return names_[type.index];
    case TypeKind::array: {
      // `int[string][]`: the outermost key first, as in a declaration
      std::string keys;
      TypeId element = id;
      while (is_array(element)) {
        keys += at(element).key == int_ ? "[]" : "[" + name(at(element).key) + "]";
        element = at(element).element;
      }
      if (!is_dense(element)) return name(element) + keys;
      const std::string dense = name(element), of = name(dense_element(element));
      return of + keys + dense.substr(of.size());
    }
  }
  return {};
}

}  // namespace raddle
