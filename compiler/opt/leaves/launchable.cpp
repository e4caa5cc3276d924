#include "compiler/opt/leaves/launchable.hpp"

#include <optional>

#include "compiler/ir/heavy_leaves.hpp"
#include "compiler/ir/library_calls.hpp"
#include "compiler/opt/leaves/plain_launch.hpp"
#include "compiler/opt/leaves/projected_launch.hpp"

namespace raddle::opt {

using ir::OpKind;

bool has_launch_space(const ir::Module& module, const ir::Function& function, const ir::Op& loop) {
  if (loop.kind != OpKind::foreach_range && loop.kind != OpKind::foreach_array) return false;
  const TypeStore& types = *module.types;
  const TypeId type = type_of(module, function, loop.operands[0]);
  if (loop.kind == OpKind::foreach_range) return type == TypeStore::int_;
  return types.is_array(type) && types.at(type).key == TypeStore::int_;
}

bool is_plain_launch(const ir::Module& module, const ir::Function& around, const ir::Op& loop) {
  const auto is_leaf = [&](ir::FunctionId callee) { return module.functions[callee].kind == ir::FunctionKind::leaf; };
  return is_plain_launch(module, around, loop, is_leaf);
}

bool is_plain_launch(const ir::Module& module, const ir::Function& around, const ir::Op& loop, const IsLeaf& is_leaf) {
  if (!has_launch_space(module, around, loop)) return false;
  PlainLaunch launch(module, around, loop);
  const std::optional<ir::Function> made = launch.run();
  return made && !ir::calls_library(module, *made) && can_be_leaf(module, *made, is_leaf);
}

bool is_projected_launch(const ir::Module& module, const ir::Function& around, const ir::Op& loop) {
  ProjectedLaunch launch(module, around, loop);
  if (!has_launch_space(module, around, loop) || !launch.run()) return false;
  const ir::Function computation = launch.computation().take_function();
  return may_be_launched(module, computation, launch.projection().take_function()) &&
         !ir::calls_library(module, computation);
}

bool may_be_launched(const ir::Module& module, const ir::Function& computation, const ir::Function& projection) {
  return can_be_leaf(module, computation) && can_be_leaf(module, projection) &&
         !ir::HeavyLeaves(module).is_heavy(projection) && !ir::calls_library(module, projection);
}

}  // namespace raddle::opt
