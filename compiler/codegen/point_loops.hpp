#pragma once
// Inside of points_to_llvm: loops around inner functions.
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/codegen/module_emitter.hpp"
#include "compiler/codegen/stretch.hpp"

namespace raddle::codegen {

/// Where the elements lie that points of a row read, and where their results go.
struct PointRow {
  std::vector<llvm::Value*> elements, results;
};

/// Emits loops around inner functions into `function`: what points do that are computed one by one.
class PointLoops {
 public:
  PointLoops(ModuleEmitter& module, const vm::Kernel& source, const Stretch& stretch, llvm::Value* context,
             llvm::Function* function, llvm::IRBuilder<>& builder)
      : module_(module),
        source_(source),
        stretch_(stretch),
        context_(context),
        function_(function),
        builder_(builder) {}

  /// Behind the point, the rows and what is read.
  std::vector<llvm::Value*> captures;

  /// All points of a row. @return how many have ended well
  llvm::Value* emit_whole(vm::KernelId kernel, const PointRow& row) {
    return emit({kernel, row.elements, row.results, builder_.getInt64(0)}, stretch_.count);
  }

  /// The same by parts of so many points, for which what they share is computed before.
  /// @param is_past_cache  results lie elsewhere first, and are copied past the cache then
  llvm::Value* emit_parts(const EmittedWindows& windows, const PointRow& row, bool is_past_cache);

  /// One row after the other. @param emit_row  returns how many of its points have ended well  @return the same of all
  llvm::Value* emit_rows(const StretchRows& rows, const std::function<llvm::Value*(const PointRow&)>& emit_row);

  /// Whether reads lie as their windows have them: Note [shared windows].
  llvm::Value* are_windows(const vm::KernelEntry& entry, const StretchRows& rows);

  /// Rows of which some need the same sums, which are kept in a ring. As many points of each row at a time as there is
  /// room for in the nearest cache.
  /// @param shared  what rows share. @param rest  what the points of its rest share
  /// @return how many points have ended well: those of whole rows
  llvm::Value* emit_ring(const EmittedWindows& shared, const EmittedWindows& rest, const vm::KernelEntry& entry,
                         const StretchRows& rows, bool can_go_past_cache);

  /// The same row, but that reads which follow others get their addresses from these: one register is enough then.
  PointRow following(const vm::KernelEntry& entry, PointRow row);
  /// Whether they lie so.
  llvm::Value* do_follow(const vm::KernelEntry& entry, const PointRow& row);

 private:
  static constexpr std::uint32_t points_at_once = 256;  ///< whose shared numbers stay in the nearest cache

  /// What one loop does.
  struct Loop {
    vm::KernelId kernel;
    const std::vector<llvm::Value*>&elements, results;
    llvm::Value* first;  ///< point of the stretch
  };

  static bool is_in(std::uint64_t bits, std::size_t read) { return read < 64 && (bits >> read & 1) != 0; }

  llvm::Type* type_of_read(std::size_t read) const {
    return module_.stored_type(source_.types[1 + source_.row_count + read]);
  }
  llvm::Value* next_element(std::size_t read, llvm::Value* before) {
    return builder_.CreateConstInBoundsGEP1_64(type_of_read(read), before, 1);
  }
  llvm::Value* count_from(llvm::Value* done);
  std::vector<llvm::Value*> rooms_of_parts(const EmittedWindows& windows);
  std::vector<llvm::Value*> rooms_of_results();

  /// From some point on.
  PointRow moved(const PointRow& row, llvm::Value* points);
  PointRow row_at(const StretchRows& rows, llvm::Value* number);

  /// Some points, for which what they share is computed before. @param numbers  room for that
  /// @param reads  where the elements lie that the first one reads. @param first  point of the stretch
  llvm::Value* emit_block(const EmittedWindows& windows, const std::vector<llvm::Value*>& numbers,
                          const std::vector<llvm::Value*>& reads, const std::vector<llvm::Value*>& results,
                          llvm::Value* first, llvm::Value* count);

  void copy_past_cache(const std::vector<llvm::Value*>& rooms, const std::vector<llvm::Value*>& results,
                       llvm::Value* made);

  /// @return  how many have ended well
  llvm::Value* emit(const Loop& loop, llvm::Value* count);

  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.llvm_context, name, function_); }
  llvm::Type* type_of_output(const vm::Kernel& kernel, std::size_t output) const {
    return module_.stored_type(kernel.types[kernel.outputs[output]]);
  }
  llvm::Value* room_for(llvm::Type* type, std::uint32_t numbers);

  ModuleEmitter& module_;
  const vm::Kernel& source_;
  const Stretch& stretch_;
  llvm::Value* context_;
  llvm::Function* function_;
  llvm::IRBuilder<>& builder_;
};

}  // namespace raddle::codegen
