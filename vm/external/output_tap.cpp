#include "vm/external/output_tap.hpp"

#include <algorithm>

namespace raddle::vm {

std::expected<OutputTap::Pointer, int> OutputTap::open(uv_loop_t& loop, const OutputSink& sink) {
  std::expected<OutputPipe, int> pipe = OutputPipe::open(sink);
  if (!pipe) return std::unexpected(pipe.error());
  return Pointer(new OutputTap(loop, std::move(*pipe)));
}

OutputTap::OutputTap(uv_loop_t& loop, OutputPipe pipe) : pipe_(std::move(pipe)) {
  uv_poll_init(&loop, &watch_, pipe_.our_end());
  watch_.data = this;
  uv_poll_start(&watch_, UV_READABLE, [](uv_poll_t* watch, int, int) {
    auto& tap = *static_cast<OutputTap*>(watch->data);
    if (!tap.pipe_.read_some()) tap.stop();
  });
}

void OutputTap::stop() {
  if (is_stopped_) return;
  is_stopped_ = true;
  uv_poll_stop(&watch_);
  pipe_.close_our_end();
}

void OutputTap::close() {
  stop();
  uv_close(reinterpret_cast<uv_handle_t*>(&watch_),
           [](uv_handle_t* handle) { delete static_cast<OutputTap*>(handle->data); });
}

std::expected<int, int> OutputTaps::begin(OutputTap::Pointer& tap, const OutputSink& sink) {
  if (!sink.take) return -1;
  if (!tap) {
    std::expected<OutputTap::Pointer, int> made = OutputTap::open(*loop_.loop(), sink);
    if (!made) return std::unexpected(made.error());
    tap = std::move(*made);
  }
  tap->pipe().begin();
  return tap->pipe().program_end();
}

std::expected<OutputTaps::Ends, int> OutputTaps::begin(unsigned slot, const ProcessRequest& request) {
  slots_.resize(std::max<std::size_t>(slots_.size(), slot));
  auto& [out, error] = slots_[slot - 1];
  Ends ends;
  if (request.stdout_fd < 0 && request.stdout_path.empty()) {
    const std::expected<int, int> end = begin(out, outputs_.out);
    if (!end) return std::unexpected(end.error());
    ends.out = *end;
  }
  if (request.stderr_fd >= 0 || !request.stderr_path.empty()) return ends;
  const std::expected<int, int> end = outputs_.are_one ? begin(out, outputs_.out) : begin(error, outputs_.error);
  if (!end) return std::unexpected(end.error());
  ends.error = *end;
  return ends;
}

// What a program has left behind may go on to print: the next one gets taps of its own.
void OutputTaps::end(unsigned slot, const Ends& ends, ProcessResult& result) {
  if (ends.out < 0 && ends.error < 0) return;
  auto& [out, error] = slots_[slot - 1];
  if (ends.out >= 0) result.out = out->pipe().end();
  if (ends.error >= 0 && !outputs_.are_one) result.error = error->pipe().end();
  if (ends.error >= 0 && ends.out < 0 && outputs_.are_one) result.error = out->pipe().end();
  if (!result.leaves_others) return;
  left_.remove_if([](const OutputTap::Pointer& tap) { return tap->is_stopped(); });
  for (OutputTap::Pointer* tap : {&out, &error}) {
    if (!*tap) continue;
    (*tap)->pipe().close_program_end();
    left_.push_back(std::move(*tap));
  }
}

void OutputTaps::close() {
  slots_.clear();
  left_.clear();
}

}  // namespace raddle::vm
