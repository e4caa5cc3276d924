// What may fail: a frame that keeps failures from the run. See Note [attempts].
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"

namespace raddle::vm {

// Note [attempts]
//
// A frame with `is_attempt` is an attempt's body. Whatever is done in it, calls and loops too, is done in frames whose
// outer chains lead to it, and holds a reference to one of them as long as it may still do something. So when the last
// reference to the frame goes, all is done, and then its result, a boolean of the frame around, is set: false if
// something has failed. What fails looks for the nearest such frame around itself; if there is one, the run goes on,
// and what depends on the failed value fails with it, up to the end of the attempt. The compiler makes sure that no
// variable outside is assigned by what is inside but those that are read only if nothing has failed (Note [attempts] in
// compiler/lower/lower_try.cpp).
//
// A failure that came into the attempt with a value from outside is none of its own: it goes on to whatever reads what
// the attempt has made of it.

void Interpreter::attempt(Frame& frame, const Instruction& in) {
  const AttemptSite& site = program_.attempts[in.d];
  share_writers(frame, site.shares);
  Frame* const body = here_.make_frame(site.body, &frame, frame.stream);
  body->is_attempt = true;
  body->attempted_at = here_.index_of(in);
  body->followed_rank = here_.followed_rank;
  if (may_nest()) return activate(body);
  here_.push(*body, body->priority);
}

void RunWorker::end_attempt(Frame& frame) {
  const Instruction& in = program_.instructions[frame.attempted_at];
  // relaxed: whoever wrote it had a reference to the frame, and drop() has seen what they did before they gave it up
  set(frame.outer->at(in.a), Value::of(!frame.has_failed.load(std::memory_order_relaxed)));
}

}  // namespace raddle::vm
