#pragma once
// Output pipes that an event loop watches, each used by one program after the other. The loop's thread only.
#include <expected>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "vm/external/event_loop.hpp"
#include "vm/external/output_pipe.hpp"
#include "vm/external/processes.hpp"

namespace raddle::vm {

class OutputTap {
 public:
  struct Close {
    void operator()(OutputTap* tap) const { tap->close(); }
  };
  using Pointer = std::unique_ptr<OutputTap, Close>;
  /// @param sink  outlives it   @error  an errno
  static std::expected<Pointer, int> open(uv_loop_t& loop, const OutputSink& sink);

  OutputPipe& pipe() { return pipe_; }
  /// Nothing comes any more.
  bool is_stopped() const { return is_stopped_; }

 private:
  OutputTap(uv_loop_t& loop, OutputPipe pipe);
  void stop();
  void close();

  OutputPipe pipe_;
  uv_poll_t watch_{};
  bool is_stopped_ = false;
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
