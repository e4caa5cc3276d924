#pragma once
// What a process prints to a standard stream that the run gives it: it goes through the run, which passes it on and
// keeps its end. One thread at a time.
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
  /// Whoever it goes to has no room for more now.
  bool is_held_up() const { return sink_->is_full && sink_->is_full(); }
  /// Passes on what is there: of a process that has ended all that it has printed.
  /// @return false: nothing comes any more, as nobody else has it open or nobody wants it
  bool read_some();
  /// All that has come since it was opened, or since the last call.
  PrintedText take_printed();
  /// Whoever is to print to it has it.
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
