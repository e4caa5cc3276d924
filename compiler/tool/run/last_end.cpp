#include "compiler/tool/run/last_end.hpp"

#include <unistd.h>

#include <system_error>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/process/signals.hpp"

namespace raddle::tool {

void LastEnd::begin(int code) {
  const std::lock_guard lock(mutex_);
  if (is_over_ || task_) return;
  try {
    task_.emplace(longest_task_s, [this, code] {
      if (!cancel_.has_come_to_rest()) end(code);
    });
    last_.emplace(longest_ending_s, [this, code] { end(code); });
  } catch (const std::system_error&) {  // no thread: then at once
    end(code);
  }
}

void LastEnd::stop() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  task_.reset();
  last_.reset();
}

void LastEnd::end(int code) {
  if (is_ending_.exchange(true, std::memory_order_relaxed)) _exit(code);  // nobody takes what is written before
  if (code != exit_broken_pipe)                                           // nobody has asked for that end
    tell_at_once(cancel_.has_come_to_rest()
                     ? "raddle: what runs does not end: it is left alone\n"
                     : "raddle: a function in C, in Tcl or of the library does not come back: ended without it\n");
  cancel_.abandon();
  before_end_(code);
  _exit(code);
}

void LastEnd::prepare(int code) {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;  // who has run the script does it
  }
  if (is_ending_.exchange(true, std::memory_order_relaxed)) return;
  cancel_.abandon();
  before_end_(code);
}

}  // namespace raddle::tool
