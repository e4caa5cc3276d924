#pragma once
// Inside of kernels_to_llvm: a kernel for many points side by side.
//
// Note [lanes]. A value is one scalar if it is the same for all points, else some vectors, a lane for each point
// (LaneValue). What is taken by some lanes only is run under a mask: `if` runs both arms, and jumps around one that is
// not cheap if no lane takes it; `loop` runs until no lane is live. In lanes that are not live values mean nothing:
// they are selected away where paths join. What fails is a mask that is kept beside the values: nothing stops, so that
// operations get inputs for which they can not be computed; none of them traps or is undefined then.
// In a loop that lanes leave at different times, a variable that is the same for all that are still in it, such as what
// counts its rounds, is one scalar; what each lane has left with is kept beside it, if it is read behind the loop.
// A mask has for each lane as many bits as its numbers have, all of them equal, where processors compare vectors like
// that: a mask of single bits that goes through a loop would be packed and unpacked in each round.
// What reads elements that follow each other is there twice (Note [elements that follow each other] in
// lane_elements.cpp).
// Several vectors are computed side by side, as one operation needs the result of the one before it, and processors
// begin an operation in each cycle or two, but take some cycles for it.
// Source: Pharr, Mark, "ispc: A SPMD compiler for high-performance CPU programming" (InPar 2012).
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/operation_emitter.hpp"

namespace raddle::codegen {

/// How many lanes.
struct LaneShape {
  unsigned vector_size = 1;   ///< lanes of a vector
  unsigned vector_count = 1;  ///< side by side
  unsigned mask_bits = 1;     ///< of a lane in a mask: 1 where the processor has registers for masks
  unsigned lanes() const { return vector_size * vector_count; }
};

using LaneParts = llvm::SmallVector<llvm::Value*, 4>;

struct LaneValue {
  LaneParts parts;                ///< one scalar, or as many vectors as the shape has; of an array its address
  llvm::Value* length = nullptr;  ///< of an array
  /// Of an int that grows as the launch's points do: how far it is from them. Null: it may be any.
  llvm::Value* distance = nullptr;
  llvm::Value* follows = nullptr;  ///< whether it does, which depends on the lanes; null: if the points do

  bool exists() const { return !parts.empty(); }
  bool is_uniform() const { return exists() && !parts.front()->getType()->isVectorTy(); }
};

/// Which lanes, by vectors: those whose bits are all 1. Of `LaneShape::mask_bits` bits each.
using LaneMask = LaneParts;

/// Emits a kernel, with all that it calls inlined, into a function that is being built.
class LaneEmitter final : public OperationEmitter {
 public:
  /// @param entry    where to begin
  /// @param worker   a raddle_leaf_worker
  /// @param stopped  where to go if the run is to end
  /// @param first    the point of the first lane
  /// @param counts   an i1: each lane's point is greater by 1 than that of the one before it
  LaneEmitter(ModuleEmitter& module, LaneShape shape, llvm::BasicBlock* entry, llvm::Value* worker,
              llvm::BasicBlock* stopped, llvm::Value* first, llvm::Value* counts)
      : OperationEmitter(entry, shape.mask_bits == 1),  // AVX-512 has both
        module_(module),
        shape_(shape),
        worker_(worker),
        stopped_(stopped),
        first_(first),
        counts_(counts) {}

  /// @return  of each output the value
  std::vector<LaneValue> emit(vm::KernelId kernel, std::vector<LaneValue> arguments);
  /// The lanes that have failed, one i1 vector for each vector; empty: none can.
  LaneParts failed() { return conditions(failed_); }
  llvm::IRBuilder<>& builder() { return builder_; }
  LaneParts vectors(const LaneValue& value);

 private:
  struct Frame {
    const vm::Kernel& kernel;
    std::vector<LaneValue> values;  ///< by register
  };
  /// What has been computed on one of the ways into a join.
  struct Path {
    llvm::BasicBlock* end = nullptr;
    std::vector<LaneValue> values;
    LaneMask failed;
  };

  void fail_if(llvm::Value* failed, std::int32_t status, const vm::Place& place) override;

  void emit_block(Frame& frame, vm::KernelBlockId block);
  void emit_instruction(Frame& frame, const vm::KernelInstruction& instruction);
  LaneValue compute(Frame& frame, const vm::KernelInstruction& instruction);
  static bool may_wrap(const LaneValue& number, const LaneValue& divisor);
  LaneValue emit_wrapped(Frame& frame, const vm::KernelInstruction& instruction);
  llvm::Value* wrapped_once(llvm::Value* number, llvm::Value* divisor);
  llvm::Value* wraps_once(llvm::Value* divisor);
  void find_distance(const vm::KernelInstruction& instruction, const Frame& frame, LaneValue& value);
  void emit_if(Frame& frame, const vm::KernelInstruction& instruction);
  Path emit_path(Frame& frame, vm::KernelBlockId block, std::span<const vm::KernelRegister> results);
  Path emit_arm(Frame& frame, vm::KernelBlockId block, std::span<const vm::KernelRegister> results);
  bool is_worth_jump(const vm::Kernel& kernel, vm::KernelBlockId block) const;
  void emit_loop(Frame& frame, const vm::KernelInstruction& instruction);
  std::set<vm::KernelRegister> varying_in(const Frame& frame, const vm::KernelLoop& loop) const;
  llvm::Value* goes_on(const Frame& frame, const vm::KernelLoop& loop, bool is_uniform);
  LaneParts after_rounds(llvm::Value* initial, std::int64_t step, const LaneParts& rounds);
  void check_interrupt();
  void emit_call(Frame& frame, const vm::KernelInstruction& instruction);

