#pragma once
// An output pipe that an event loop watches. One thread at a time; from watch() on the loop's only.
#include <expected>
#include <list>
#include <memory>

#include "vm/external/event_loop.hpp"
#include "vm/external/output_pipe.hpp"

namespace raddle::vm {

class OutputTap {
 public:
  struct Release {
    void operator()(OutputTap* tap) const { tap->release(); }
  };
  using Pointer = std::unique_ptr<OutputTap, Release>;
  /// @param sink  outlives it   @error  an errno
  static std::expected<Pointer, int> open(const OutputSink& sink);
  /// What comes is passed on from now on; before, it waits in the pipe.
  void watch(uv_loop_t& loop);

  OutputPipe& pipe() { return pipe_; }
  /// The program has ended. @return what it has printed
  PrintedText end();
  /// Passes on what is there, while nobody watches it.
  void read_some();
  /// Nothing comes any more: nobody else has it open, or nobody reads it.
  bool has_ended() const { return has_ended_; }

 private:
  explicit OutputTap(OutputPipe pipe) : pipe_(std::move(pipe)) {}
  void look();
  void pause();
  void finish();
  void release();

  OutputPipe pipe_;
  uv_poll_t watch_{};
  uv_timer_t later_{};  ///< until the sink is asked again whether it has room
  int open_handles_ = 0;
  bool has_ended_ = false, is_released_ = false;
};

/// What one program prints to, as far as that is not redirected.
class ProgramTaps {
 public:
  /// @param outputs  outlives it   @return  null: all is redirected   @error  an errno
  static std::expected<std::unique_ptr<ProgramTaps>, int> open(const ProgramOutputs& outputs,
                                                               const ProcessRequest& request);

  /// For the program's streams; -1: no tap.
  int out_end() const { return out_ ? out_->pipe().program_end() : -1; }
  int error_end() const { return error_is_out_ ? out_end() : error_ ? error_->pipe().program_end() : -1; }
  /// The program has them.
  void close_program_ends();
  void watch(uv_loop_t& loop);
  /// Passes on what is there, while nobody watches them.
  void read_some();
  /// It has ended: fills `out` and `error`. @param left  gets those that others have open
  void end(ProcessResult& result, std::list<OutputTap::Pointer>& left);

 private:
  OutputTap::Pointer out_, error_;
  bool error_is_out_ = false;
};

}  // namespace raddle::vm
