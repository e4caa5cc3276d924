#pragma once
// Inside of leaf_to_llvm: the body of one inner function. Its variables become stack slots, its regions structured
// control flow. Files: function_to_llvm.cpp the function, its variables and control flow; operations_to_llvm.cpp
// arithmetic, arrays, library functions; calls_to_llvm.cpp calls, forked ones too.
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/opt/leaf_builtins.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {

/// What a variable or constant of a leaf is in LLVM: one word, or for an array address and length.
struct LeafValue {
  llvm::Value* word = nullptr;
  llvm::Value* length = nullptr;
};

/// A call that was forked; the record as leaf_abi.hpp has it.
struct Fork {
  const ir::Op* op;
  llvm::Value* record;
  llvm::StructType* type;      ///< the record with its words
  std::uint64_t result_index;  ///< of the first result among the words
};
/// Of the record that a forked call is.
enum RecordField : unsigned { record_older, record_newer, record_site, record_task, record_words };

/// Emits the body of one inner function.
class FunctionEmitter {
 public:
  FunctionEmitter(ModuleEmitter& module, ir::FunctionId leaf, unsigned level, llvm::Function* target)
      : module_(module),
        leaf_(leaf),
        level_(level),
        source_(module.ir_module().functions[leaf]),
        target_(target),
        builder_(module.llvm_context) {}
  void emit();

 private:
  void declare_variables();
  void check_stack();
  llvm::Value* stack_limit();
  void check_interrupt(Span span);
  void emit_region(ir::RegionId region, bool is_tail);
  void emit_op(const ir::Op& op, bool is_tail);
  void emit_arithmetic(const ir::Op& op);
  void emit_checked_int(const ir::Op& op, llvm::Intrinsic::ID intrinsic);
  void emit_fused(const ir::Op& op);
  void emit_division(const ir::Op& op);
  void emit_comparison(const ir::Op& op);
  void emit_array_get(const ir::Op& op);
  void emit_call(const ir::Op& op, bool is_tail);
  void emit_library_call(const ir::Op& op);
  llvm::CallInst* make_call(const ir::Op& op, bool unrolls);
  void check_call(llvm::Value* status, const ir::Op& op, std::span<const Fork> outstanding = {});
  std::size_t calls_at_once(std::span<const ir::Op> ops);
  void emit_calls_at_once(std::span<const ir::Op> calls);
  Fork fork(const ir::Op& op);
  void share_if_wanted();
  llvm::Value* ask_for_outcome(const Fork& fork, llvm::Value* failure);
  llvm::Value* word_address(const Fork& fork, std::uint64_t index);
  llvm::Value* worker();
  llvm::Value* worker_field(std::size_t offset);
  void join(const Fork& fork, std::span<const Fork> outstanding);
  bool has_tail_call(ir::RegionId region) const;
  void emit_builtin(const ir::Op& op);
  llvm::Value* builtin_value(LeafBuiltin builtin, const ir::Op& op);
  void emit_assertion(LeafBuiltin builtin, const ir::Op& op);
  llvm::Value* extreme(llvm::Value* left, llvm::Value* right, llvm::CmpInst::Predicate wins);
  llvm::Value* float_to_int(llvm::Value* number, Span span);
  llvm::Value* call_math(std::string_view name, std::vector<llvm::Value*> arguments);
  void emit_if(const ir::Op& op, bool is_tail);
  void emit_switch(const ir::Op& op, bool is_tail);
  void emit_loop(const ir::Op& op);
  bool is_brief(const ir::Op& loop) const;

  TypeKind kind(ir::Operand operand) const { return module_.kind(ir::type_of(module_.ir_module(), source_, operand)); }
  LeafValue read(ir::Operand operand);
  llvm::Value* word(ir::Operand operand) { return read(operand).word; }
  llvm::Value* condition(ir::Operand operand);
  void assign(ir::VarId variable, LeafValue value);
  void assign(const ir::Op& op, llvm::Value* value) { assign(op.results.at(0), LeafValue{value, nullptr}); }
  void fail_if(llvm::Value* failed, std::int32_t status, Span span, std::span<llvm::Value* const> detail = {});
  void store_place(llvm::Value* address, Span span);
  void note_call(Span span);
  void emit_return(llvm::Value* status, std::span<llvm::Value* const> results);
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.llvm_context, name, target_); }
  llvm::Value* int_constant(std::int64_t value) { return builder_.getInt64(static_cast<std::uint64_t>(value)); }
  bool returns_as(ir::FunctionId callee, const ir::Op& op) const;

  ModuleEmitter& module_;
  const ir::FunctionId leaf_;
  const unsigned level_;
  const ir::Function& source_;
  llvm::Function* target_;
  llvm::IRBuilder<> builder_;
  bool may_fork_ = false;         ///< a record on the stack would keep tail calls from being jumps
  std::vector<LeafValue> slots_;  ///< allocas, by VarId; SROA turns them into SSA values
};

}  // namespace raddle::codegen
