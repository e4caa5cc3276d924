#include "compiler/opt/flatten/body_builder.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

void BodyBuilder::add_output(Operand value, Span span) {
  if (is_own(value)) {
    std::erase(function_.regions[0].variables, value.index);
    function_.outputs.push_back(value.index);
    return;
  }
  const auto id = static_cast<ir::VarId>(function_.variables.size());
  function_.variables.push_back({"", type_of(value), span, 0});
  function_.outputs.push_back(id);
  ir::Op copy;
  copy.span = span;
  copy.operands = {value};
  copy.results = {id};
  add(std::move(copy));
}

bool BodyBuilder::can_go_on(Operand value) const {
  if (value.is_constant || !module_->types->is_array(type_of(value))) return true;
  const bool is_part = std::ranges::any_of(own_, [&](const auto& own) { return own.second.whole == value; });
  if (is_own(value) && !is_part) return true;
  const std::vector<ir::VarId>& variables = function_.regions[loops_.back().regions[0]].parameters;
  const ir::RegionId made_in = function_.variables[value.index].region;
  const auto is_open = [&](ir::RegionId region) { return std::ranges::find(open_, region) != open_.end(); };
  return std::ranges::find(variables, value.index) != variables.end() || made_in == ir::none ||
         (is_open(made_in) && made_in != region() && made_in != loops_.back().regions[0]);
}

void BodyBuilder::end_each() {
  close_each();
  for (auto& [id, own] : own_) own.is_filled = own.is_filled || (own.is_written && own.region == region());
}

/// Computed before all loops in order that are open.
Operand BodyBuilder::size_of(const Operands& extents, Span span) {
  const auto level = loops_.empty() ? open_.end() : std::ranges::find(open_, loops_.front().regions[0]);
  const auto count = static_cast<std::size_t>(level - open_.begin());
  const std::vector<ir::RegionId> open = open_;
  const std::vector<std::map<Key, Operand>> inner(shared_.begin() + static_cast<std::ptrdiff_t>(count), shared_.end());
  open_.resize(count);
  shared_.resize(count);
  Operand size = extents[0];
  for (std::size_t i = 1; i < extents.size(); ++i) size = put(OpKind::mul, {size, extents[i]}, TypeStore::int_, span);
  open_ = open;
  shared_.insert(shared_.end(), inner.begin(), inner.end());
  return size;
}

bool BodyBuilder::is_before_loops(Operand operand) const {
  if (operand.is_constant || loops_.empty()) return true;
  ir::RegionId at = function_.variables[operand.index].region;
  while (at != ir::none && at != loops_.front().regions[0]) at = function_.regions[at].parent;
  return at == ir::none;
}

Operand BodyBuilder::new_array(TypeId type, const Operands& extents, Span span) {
  if (!std::ranges::all_of(extents, [&](Operand extent) { return is_before_loops(extent); })) is_impossible_ = true;
  return add_array(type, extents, is_impossible_ ? number(0) : size_of(extents, span), span);
}

Operand BodyBuilder::new_reduced_array(TypeId type, Operand count, Span span) {
  return add_array(type, {count}, count, span);
}

Operand BodyBuilder::add_array(TypeId type, const Operands& extents, Operand size, Span span) {
  ir::Op op;
  op.kind = OpKind::array_new;
  op.operands = {size};
  op.span = span;
  const ir::VarId made = declare(type, span, region());
  op.results = {made};
  add(std::move(op));
  own_[made] = {.extents = extents, .size = size, .depth = points_.size(), .level = open_.size(), .region = region()};
  return Operand::variable(made);
}

BodyBuilder::Operands BodyBuilder::own_function(const ir::Op& like, Operands inputs, const std::vector<TypeId>& types,
                                                const std::vector<Operands>& extents) {
  ir::Op op;
  op.kind = OpKind::call_builtin;
  op.callee = like.callee;
  op.operands = std::move(inputs);
  op.span = like.span;
  Operands made;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const ir::VarId result = declare(types[i], like.span, region());
    op.results.push_back(result);
    made.push_back(Operand::variable(result));
    if (!std::ranges::all_of(extents[i], [&](Operand extent) { return is_before_loops(extent); }))
      is_impossible_ = true;
    op.operands.push_back(extents[i].empty() || is_impossible_ ? number(1) : size_of(extents[i], like.span));
    if (extents[i].empty()) continue;
    own_[result] = {.extents = extents[i],
                    .size = op.operands.back(),
                    .depth = points_.size(),
                    .level = open_.size(),
                    .region = region(),
                    .is_written = true,
                    .is_filled = true};
  }
  add(std::move(op));
  return made;
}

/// Others are left to who interprets them; of the memory only what is used is ever touched.
Operand BodyBuilder::new_growing_array(TypeId type, Span span) {
  constexpr std::int64_t most_elements = 1 << 16;
  const Operand made = new_array(type, {number(most_elements)}, span);
  ir::Op& op = function_.regions[region()].ops.back();
  own_[made.index].is_tracked = own_[made.index].grows = op.is_tracked = true;
  op.fill_order = ir::FillOrder::up;
  return made;
}

