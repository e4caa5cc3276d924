#include "vm/external/output_tap.hpp"

#include <utility>

namespace raddle::vm {
namespace {

constexpr std::uint64_t pause_ms = 5;

}  // namespace

std::expected<OutputTap::Pointer, int> OutputTap::open(const OutputSink& sink) {
  std::expected<OutputPipe, int> pipe = OutputPipe::open(sink);
  if (!pipe) return std::unexpected(pipe.error());
  return Pointer(new OutputTap(std::move(*pipe)));
}

// A pipe that can not be watched is read when the program has ended.
void OutputTap::watch(uv_loop_t& loop) {
  if (uv_poll_init(&loop, &watch_, pipe_.our_end()) != 0) return;
  uv_timer_init(&loop, &later_);
  watch_.data = later_.data = this;
  open_handles_ = 2;
  look();
}

void OutputTap::look() {
  uv_poll_start(&watch_, UV_READABLE, [](uv_poll_t* watch, int, int) {
    auto& tap = *static_cast<OutputTap*>(watch->data);
    if (tap.pipe_.is_held_up()) return tap.pause();
    if (!tap.pipe_.read_some()) tap.finish();
  });
}

void OutputTap::pause() {
  uv_poll_stop(&watch_);
  uv_timer_start(
      &later_, [](uv_timer_t* timer) { static_cast<OutputTap*>(timer->data)->look(); }, pause_ms, 0);
}

void OutputTap::read_some() {
  if (!has_ended_ && !pipe_.is_held_up() && !pipe_.read_some()) finish();
}

PrintedText OutputTap::end() {
  const bool goes_on = !has_ended_ && pipe_.read_some();
  if (!goes_on) finish();
  return pipe_.take_printed();
}

// The descriptor is closed after the handles, which take it out of the loop: by then its number could be another's.
void OutputTap::finish() {
  if (std::exchange(has_ended_, true)) return;
  const auto closed = [](uv_handle_t* handle) {
    auto* tap = static_cast<OutputTap*>(handle->data);
    if (--tap->open_handles_ == 0 && tap->is_released_) delete tap;
  };
  for (uv_handle_t* const handle : {reinterpret_cast<uv_handle_t*>(&watch_), reinterpret_cast<uv_handle_t*>(&later_)})
    if (open_handles_ != 0) uv_close(handle, closed);
  pipe_.close_our_end();
}

void OutputTap::release() {
  is_released_ = true;
  finish();
  if (open_handles_ == 0) delete this;
}

std::expected<std::unique_ptr<ProgramTaps>, int> ProgramTaps::open(const ProgramOutputs& outputs,
                                                                   const ProcessRequest& request) {
  const OutputSink& error_sink = outputs.are_one ? outputs.out : outputs.error;
  const bool taps_out = outputs.out.take && request.stdout_fd < 0 && request.stdout_path.empty();
  const bool taps_error = error_sink.take && request.stderr_fd < 0 && request.stderr_path.empty();
  if (!taps_out && !taps_error) return nullptr;
  auto taps = std::make_unique<ProgramTaps>();
  taps->error_is_out_ = taps_out && taps_error && outputs.are_one;
  const auto open_into = [](OutputTap::Pointer& tap, const OutputSink& sink) {
    std::expected<OutputTap::Pointer, int> made = OutputTap::open(sink);
    if (made) tap = std::move(*made);
    return made ? 0 : made.error();
  };
  int error = taps_out ? open_into(taps->out_, outputs.out) : 0;
  if (error == 0 && taps_error && !taps->error_is_out_) error = open_into(taps->error_, error_sink);
  if (error != 0) return std::unexpected(error);
  return taps;
}

void ProgramTaps::close_program_ends() {
  for (const OutputTap::Pointer* tap : {&out_, &error_})
    if (*tap) (*tap)->pipe().close_program_end();
}

void ProgramTaps::watch(uv_loop_t& loop) {
  for (const OutputTap::Pointer* tap : {&out_, &error_})
    if (*tap) (*tap)->watch(loop);
}

void ProgramTaps::read_some() {
  for (const OutputTap::Pointer* tap : {&out_, &error_})
    if (*tap) (*tap)->read_some();
}

void ProgramTaps::end(ProcessResult& result, std::list<OutputTap::Pointer>& left) {
  if (out_) result.out = out_->end();
  if (error_) result.error = error_->end();
  for (OutputTap::Pointer* tap : {&out_, &error_})
    if (*tap && !(*tap)->has_ended()) left.push_back(std::move(*tap));
}

}  // namespace raddle::vm
