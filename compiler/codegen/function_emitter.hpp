#pragma once
// Inside of kernels_to_llvm: the body of one inner function, for one call. Its registers become stack slots, its blocks
// structured control flow. Files: function_to_llvm.cpp the function, its registers and control flow; calls_to_llvm.cpp
// calls, forked ones too; own_arrays_to_llvm.cpp arrays of its own; reductions_to_llvm.cpp reductions,
// device_reductions_to_llvm.cpp those on devices;
// operation_emitter.cpp what operations mean.
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/operation_emitter.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {

/// What a register of a kernel is in LLVM: one word, or for an array address and length.
struct LeafValue {
  llvm::Value* word = nullptr;
  llvm::Value* length = nullptr;
};

/// A call that was forked; the record as leaf_abi.hpp has it.
struct Fork {
  const vm::KernelInstruction* instruction;
  llvm::Value* record;
  llvm::StructType* type;      ///< the record with its words
  std::uint64_t result_index;  ///< of the first result among the words
};
/// Of the record that a forked call is.
enum RecordField : unsigned { record_older, record_newer, record_site, record_task, record_words };

/// Emits the body of one inner function.
class FunctionEmitter final : public OperationEmitter {
 public:
  FunctionEmitter(ModuleEmitter& module, vm::KernelId kernel, unsigned level, llvm::Function* target)
      : OperationEmitter(llvm::BasicBlock::Create(module.llvm_context, "entry", target)),
        module_(module),
        id_(kernel),
        level_(level),
        kernel_(module.group[kernel]),
        target_(target) {}
  void emit();

 private:
  using Instructions = std::span<const vm::KernelInstruction>;

  void declare_registers();
  void check_stack();
  void check_interrupt(const vm::Place& place);
  void emit_block(vm::KernelBlockId block, bool is_tail);
  void emit_instruction(const vm::KernelInstruction& instruction, bool is_tail);
  void emit_get(const vm::KernelInstruction& instruction);
  void emit_call(const vm::KernelInstruction& instruction, bool is_tail);
  void emit_foreign_call(const vm::KernelInstruction& instruction);
  void append_words(vm::KernelRegister id, std::vector<llvm::Value*>& words);
  void emit_reduction(const vm::KernelInstruction& instruction);
  /// Around a loop over few numbers: from where it is entered, where it begins, where to go if it is not for it, where
  /// it ends.
  struct FewBlocks {
    llvm::BasicBlock *before, *head, *many, *end;
  };
  std::pair<llvm::Value*, llvm::BasicBlock*> reduce_few(const vm::KernelReduction& reduction, llvm::Value* count,
                                                        const FewBlocks& blocks);
  llvm::Value* reduce_by_vm(const vm::KernelInstruction& instruction);
  llvm::Value* memory_for(llvm::Type* type, std::uint64_t count = 1);
  void repeat(llvm::Value* count, const std::function<void(llvm::Value*)>& body);
  void emit_if_true(llvm::Value* condition, const std::function<void()>& body);
  llvm::Value* number_at(const vm::KernelReduction& reduction, llvm::Value* point, const vm::Place& place);
  void reduce_here(const vm::KernelInstruction& instruction);
  llvm::Value* reduce_floats(const vm::KernelInstruction& instruction, llvm::Value* count, bool adds);
  llvm::Value* reduce_ints(const vm::KernelInstruction& instruction, llvm::Value* count, bool adds);
  llvm::CallInst* make_call(const vm::KernelInstruction& instruction, bool unrolls);
  void check_call(llvm::Value* status, const vm::Place& place, std::span<const Fork> outstanding = {});
  std::size_t calls_at_once(Instructions instructions);
  void emit_calls_at_once(Instructions calls);
  Fork fork(const vm::KernelInstruction& instruction);
  void share_if_wanted();
  llvm::Value* ask_for_outcome(const Fork& fork, llvm::Value* failure);
  llvm::Value* word_address(const Fork& fork, std::uint64_t index);
  llvm::Value* worker();
  llvm::Value* worker_field(std::size_t offset);
  void join(const Fork& fork, std::span<const Fork> outstanding);
  bool has_tail_call(vm::KernelBlockId block) const;
  void emit_if(const vm::KernelInstruction& instruction, bool is_tail);
  void emit_loop(const vm::KernelInstruction& instruction);
  void emit_new(const vm::KernelInstruction& instruction);
  llvm::Value* take_room(llvm::Value* bytes, const vm::Place& place);
  void note_rooms();
  void leave_rooms();
  void emit_first(const vm::KernelInstruction& instruction);
  void emit_put(const vm::KernelInstruction& instruction);
  llvm::Value* element_address(const vm::KernelInstruction& instruction, llvm::Type* stored);
  void emit_each(const vm::KernelInstruction& instruction);
  void check_indices(const vm::KernelInstruction& each);
  void check_index(const vm::KernelInstruction& access);
  void find_sure_indices(vm::KernelBlockId block);
  bool is_affine(vm::KernelRegister id) const;
  /// Of an affine register the value where points are what `corner` says, and whether it overflows there.
  struct CornerValue {
    llvm::Value *value, *overflows;
  };
  CornerValue value_at(vm::KernelRegister id, const std::map<vm::KernelRegister, llvm::Value*>& corner);
  void find_points(vm::KernelRegister id, std::set<vm::KernelRegister>& points) const;
  bool may_defer(const vm::KernelInstruction& instruction) const;
  llvm::Value* reduce_in_place(const vm::KernelReduction& reduction, std::int64_t count);
  void add_compensated(llvm::Value* term, llvm::Value*& sum, llvm::Value*& lost);
  llvm::Value* further_one(vm::KernelReducer reducer, llvm::Value* all, llvm::Value* term);

  LeafValue read(vm::KernelRegister id);
  llvm::Value* word(vm::KernelRegister id) { return read(id).word; }
  void assign(vm::KernelRegister id, LeafValue value);
  void fail_if(llvm::Value* failed, std::int32_t status, const vm::Place& place) override {
    fail_if(failed, status, place, {});
  }
  void fail_if(llvm::Value* failed, std::int32_t status, const vm::Place& place, std::span<llvm::Value* const> detail);
  void note_failure(const vm::Place& place, std::span<llvm::Value* const> detail);
  void store_place(llvm::Value* address, const vm::Place& place);
  void note_call(const vm::Place& place);
  void emit_return(llvm::Value* status, std::span<llvm::Value* const> results);
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.llvm_context, name, target_); }
  bool returns_as(const vm::KernelInstruction& call) const;

  ModuleEmitter& module_;
  const vm::KernelId id_;
  const unsigned level_;
  const vm::Kernel& kernel_;
  llvm::Function* target_;
  llvm::Value* rooms_ = nullptr;  ///< raddle_leaf_worker::rooms to be left; null: none are taken
  // of the `each` around what is emitted, the outermost one
  llvm::Value* deferred_ = nullptr;  ///< where it is noted that something has failed; null: there is no `each`
  bool defers_ = false;              ///< what fails now is told behind it
  std::map<vm::KernelRegister, const vm::KernelInstruction*>
      made_in_each_;                                     ///< by what instruction of it, outside of branches
  std::map<vm::KernelRegister, llvm::Value*> points_;    ///< its points: how many each has
  std::vector<vm::KernelRegister> around_;               ///< those around what is looked at
  std::set<const vm::KernelInstruction*> sure_indices_;  ///< accesses that have been checked before it
  bool may_fork_ = false;         ///< a record on the stack would keep tail calls from being jumps
  std::vector<LeafValue> slots_;  ///< allocas, by register; SROA turns them into SSA values
};

}  // namespace raddle::codegen
