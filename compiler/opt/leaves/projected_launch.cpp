#include "compiler/opt/leaves/projected_launch.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "compiler/ir/affine_keys.hpp"
#include "compiler/ir/library_calls.hpp"
#include "compiler/opt/leaves/order_library_calls.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

using ir::OpKind;

namespace {

std::optional<ir::ReducedLoops> find_reduced_loops(const ir::Module& module, const ir::Function& around,
                                                   const ir::Region& body) {
  if (std::ranges::find(body.ops, OpKind::foreach_range, &ir::Op::kind) == body.ops.end()) return std::nullopt;
  return std::optional<ir::ReducedLoops>(std::in_place, module, around);
}

}  // namespace

ProjectedLaunch::ProjectedLaunch(const ir::Module& module, const ir::Function& around, const ir::Op& loop)
    : module_(module),
      around_(around),
      loop_(loop),
      body_(around.regions[loop.regions[0]]),
      accesses_(ir::body_accesses(module, around, loop)),
      reduced_loops_(find_reduced_loops(module, around, body_)),
      reads_(accesses_.reads),
      computation_(module, around, loop, "launch"),
      projection_(module, around, loop, "projection") {}

bool ProjectedLaunch::run() {
  if (loop_.kind != OpKind::foreach_range || accesses_.writes.empty() || computation_.counter_is_read() ||
      computation_.assigns_outside() || !accesses_.inside.empty() || reads_what_it_writes() || writes_rows())
    return false;
  read_whole_arrays();
  const Slice values = slice(values_of_writes());
  const Slice keys = slice(all_keys());
  if (!is_all(values, keys) || !keys.is_closed || !values.is_closed || has_other_uses(values) || has_other_uses(keys))
    return false;
  if (delays_library_call()) return false;
  computation_.add_parameter(body_.parameters[0]);
  for (const ir::BodyAccess& read : reads_) computation_.add_parameter(read.op->results[0]);
  computation_.copy_body([&](const ir::Op& op) { return values.ops.contains(&op); });
  for (const ir::BodyAccess& write : accesses_.writes)
    computation_.add_output(write.op->operands.back(), write.op->span);
  for (const ir::Operand key : all_keys())
    if (ir::type_of(module_, around_, key) != TypeStore::int_) return false;
  const std::vector<ir::Operand> computed = computed_keys();
  const Slice computed_slice = slice(computed);
  projection_.add_parameter(body_.parameters[0]);
  projection_.copy_body([&](const ir::Op& op) { return computed_slice.ops.contains(&op); });
  for (const ir::Operand key : computed) projection_.add_output(key, loop_.span);
  return true;
}

std::vector<ir::Access> ProjectedLaunch::accesses() const {
  std::vector<ir::Access> made;
  std::uint32_t result = 0;
  const auto add = [&](const ir::BodyAccess& access) {
    made.push_back(ir::with_same_keys(access));
    for (std::size_t i = made.back().keys.size(); i < access.keys.size(); ++i) {
      const std::optional<ir::Key> affine = affine_key(access.keys[i]);
      made.back().keys.push_back(affine ? *affine : ir::Key{.kind = ir::Key::Kind::computed, .result = result++});
    }
  };
  for (const ir::BodyAccess& read : reads_) add(read);
  for (const ir::BodyAccess& write : accesses_.writes) add(write);
  return made;
}

/// Elements that keys depend on, and those of these keys: keys are computed before any element is looked for.
void ProjectedLaunch::read_whole_arrays() {
  for (bool has_changed = true; has_changed;) {
    const Slice keys = slice(all_keys());
    const std::size_t before = reads_.size();
    std::erase_if(reads_, [&](const ir::BodyAccess& read) { return keys.needed.contains(read.op->results[0]); });
    std::erase_if(reads_, [&](const ir::BodyAccess& read) {
      const Slice own = slice(read.keys);
      return std::ranges::any_of(own.ops, [](const ir::Op* op) { return op->kind == OpKind::array_get; });
    });
    has_changed = reads_.size() != before;
  }
}

std::vector<ir::Operand> ProjectedLaunch::values_of_writes() const {
  std::vector<ir::Operand> values;
  for (const ir::BodyAccess& write : accesses_.writes) values.push_back(write.op->operands.back());
  return values;
}

std::optional<ir::Key> ProjectedLaunch::affine_key(ir::Operand key) const {
  return ir::affine_key(module_, around_, loop_, key);
}

std::vector<ir::Operand> ProjectedLaunch::computed_keys() const {
  std::vector<ir::Operand> keys = all_keys();
  std::erase_if(keys, [this](ir::Operand key) { return affine_key(key).has_value(); });
  return keys;
}

