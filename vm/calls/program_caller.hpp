#pragma once
// Calls that leave the script: external programs, C, Tcl, Python and R; and the files that calls write.
//
// Files: apps.cpp programs; foreign_calls.cpp functions of shared libraries, AppKernels; app_kernel_calls.cpp those
// AppKernels that devices run; served_calls.cpp functions in Python, R and Tcl; files.cpp files.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vm/calls/written_files.hpp"
#include "vm/foreign/server_exchange.hpp"
#include "vm/interpret/frame.hpp"
#include "vm/interpret/run_worker.hpp"
#include "vm/program/program.hpp"
#include "vm/value/file.hpp"

namespace raddle::vm {

class AppKernelCall;
class ProgramRun;
class ServedCall;
class ServerPool;

class ProgramCaller : WorkerService {
 public:
  explicit ProgramCaller(RunWorker& here) : WorkerService(here) {}

  // --- apps.cpp
  /// @return false if the instruction failed; so do the others
  bool run_app(Frame& frame, const Instruction& in);
  /// Entered from its task: an attempt has ended.
  void finish_program(ProgramRun* finished);
  /// As soon as no other run writes the outputs that it writes in their places.
  void start_when_alone(ProgramRun& program);
  /// The program, or function outside of the script, does not run or has failed: its results fail.
  void fail_program(Frame& frame, const AppSite& site, const Value& failure);

  // --- foreign_calls.cpp
  bool run_foreign(Frame& frame, const Instruction& in);
  /// Functions of numbers and strings need no frame of their own if these are there.
  /// @return false: it is to be called as composite functions are
  bool call_foreign(Frame& frame, const CallSite& site, std::uint32_t instruction);

  // --- app_kernel_calls.cpp
  /// A device may make a call of that foreign function now, or as soon as it is known whether it can.
  bool goes_to_device(std::uint32_t foreign);
  void begin_app_kernel_call(Frame& frame, const Instruction& in);
  /// Hands it over; once it has been made, sets what it has given, or makes it here.
  void go_on(AppKernelCall& call);

  // --- served_calls.cpp
  /// @return false if it can not be made
  bool begin_served_call(Frame& frame, const Instruction& in);
  /// Sets what it has given.
  void finish_served_call(ServedCall* ended);

  // --- files.cpp
  /// Before anything is written or emptied. @return the failure if the call must not write its outputs
  Value begin_outputs(Frame& frame, const Instruction& in, WrittenFiles::How how, std::vector<std::string>& begun);
  /// The same before a call that has written its files when it returns.
  Value begin_outputs_at_once(Frame& frame, const Instruction& in) {
    std::vector<std::string> begun;
    return begin_outputs(frame, in, WrittenFiles::How::at_once, begun);
  }
  /// The call does not write them after all: another one may.
  void give_up_outputs(Frame& frame, const Instruction& in, const std::vector<std::string>& begun);
  bool file_new(Frame& frame, const Instruction& in);
  bool file_assign(Frame& frame, const Instruction& in);

 private:
  std::int32_t own_rank() const { return static_cast<std::int32_t>(worker_->index()); }
  bool run_foreign_here(Frame& frame, const Instruction& in);
  std::string prepare(ProgramRun& program);
  void start_program(ProgramRun& program);
  /// Another run writes its outputs: it is looked at once more in a moment. @return false: nobody could wake it
  bool wait_for_others(ProgramRun& program);
  bool is_recorded() const;
  std::string call_on_worker(std::uint32_t foreign, std::span<const Value> inputs, std::span<Value> outputs);
  void set_foreign_outputs(Frame& frame, const Instruction& in, std::span<Value> outputs);
  bool submit(AppKernelCall& call);
  void read_in_whole_arrays(AppKernelCall& call);
  Value output_for(ServedCall& call, Operand output);
  std::string place_outputs(ServedCall& call);
  ServerPool& servers_for(const ForeignFunction& function) const;
  void fail_served_call(Frame& frame, std::uint32_t instruction, ServerExchange::Problem problem);
  void set_app_outputs(const ProgramRun& program);

  struct FileUse {
    std::vector<File*> outputs;  ///< that are mapped
    std::vector<Value> inputs;   ///< if there are such outputs
  };
  FileUse file_use(Frame& frame, const Instruction& in);
  std::uint64_t series_of(const Frame& frame, std::uint32_t levels) const;
  Value begin_writing(Frame& frame, std::uint32_t instruction, const std::vector<WrittenFiles::Output>& outputs,
                      WrittenFiles::How how, std::vector<std::string>& begun);
  Value fill_file(Frame& frame, const Instruction& in, File& target, File& from);

  std::vector<Value> arguments_;  ///< of the function in C being called
};

}  // namespace raddle::vm
