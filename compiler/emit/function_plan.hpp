#pragma once
// What emit knows of one function before it writes code: bodies, regions as lists of steps, who assigns and reads
// each variable, which arrays each step may write.
#include <cstdint>
#include <set>
#include <vector>

#include "compiler/ir/module.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

using PlanId = std::uint32_t;  ///< index into FunctionPlan::regions

struct Awaited {
  ir::VarId variable;
  vm::AwaitMode mode;
  bool operator==(const Awaited&) const = default;
};

enum class StepKind : std::uint8_t {
  op,
  loop_test,  ///< end of an iteration: decides, enters the body of a `for`, makes the next iteration
  run_app,    ///< end of an app function: runs the program; or code outside of the script
};

struct Step {
  StepKind kind = StepKind::op;
  const ir::Op* op = nullptr;  ///< loop_test: the loop; run_app: nullptr
  std::vector<Awaited> awaited;
  std::vector<ir::VarId> passed;  ///< read without being awaited
  std::vector<ir::VarId> results;
  bool synchronous = false;     ///< its results are there once it has run
  bool alone = false;           ///< starts at once: never shares a strand
  std::vector<PlanId> regions;  ///< in the order of op->regions
  // of all regions inside, as far as declared outside of them
  std::set<ir::VarId> nested_reads, nested_assigned;
  std::set<ir::VarId> written;  ///< arrays and bags (not rows) this step may write: it holds one writer of each
};

struct StepRef {
  PlanId region;
  std::uint32_t step;
};

/// Filled by partition_strands.
struct StrandPlan {
  std::vector<std::uint32_t> steps;
  std::vector<Awaited> awaited;
};

struct RegionPlan {
  std::uint32_t body = 0;
  PlanId parent = ir::none;
  std::uint32_t parent_step = 0;
  std::vector<Step> steps;
  std::vector<StrandPlan> strands;
  std::vector<std::uint32_t> strand_of;  ///< by step
  std::set<ir::VarId> declared;
};

struct BodyPlan {
  std::uint32_t parent = ir::none;
  PlanId region = 0;
  std::vector<ir::VarId> slots;    ///< futures; parameters first
  std::vector<ir::VarId> outputs;  ///< function bodies only
};

struct VariablePlan {
  std::uint32_t body = 0;
  std::uint32_t slot = 0;
  bool is_output = false;
  PlanId region = 0;          ///< where it is declared
  ir::VarId root = ir::none;  ///< rows: the array they lie in; others: themselves
  std::vector<StepRef> assigned_by, read_by;
  bool is_private = false;  ///< set by partition_strands: nobody can be waiting for it when it is set
};

struct FunctionPlan {
  const ir::Module* module = nullptr;
  const ir::Function* function = nullptr;
  std::vector<RegionPlan> regions;  ///< regions[0]: the function's body
  std::vector<BodyPlan> bodies;     ///< bodies[0]: the function
  std::vector<VariablePlan> variables;
};

FunctionPlan plan_function(const ir::Module& module, const ir::Function& function);

/// @return the type of a variable with named types resolved
TypeKind kind_of(const ir::Module& module, const ir::Function& function, ir::Operand operand);

/// How many steps of the region may write `root`.
std::uint32_t writer_count(const RegionPlan& region, ir::VarId root);

}  // namespace raddle::emit
