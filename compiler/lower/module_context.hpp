#pragma once
// What all functions of a module share while they are lowered.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/check/checked_program.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/ir/module.hpp"

namespace raddle::lowering {

/// Bits by ir::AppLimit, and one behind them for the words that start several processes, by `@par`.
using LimitSet = unsigned;
inline constexpr LimitSet launcher_bit = 1u << ir::app_limits.size();
/// What calls of a function have that others of it have not.
struct CallerForm {
  LimitSet limits = 0;     ///< of an app: given by the call, as parameters after the others
  bool has_views = false;  ///< dense inputs may be views: Note [views] in lower_inputs.cpp
};

/// What all functions share.
struct ModuleContext {
  CheckedProgram& program;
  Diagnostics& diagnostics;
  ir::Module& module;
  /// By index of CheckedProgram::functions; of the library, from its first call on: function_of().
  std::vector<ir::FunctionId> functions = {};
  std::vector<std::uint32_t> called = {};                       ///< of the library, not lowered yet: indices
  std::vector<std::vector<ast::VariableId>> globals_read = {};  ///< the same: extra parameters, in order
  /// Apps for calls that give some limits themselves: these are the last parameters then.
  std::map<std::pair<std::uint32_t, LimitSet>, ir::FunctionId> limited_apps = {};
  /// Functions for calls that give views.
  std::map<std::uint32_t, ir::FunctionId> functions_of_views = {};
  /// Generic functions as calls need them, by index and the types of their inputs and outputs.
  std::map<std::tuple<std::uint32_t, std::vector<TypeId>, std::vector<TypeId>>, ir::FunctionId> instances = {};
  std::unordered_map<std::string, unsigned> function_names = {};  ///< how many have it: `f`, `f.1`, ...
};

bool has_annotation(const ast::Annotations& annotations, std::string_view name);
/// @param otherwise  without `@cpu` and `@gpu`
vm::Placement placement_of(const ast::Annotations& annotations, vm::Placement otherwise);
ir::FunctionId add_function(ModuleContext& context, const std::string& name, Span span);
/// The function of that index. One of the library is to be lowered if it is called: a script names many that it does
/// not call, for other types.
ir::FunctionId function_of(ModuleContext& context, std::uint32_t index);
/// Makes and lowers the function of index `index` of CheckedProgram::functions.
void lower_function(ModuleContext& context, std::uint32_t index, ir::FunctionId id, const CallerForm& form);

bool is_file(const TypeStore& types, TypeId type);

}  // namespace raddle::lowering
