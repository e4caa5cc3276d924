#include "vm/external/tap_loop.hpp"

#include <system_error>
#include <utility>

namespace raddle::vm {

TapLoop::~TapLoop() {
  if (loop_.has_begun()) loop_.post([this] { left_.clear(); });
}

bool TapLoop::begin() {
  try {
    loop_.begin();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

bool TapLoop::watch(ProgramTaps& taps) {
  if (!begin()) return false;
  loop_.post([this, &taps] { taps.watch(*loop_.loop()); });
  return true;
}

void TapLoop::end(std::unique_ptr<ProgramTaps> taps, ProcessResult result,
                  std::move_only_function<void(ProcessResult)> then) {
  loop_.post([this, taps = std::move(taps), result = std::move(result), then = std::move(then)]() mutable {
    taps->end(result, left_);
    left_.remove_if([](const OutputTap::Pointer& tap) { return tap->has_ended(); });
    then(std::move(result));
  });
}

void TapLoop::end_unwatched(std::unique_ptr<ProgramTaps> taps, ProcessResult& result) {
  std::list<OutputTap::Pointer> open;
  taps->end(result, open);
  if (open.empty() || !begin()) return;
  loop_.post([this, open = std::move(open)]() mutable {
    for (const OutputTap::Pointer& tap : open) tap->watch(*loop_.loop());
    left_.splice(left_.end(), open);
  });
}

}  // namespace raddle::vm
