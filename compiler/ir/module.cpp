#include "compiler/ir/module.hpp"

#include <array>
#include <cstring>

namespace raddle::ir {
namespace {

constexpr std::array infos = {
#define RADDLE_IR_OP(name, text, effect, strict) OpInfo{text, Effect::effect, Strict::strict},
#include "compiler/ir/ops.def"
#undef RADDLE_IR_OP
};

/// Floats by their bits: 0.0 is not -0.0, NaN is NaN.
bool same(const Constant& a, const Constant& b) {
  if (a.index() != b.index()) return false;
  if (const double* left = std::get_if<double>(&a)) return std::memcmp(left, &std::get<double>(b), sizeof *left) == 0;
  return a == b;
}

}  // namespace

const OpInfo& info(OpKind kind) { return infos[static_cast<std::size_t>(kind)]; }

std::uint32_t Module::constant(Constant value) {
  const std::size_t hash = std::hash<Constant>()(value);
  const auto [first, last] = constant_index.equal_range(hash);
  for (auto known = first; known != last; ++known)
    if (same(constants[known->second], value)) return known->second;
  constant_index.emplace(hash, static_cast<std::uint32_t>(constants.size()));
  constants.push_back(std::move(value));
  return static_cast<std::uint32_t>(constants.size() - 1);
}

FunctionId Module::find(std::string_view name) const {
  for (FunctionId i = 0; i < functions.size(); ++i)
    if (functions[i].name == name) return i;
  return none;
}

TypeId type_of(const Module& module, const Function& function, Operand operand) {
  if (!operand.is_constant) return function.variables.at(operand.index).type;
  constexpr std::array types = {TypeStore::int_, TypeStore::float_, TypeStore::string, TypeStore::boolean};
  return types[module.constants.at(operand.index).index()];
}

std::vector<MergedLoop> loops_in(const Function& function, const Op& loop) {
  if (!loop.merged.empty()) return loop.merged;
  const std::vector<VarId>& parameters = function.regions[loop.regions[0]].parameters;
  for (auto i = static_cast<std::uint32_t>(parameters.size()); i-- > 0;)
    if (const std::string& name = function.variables[parameters[i]].name; !name.empty()) return {{loop.span, name, i}};
  if (loop.is_whole) return {{loop.span, "", 0}};
  return {};
}

}  // namespace raddle::ir
