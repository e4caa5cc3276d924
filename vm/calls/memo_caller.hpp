#pragma once
// Calls of `@memo` functions: results that are kept are taken, others computed and kept. And what such calls, and who
// listens to the run, are told of files that are read.
//
// Files: memo.cpp the calls; noted_files.cpp files that are read.
#include <cstdint>
#include <string>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/interpret/run_worker.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

class CallRecord;
class MemoWait;
struct NamedFile;
struct PointKey;

class MemoCaller : WorkerService {
 public:
  explicit MemoCaller(RunWorker& here) : WorkerService(here) {}

  void memo(Frame& frame, const Instruction& in);
  void memo_keep(Frame& frame, const Instruction& in);
  /// The instruction, one of these two, does not run.
  void fail_memo(Frame& frame, const Instruction& in, const Value& failure);
  /// If it is a call of a `@memo` function that this frame is in.
  void tell_of_failed_memo(const Frame& frame, std::uint32_t instruction, const std::string& fault);
  /// Entered from its task.
  void look_again(MemoWait* waited);

  // --- files that are read
  /// Before a function of the library looks. Not of what this run has written.
  void note_reads(Frame& frame, const BuiltinSite& site);
  /// What a pattern has found. @param files  an array
  void note_found(const Frame& frame, const Value& files);
  /// Of a program. Its listener hears of the words as the program begins. Files that are values are known: they are
  /// inputs of the call, or made or named in it.
  void note_words(Frame& frame, const AppSite& site, const std::vector<std::string>& words);

 private:
  bool take_results(Frame& frame, const Instruction& in, CallRecord& record, const std::string& results);
  /// @param key  "": nothing will be kept
  void enter_miss(Frame& frame, const Instruction& in, std::string key);
  void end_memo(const PointKey& key);
  bool is_noting() const;
  /// In a call that is kept, and for who listens.
  void note_read(const Frame& frame, NamedFile file);
  void note_words(const Frame& frame, const std::vector<std::string>& words);
};

}  // namespace raddle::vm
