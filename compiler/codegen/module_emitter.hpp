#pragma once
// Inside of kernels_to_llvm: what all parts share, which functions there are.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/kernel_facts.hpp"
#include "compiler/codegen/kernels_to_llvm.hpp"
#include "compiler/codegen/shared_windows.hpp"

namespace raddle::codegen {

/// Fields of the Context: see Note [inner functions] in kernels_to_llvm.cpp.
enum ContextField : unsigned { context_failure, context_worker };

/// Windows of a kernel, whose parts and rest are kernels of the group, too.
struct EmittedWindows {
  SharedWindows shared;
  std::vector<vm::KernelId> parts;
  vm::KernelId rest = vm::no_kernel_part;
};

/// Emits functions into one LLVM module, and knows what types and other functions are there.
class ModuleEmitter {
 public:
  /// @param windows      of kernels whose neighbouring points share something
  /// @param row_windows  of those whose rows do
  ModuleEmitter(const vm::KernelGroup& group, const GenerationOptions& options, llvm::Module& out,
                std::map<vm::KernelId, EmittedWindows> windows = {},
                std::map<vm::KernelId, EmittedWindows> row_windows = {})
      : group(group),
        facts(group),
        out(out),
        llvm_context(out.getContext()),
        options_(options),
        windows_(std::move(windows)),
        row_windows_(std::move(row_windows)) {}

  /// The inner function; emits it, and all it calls, if it is new.
  llvm::Function* inner(vm::KernelId kernel, unsigned level = 0);
  void emit_pending();
  void emit_exported(vm::KernelId kernel, vm::KernelEntry entry);
  /// The constant raddle_leaf_fork_site of forked calls of `kernel`.
  llvm::Constant* fork_site(vm::KernelId kernel);
  /// The constant raddle_leaf_reduction.
  llvm::Constant* reduction(const vm::KernelReduction& reduction);
  /// Whether a call may take so long that it is forked: Note [forks] in vm/program/leaf_abi.hpp.
  bool is_worth_forking(vm::KernelId kernel) const { return facts.is_heavy(kernel); }
  /// Into how many levels calls of itself are unrolled; 1: not at all. See Note [levels] in kernels_to_llvm.cpp.
  unsigned levels(vm::KernelId kernel) const;

  /// Of a scalar: i64, double, i1. Of an array: ptr.
  llvm::Type* type(vm::KernelType type) const;
  /// Of a number, or of an array's elements, in memory: a boolean is a byte there.
  llvm::Type* stored_type(vm::KernelType type) const;
  llvm::StructType* context_type() const {
    llvm::Type* pointer = llvm::PointerType::get(llvm_context, 0);
    return llvm::StructType::get(llvm_context, {pointer, pointer});
  }
  /// Of a raddle_leaf_worker; read anew each time, as another thread may change it, to end the run.
  static llvm::Value* stack_limit(llvm::IRBuilder<>& builder, llvm::Value* worker);
  static llvm::Value* is_interrupted(llvm::IRBuilder<>& builder, llvm::Value* worker);

  bool is_for_device() const { return options_.for_device; }
  bool has_worker() const { return options_.has_worker; }
  /// What one thread of a device does: Note [ranges] in vm/program/leaf_abi.hpp. Internal. Parameters: the Context
  /// (null without a worker), the thread's number, how many there are, then the words, typed. Returns what results[0]
  /// becomes.
  /// @param reads  see vm::KernelEntry
  llvm::Function* range(vm::KernelId kernel, std::size_t reads);

  /// Note [past the cache] in vm/program/leaf_abi.hpp.
  bool can_go_past_cache(vm::KernelId kernel) const;
  llvm::Function* copier_past_cache();

  const vm::KernelGroup& group;
  const GroupFacts facts;
  llvm::Module& out;
  llvm::LLVMContext& llvm_context;

 private:
  llvm::Value* make_context(llvm::IRBuilder<>& builder, llvm::Function* function);
  void emit_call(vm::KernelId kernel, llvm::Function* function);
  void emit_points(vm::KernelId kernel, vm::KernelEntry entry, llvm::Function* function);
  void emit_lanes(vm::KernelId kernel, llvm::Function* function);
  void emit_range(vm::KernelId kernel, std::size_t reads, llvm::Function* function);
  unsigned vector_count(vm::KernelId kernel) const;
  bool suits_lanes(vm::KernelId kernel) const;
  llvm::Constant* make_global(const std::string& name, llvm::Constant* value);
  llvm::Function* make_entry(const std::string& name, llvm::GlobalValue::LinkageTypes linkage);

  const GenerationOptions options_;
  const std::map<vm::KernelId, EmittedWindows> windows_, row_windows_;
  llvm::Function* copier_past_cache_ = nullptr;  ///< once it is needed
  using Level = std::pair<vm::KernelId, unsigned>;
  std::map<Level, llvm::Function*> inners_;
  std::map<vm::KernelId, llvm::Constant*> fork_sites_;
  std::map<vm::KernelId, llvm::Function*> reduced_;  ///< points of kernels whose numbers are reduced
  std::vector<Level> pending_;                       ///< declared, body not yet emitted
};

/// Emits the body of `target`, which is module.inner(kernel, level).
void emit_function(ModuleEmitter& module, vm::KernelId kernel, unsigned level, llvm::Function* target);

}  // namespace raddle::codegen
