#pragma once
// What programs print to the standard streams that the run gives them: it goes through the run, which passes it on at
// once and keeps its end. One tap serves program after program. The loop's thread only.
#include <expected>
#include <list>
#include <memory>
#include <vector>

#include "vm/external/event_loop.hpp"
#include "vm/external/processes.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

class OutputTap {
 public:
  struct Close {
    void operator()(OutputTap* tap) const { tap->close(); }
  };
  using Pointer = std::unique_ptr<OutputTap, Close>;
  /// A pipe, or a pseudo-terminal where programs are to find a terminal and the system has one left.
  /// @param sink  outlives it   @error  an errno
  static std::expected<Pointer, int> open(uv_loop_t& loop, const OutputSink& sink);

  int program_end() const { return program_end_.get(); }
  /// A program is about to print to it.
  void begin();
  /// The program has ended. @return all that it has printed
  PrintedText end();
  /// What others have open is still passed on, until they have closed it: no program follows.
  void leave() { program_end_ = FileDescriptor(); }
  bool is_closed() const { return !our_end_; }  ///< nothing comes any more

 private:
  OutputTap(uv_loop_t& loop, const OutputSink& sink, FileDescriptor ours, FileDescriptor programs);
  void read_some();
  void stop();
  void close();

  const OutputSink& sink_;
  FileDescriptor our_end_, program_end_;
  uv_poll_t watch_{};
  PrintedText printed_;
};

/// The taps of all slots, made when they are first needed.
class OutputTaps {
 public:
  OutputTaps(EventLoop& loop, ProgramOutputs outputs) : loop_(loop), outputs_(std::move(outputs)) {}
  /// What a program is given; -1: no tap.
  struct Ends {
    int out = -1, error = -1;
  };
  /// A program is about to start. @error  an errno
  std::expected<Ends, int> begin(unsigned slot, const ProcessRequest& request);
  /// It has ended: fills `out` and `error`.
  void end(unsigned slot, const Ends& ends, ProcessResult& result);
  /// No program runs any more, and none will.
  void close();

 private:
  struct Slot {
    OutputTap::Pointer out, error;
  };
  std::expected<int, int> begin(OutputTap::Pointer& tap, const OutputSink& sink);

  EventLoop& loop_;
  const ProgramOutputs outputs_;
  std::vector<Slot> slots_;             // from slot 1
  std::list<OutputTap::Pointer> left_;  // of programs that have ended, and that others have open
};

}  // namespace raddle::vm
