#pragma once
// What a process prints to a standard stream that the run gives it: it goes through the run, which passes it on and
// keeps its end. One thread.
#include <expected>
#include <utility>

#include "vm/external/processes.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

class OutputPipe {
 public:
  /// A pipe, or a pseudo-terminal where processes are to find a terminal and the system has one left.
  /// @param sink  outlives it   @error  an errno
  static std::expected<OutputPipe, int> open(const OutputSink& sink);

  int program_end() const { return program_end_.get(); }
  int our_end() const { return our_end_.get(); }  ///< to wait for what comes; -1: nothing comes any more
  /// A process is about to print to it.
  void begin();
  /// Passes on what is there. @return false: nothing comes any more
  bool read_some();
  /// What was printed since begin(), with what is there now: all that a process that has ended has printed.
  PrintedText end();
  /// No process is given it any more: what others have open is still passed on.
  void close_program_end() { program_end_ = FileDescriptor(); }
  /// Whoever writes to it from now on is told that nobody reads.
  void close_our_end() { our_end_ = FileDescriptor(); }

 private:
  OutputPipe(const OutputSink& sink, FileDescriptor ours, FileDescriptor programs)
      : sink_(&sink), our_end_(std::move(ours)), program_end_(std::move(programs)) {}

  const OutputSink* sink_;
  FileDescriptor our_end_, program_end_;
  PrintedText printed_;
};

}  // namespace raddle::vm
