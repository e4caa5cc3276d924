#include "compiler/check/array_choice.hpp"

#include <algorithm>
#include <cstdint>

namespace raddle::check_detail {

using ast::ExprKind;

Choice choice_of(const TypeStore& types, const ast::Index& index, TypeId dense) {
  const auto is_array = [&types](const auto& each) { return types.is_dense(each->type); };
  const auto is_mask = [&](const auto& each) {
    return is_array(each) && types.dense_element(each->type) == TypeStore::boolean;
  };
  const auto is_slice = [](const auto& each) { return each->kind == ExprKind::Slice; };
  if (std::ranges::none_of(index.indices, is_array)) return Choice::none;
  const std::uint32_t rank = types.rank(dense);
  if (index.indices.size() == 1 && is_mask(index.indices[0]) && types.rank(index.indices[0]->type) == rank)
    return Choice::by_mask;
  const bool is_of_points = index.indices.size() == rank && std::ranges::none_of(index.indices, is_slice) &&
                            std::ranges::none_of(index.indices, is_mask);
  return is_of_points ? Choice::of_points : Choice::along_one;
}

}  // namespace raddle::check_detail