/// The loops around are over the array's extents, or one of them over all elements, and the key is that of the element
/// in row-major order.
bool BodyBuilder::writes_all(const Own& own, Operand key) const {
  const std::span points = std::span(points_).subspan(own.depth), counts = std::span(counts_).subspan(own.depth);
  if (open_.size() - own.level != points.size()) return false;  // in a branch, or in a loop with an order
  if (points.size() == 1 && key == points[0] && counts[0] == own.size) return true;
  if (points.empty() || !std::ranges::equal(own.extents, counts)) return false;
  for (std::size_t i = points.size() - 1; i > 0; --i) {
    const ir::Op* const sum = made(key, OpKind::index_add);
    if (!sum || sum->operands[1] != points[i]) return false;
    const ir::Op* const product = made(sum->operands[0], OpKind::index_mul);
    if (!product || product->operands[1] != counts[i]) return false;
    key = product->operands[0];
  }
  return key == points[0];
}

bool BodyBuilder::insert(Operand array, Operand key, Operand value, Span span) {
  const auto own = own_.find(array.index);
  if (own == own_.end() || own->second.is_written || own->second.is_tracked || !writes_all(own->second, key))
    return false;
  own->second.is_written = true;
  ir::Op op;
  op.kind = OpKind::array_insert;
  op.operands = {array, key, value};
  op.span = span;
  add(std::move(op));
  return true;
}

void BodyBuilder::insert_one(Operand array, std::int64_t key, Operand value, Span span) {
  ir::Op op;
  op.kind = OpKind::array_insert;
  op.operands = {array, number(key), value};
  op.span = span;
  add(std::move(op));
  own_.at(array.index).is_written = own_.at(array.index).is_filled = true;
}

bool BodyBuilder::track(Operand array) {
  Own& own = own_.at(array.index);
  if (own.is_written || own.is_filled) return false;
  if (own.is_tracked) return true;
  own.is_tracked = true;
  for (ir::Op& op : function_.regions[own.region].ops)
    if (op.kind == OpKind::array_new && op.results[0] == array.index) op.is_tracked = true;
  return true;
}

bool BodyBuilder::insert_tracked(Operand array, Operand key, Operand value, Span span) {
  if (!track(array)) return false;
  ir::Op op;
  op.kind = OpKind::array_insert;
  op.operands = {array, key, value};
  op.is_tracked = true;
  op.span = span;
  add(std::move(op));
  return true;
}

bool BodyBuilder::is_tracked(Operand array) const {
  const auto own = array.is_constant ? own_.end() : own_.find(array.index);
  return own != own_.end() && own->second.is_tracked && !own->second.is_filled;
}

Operand BodyBuilder::get_tracked(Operand array, Operand key, Span span) {
  ir::Op op;
  op.kind = OpKind::array_get;
  op.operands = {array, key};
  op.is_tracked = true;
  return finish(std::move(op), element_of(type_of(array)), span);
}

bool BodyBuilder::complete(Operand array) {
  Own& own = own_.at(array.index);
  if (own.region != region()) return false;
  const Span span = function_.variables[array.index].span;
  if (own.grows) {
    ir::Op op;
    op.kind = OpKind::copy;
    op.operands = {array};
    op.results = {declare(type_of(array), span, region())};
    op.is_tracked = own.is_filled = true;
    op.span = span;
    const Operand whole = own.whole = Operand::variable(op.results[0]);
    add(std::move(op));
    const Operand size = call("size", {whole}, TypeStore::int_, span);
    own_[whole.index] = {.extents = {size},
                         .size = size,
                         .depth = points_.size(),
                         .level = open_.size(),
                         .region = region(),
                         .is_filled = true};
    return true;
  }
  get_tracked(array, begin_each(own.size, span), span);
  end_each();
  own.is_filled = true;
  return true;
}

Operand BodyBuilder::whole(Operand array) const {
  const auto own = array.is_constant ? own_.end() : own_.find(array.index);
  return own != own_.end() && own->second.whole.index != ir::none ? own->second.whole : array;
}

/// What a growing array has is all that it is to have.
void BodyBuilder::complete_all() {
  for (auto& [id, own] : own_)
    if (own.region == region() && !own.grows && is_tracked(Operand::variable(id))) complete(Operand::variable(id));
}

const BodyBuilder::Operands* BodyBuilder::extents_of(Operand array) const {
  if (array.is_constant) return nullptr;
  if (const auto own = own_.find(array.index); own != own_.end())
    return own->second.is_filled ? &own->second.extents : nullptr;
  const auto other = of_others_.find(array.index);
  return other == of_others_.end() ? nullptr : &other->second;
}

}  // namespace raddle::opt
