#pragma once
// Names of the parts of a module: ids are indices, so that parts copy and compare without pointers.
#include <cstdint>

namespace raddle::ir {

using VarId = std::uint32_t;         ///< index into Function::variables
using RegionId = std::uint32_t;      ///< index into Function::regions
using FunctionId = std::uint32_t;    ///< index into Module::functions
using LaunchId = std::uint32_t;      ///< index into Function::launches
using NestId = std::uint32_t;        ///< index into Function::nests
using LoopKernelId = std::uint32_t;  ///< index into Function::kernels
inline constexpr std::uint32_t none = ~0u;

/// A variable or a constant of the module's pool.
struct Operand {
  std::uint32_t index = none;
  bool is_constant = false;
  static Operand variable(VarId id) { return {id, false}; }
  static Operand constant(std::uint32_t id) { return {id, true}; }
  bool operator==(const Operand&) const = default;
};

}  // namespace raddle::ir