  // --- lane_elements.cpp
  struct Window;
  struct Windows;
  Path emit_versions(Frame& frame, vm::KernelBlockId block, std::span<const vm::KernelRegister> results);
  Windows find_windows(const Frame& frame, vm::KernelBlockId block);
  using Blocks = std::span<const vm::KernelBlockId>;
  enum class Foreseen : std::uint8_t { distance, lanes };
  bool foresee(Frame& frame, Blocks blocks, vm::KernelRegister id, Foreseen what);
  bool foresee_result(Frame& frame, Blocks blocks, const vm::KernelInstruction& maker, Foreseen what);
  bool foresee_joined(Frame& frame, Blocks blocks, const vm::KernelInstruction& branches, vm::KernelRegister id,
                      Foreseen what);
  llvm::Value* are_inside(const Windows& windows);
  LaneValue emit_get(Frame& frame, const vm::KernelInstruction& instruction);
  llvm::Value* load_uniform(const LaneValue& array, const LaneValue& index, llvm::Type* stored);
  llvm::Value* get_uniform(const LaneValue& array, const LaneValue& index, llvm::Type* stored, const vm::Place& place);
  llvm::Value* follows(const LaneValue& index);
  llvm::Value* address_of(const LaneValue& array, const LaneValue& index, llvm::Type* stored, std::size_t part);
  LaneParts load_following(const LaneValue& array, const LaneValue& index, llvm::Type* stored);
  LaneParts wanted(const LaneValue& array, const LaneValue& index, const vm::Place& place);
  LaneParts gather(const LaneValue& array, const LaneValue& index, llvm::Type* stored, const LaneParts& wanted);
  LaneParts either_way(llvm::Value* condition, const std::function<LaneParts()>& one,
                       const std::function<LaneParts()>& other);
  LaneParts get_following(const LaneValue& array, const LaneValue& index, llvm::Type* stored, const vm::Place& place);
  LaneParts get_any(const LaneValue& array, const LaneValue& index, llvm::Type* stored, const vm::Place& place);

  // --- lane_values.cpp
  Path join(const Path& one, const Path& other);
  llvm::Value* phi(llvm::Value* one, llvm::BasicBlock* from_one, llvm::Value* other, llvm::BasicBlock* from_other);
  LaneValue select(const LaneParts& condition, const LaneValue& one, const LaneValue& other);
  void join_distances(const LaneParts& condition, const LaneValue& one, const LaneValue& other, LaneValue& joined);
  LaneValue constant(vm::KernelType type, std::int64_t bits);
  LaneValue zero_like(const LaneValue& value);
  /// In vectors that are made at the end of a block.
  LaneParts vectors_in(const LaneValue& value, llvm::BasicBlock* block);

  LaneMask mask(const LaneParts& conditions);
  llvm::Value* mask(llvm::Value* condition) { return builder_.CreateSExt(condition, mask_type()); }
  LaneParts conditions(const LaneMask& mask);
  llvm::Value* condition(llvm::Value* mask);
  LaneMask both(const LaneMask& mask, const LaneMask& other);
  LaneMask either(const LaneMask& mask, const LaneMask& other);
  LaneMask without(const LaneMask& mask, const LaneMask& others);
  llvm::Value* any(const LaneMask& mask);
  llvm::Value* all(const LaneMask& mask);
  LaneMask lanes(bool value) {
    return LaneMask(shape_.vector_count,
                    value ? llvm::Constant::getAllOnesValue(mask_type()) : llvm::Constant::getNullValue(mask_type()));
  }
  llvm::Type* mask_type() {
    return llvm::FixedVectorType::get(builder_.getIntNTy(shape_.mask_bits), shape_.vector_size);
  }
  llvm::BasicBlock* block(const char* name);

  ModuleEmitter& module_;
  const LaneShape shape_;
  llvm::Value* worker_;
  llvm::BasicBlock* stopped_;
  llvm::Value *first_, *counts_;
  LaneMask live_;                                ///< empty: all
  LaneMask failed_;                              ///< empty: none
  std::size_t part_ = 0;                         ///< the vector that fail_if() is about
  bool is_foreseeing_ = false;                   ///< nothing fails: it is computed once more
  unsigned may_foresee_ = 0;                     ///< so many registers of a block
  bool is_any_ = false;                          ///< in the version for lanes of which some read elsewhere
  std::set<const vm::KernelInstruction*> sure_;  ///< whose elements are all there, and follow each other if they differ
};

}  // namespace raddle::codegen
