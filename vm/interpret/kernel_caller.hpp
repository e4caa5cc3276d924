#pragma once
// Calls of leaf functions: by machine code or in registers, now or when arguments, code or a worker are there.
#include <cstdint>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/interpret/run_worker.hpp"
#include "vm/kernel/scalar_machine.hpp"
#include "vm/program/leaf_abi.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

class LeafCall;
class TaskTrace;

class KernelCaller : WorkerService {
 public:
  explicit KernelCaller(RunWorker& here);

  /// @return false: to be interpreted, without waiting for anything
  bool call_leaf(Frame& frame, const CallSite& site, std::uint32_t instruction);
  /// By its priority, as soon as its inputs are there, and its code if it waits for that.
  /// @return false: to be called as composite functions are
  bool queue_leaf(Frame& frame, const CallSite& site, std::uint32_t instruction, std::int32_t priority);
  /// Entered from its task.
  void run_leaf_call(LeafCall* call);
  /// A device makes the call, or it is not known yet whether one does. Its arguments are there.
  /// @return false: it is the workers'
  bool hand_over(LeafCall& call);
  /// Calls of a leaf without loops are interpreted until there have been many.
  bool waits_for_code_of(const Function& leaf) const;
  /// Asks for code once there have been many.
  void count_calls(FunctionId leaf, std::uint32_t count);
  ScalarMachine& scalar_machine() { return scalar_machine_; }

 private:
  bool call_in_registers(Frame& frame, const CallSite& site, std::uint32_t instruction, std::int64_t most_ns = 0);
  /// @return false if the call has to be interpreted
  bool call_native(Frame& frame, const CallSite& site, std::uint32_t instruction, raddle_leaf_function code);
  bool is_measured(FunctionId leaf);
  void note_call(FunctionId leaf, std::int64_t spent_ns);
  bool submit(LeafCall& call);
  void end_light(LeafCall& call);
  bool take_results(LeafCall& call);
  void set_leaf_results(Frame& frame, const CallSite& site, std::uint32_t instruction, const std::int64_t* words);
  void trace_leaf(TaskTrace& trace, std::int64_t start_ns, const Function& function, std::uint32_t instruction) const;
  void fail_native(Frame& frame, const CallSite& site, std::uint32_t instruction, std::int32_t status,
                   const raddle_leaf_failure& failure);

  ScalarMachine scalar_machine_;
  /// Calls of a leaf.
  struct Unmeasured {
    std::int64_t count = 0, most = 0;
  };
  std::vector<Unmeasured> unmeasured_;  ///< by FunctionId, if devices make single calls
};

}  // namespace raddle::vm