/// But for keys of rows from outside that are written; of reads first.
std::vector<ir::Operand> ProjectedLaunch::all_keys() const {
  std::vector<ir::Operand> keys;
  for (const ir::BodyAccess& read : reads_) keys.insert(keys.end(), read.keys.begin(), read.keys.end());
  for (const ir::BodyAccess& write : accesses_.writes)
    keys.insert(keys.end(), write.keys.begin() + static_cast<std::ptrdiff_t>(write.fixed_keys), write.keys.end());
  return keys;
}

bool ProjectedLaunch::is_access(const ir::Op& op) const {
  const auto is_it = [&op](const ir::BodyAccess& access) { return access.op == &op; };
  return std::ranges::find(accesses_.rows, &op) != accesses_.rows.end() ||
         std::ranges::find(accesses_.holds, &op) != accesses_.holds.end() || std::ranges::any_of(reads_, is_it) ||
         std::ranges::any_of(accesses_.writes, is_it);
}

/// Of a loop whose numbers are reduced: the array that it fills, too.
std::vector<ir::VarId> ProjectedLaunch::assigned_by(const ir::Op& op) const {
  std::vector<ir::VarId> assigned = variables_assigned(around_, op);
  const ir::ReducedLoop* const reduced = reduced_loops_ ? reduced_loops_->of(op) : nullptr;
  if (reduced && reduced->loop == &op) assigned.push_back(reduced->array->results[0]);
  return assigned;
}

ProjectedLaunch::Slice ProjectedLaunch::slice(const std::vector<ir::Operand>& roots) const {
  Slice slice;
  for (const ir::Operand root : roots)
    if (!root.is_constant) slice.needed.insert(root.index);
  std::set<ir::VarId> made{body_.parameters[0]};
  for (const ir::BodyAccess& read : reads_) made.insert(read.op->results[0]);
  for (const ir::Op& op : std::views::reverse(body_.ops)) {  // each follows what it reads
    if (is_access(op)) continue;
    const std::vector<ir::VarId> assigned = assigned_by(op);
    made.insert(assigned.begin(), assigned.end());
    if (!std::ranges::any_of(assigned, [&](ir::VarId id) { return slice.needed.contains(id); })) continue;
    slice.ops.insert(&op);
    for (const ir::VarId id : variables_read(around_, op)) slice.needed.insert(id);
  }
  for (const ir::VarId id : slice.needed)
    slice.is_closed &= !computation_.declares(id) || made.contains(id) || is_nested(id);
  return slice;
}

/// An iteration's own element: it gives some results without it, and would wait for itself otherwise.
bool ProjectedLaunch::reads_what_it_writes() const {
  return std::ranges::any_of(reads_, [this](const ir::BodyAccess& read) {
    return std::ranges::any_of(accesses_.writes, [&](const ir::BodyAccess& write) {
      return read.array == write.array && read.keys == write.keys;
    });
  });
}

/// A point waits for all elements that it reads. What a library function does must not wait for one that it does not
/// need: the element may depend on it.
bool ProjectedLaunch::delays_library_call() const {
  return std::ranges::any_of(body_.ops, [this](const ir::Op& op) {
    if (!has_library_call(module_, around_, op)) return false;
    std::vector<ir::Operand> inputs;
    for (const ir::VarId id : variables_read(around_, op)) inputs.push_back(ir::Operand::variable(id));
    const Slice needed = slice(inputs);
    return std::ranges::any_of(
        reads_, [&](const ir::BodyAccess& read) { return !needed.needed.contains(read.op->results[0]); });
  });
}

/// Declared deeper than in the loop's own body.
bool ProjectedLaunch::is_nested(ir::VarId id) const {
  return computation_.declares(id) && std::ranges::find(body_.variables, id) == body_.variables.end() &&
         std::ranges::find(body_.parameters, id) == body_.parameters.end();
}

bool ProjectedLaunch::is_all(const Slice& values, const Slice& keys) const {
  return std::ranges::all_of(
      body_.ops, [&](const ir::Op& op) { return is_access(op) || values.ops.contains(&op) || keys.ops.contains(&op); });
}

/// Of rows, or of arrays that the loop writes: of these only single elements can be waited for.
bool ProjectedLaunch::has_other_uses(const Slice& slice) const {
  const auto is_row = [&](const ir::Op* row) { return slice.needed.contains(row->results[0]); };
  return std::ranges::any_of(accesses_.rows, is_row) ||
         std::ranges::any_of(accesses_.writes,
                             [&](const ir::BodyAccess& write) { return slice.needed.contains(write.array.index); });
}

bool ProjectedLaunch::writes_rows() const {
  return std::ranges::find(accesses_.writes, ir::AccessMode::row, &ir::BodyAccess::mode) != accesses_.writes.end();
}

}  // namespace raddle::opt
