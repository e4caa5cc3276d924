#pragma once
// Inside of leaf_to_llvm: what the two halves, functions as a whole and their operations, share.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/leaf_source.hpp"
#include "compiler/ir/heavy_leaves.hpp"
#include "compiler/opt/leaf_builtins.hpp"

namespace raddle::codegen {

/// Fields of the Context: see Note [inner functions] in leaf_to_llvm.cpp.
enum ContextField : unsigned { context_failure, context_worker };

/// Emits functions into one LLVM module, and knows what types and other functions are there.
class ModuleEmitter {
 public:
  ModuleEmitter(const LeafSource& source, llvm::Module& out)
      : source(source), out(out), llvm_context(out.getContext()), heavy_(*source.module) {}

  /// The inner function; emits it, and all it calls, if it is new.
  llvm::Function* inner(ir::FunctionId leaf, unsigned level = 0);
  void emit_pending();
  void emit_exported(ir::FunctionId leaf);
  /// The constant raddle_leaf_fork_site of forked calls of `leaf`.
  llvm::Constant* fork_site(ir::FunctionId leaf);
  /// Whether a call may take so long that it is forked: Note [forks] in vm/program/leaf_abi.hpp.
  bool is_worth_forking(ir::FunctionId leaf) { return heavy_.is_heavy(leaf); }
  bool is_recursive(ir::FunctionId leaf) const;  ///< can call itself, directly or through others
  /// Into how many levels calls of itself are unrolled; 1: not at all. See Note [levels] in leaf_to_llvm.cpp.
  unsigned levels(ir::FunctionId leaf) const;

  void refuse(std::string reason) {
    if (refusal.empty()) refusal = std::move(reason);
  }
  TypeKind kind(TypeId type) const { return ir_module().types->kind(ir_module().types->base(type)); }
  TypeKind element_kind(TypeId array) const {
    return kind(ir_module().types->at(ir_module().types->base(array)).element);
  }
  /// Of a scalar: i64, double, i1. Of an array: ptr.
  llvm::Type* type(TypeId id);
  llvm::StructType* context_type() {
    llvm::Type* pointer = llvm::PointerType::get(llvm_context, 0);
    return llvm::StructType::get(llvm_context, {pointer, pointer});
  }
  const ir::Module& ir_module() const { return *source.module; }
  /// Of a call_builtin of `function`; none: leaves can not call it.
  std::optional<LeafBuiltin> builtin_of(const ir::Function& function, const ir::Op& op) const;

  const LeafSource& source;
  llvm::Module& out;
  llvm::LLVMContext& llvm_context;
  std::string refusal;  ///< the first reason why `out` is of no use; empty: none

 private:
  /// Adds all functions that a call of `function` may call, at any depth.
  void find_callees(const ir::Function& function, std::set<ir::FunctionId>& found) const;
  std::set<ir::FunctionId> with_callees(ir::FunctionId leaf) const {
    std::set<ir::FunctionId> all = {leaf};
    find_callees(ir_module().functions.at(leaf), all);
    return all;
  }
  llvm::Value* make_context(llvm::IRBuilder<>& builder, llvm::Function* function);
  void emit_call(ir::FunctionId leaf, llvm::Function* function);
  void emit_batch(ir::FunctionId leaf, llvm::Function* function);
  struct Batch {
    std::vector<llvm::Value*> arguments;  ///< of the inner function; the loop variable is set by the loop
    std::vector<llvm::Value*> results;    ///< where they go
    llvm::Value* first = nullptr;
    llvm::Value* step = nullptr;
    llvm::Value* count = nullptr;
    bool is_narrow = false;  ///< the values of the loop variable fit 32 bits
  };
  void emit_narrow_batch(ir::FunctionId leaf, llvm::IRBuilder<>& builder, llvm::BasicBlock* wide, Batch batch);
  void emit_batch_loop(ir::FunctionId leaf, llvm::BasicBlock* entry, const Batch& batch);
  /// See Note [narrow batches] in batches_to_llvm.cpp.
  bool gains_from_narrow_ints(ir::FunctionId leaf) const;
  llvm::Function* make_entry(const std::string& name, llvm::GlobalValue::LinkageTypes linkage);
  using Level = std::pair<ir::FunctionId, unsigned>;
  std::map<Level, llvm::Function*> inners_;
  std::map<ir::FunctionId, llvm::Constant*> fork_sites_;
  ir::HeavyLeaves heavy_;
  std::vector<Level> pending_;  ///< declared, body not yet emitted
};

/// Emits the body of `target`, which is module.inner(leaf, level).
void emit_function(ModuleEmitter& module, ir::FunctionId leaf, unsigned level, llvm::Function* target);

}  // namespace raddle::codegen
