// Note [Closing] in vm/value/array.hpp in every order that there is: two readers of one element, and the last writer,
// who inserts it or does not, then closes the array.
#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "vm/value/element_table.hpp"

namespace raddle::vm {
namespace {

/// The protocol with a rule left out: the checker must find that.
enum class Fault : std::uint8_t { none, no_second_look, count_after_mark };

enum class At : std::uint8_t {
  look,
  count,
  mark,
  uncount,
  look_for_close,
  look_again,  // readers
  insert,
  uncount_inserted,
  close,
  look_at_count,
  fail_awaited,  // the writer
  waits,
  missing,
  ended,
};

struct State {
  std::array<At, 3> at{At::look, At::look, At::insert};
  ElementMark mark = ElementMark::untouched;
  int awaited = 0;
  bool closing = false;
  bool has_failed = false;
  auto key() const { return std::tuple(at, mark, awaited, closing, has_failed); }
};

class Model {
 public:
  Model(bool inserts, Fault fault) : inserts_(inserts), fault_(fault) {}

  /// @return what can go wrong, "" if nothing can
  std::string check() {
    reach({});
    while (!open_.empty()) {
      const State state = open_.back();
      open_.pop_back();
      bool has_next = false;
      for (std::size_t self = 0; self < state.at.size(); ++self) {
        State next = state;
        if (!step(next, next.at[self])) continue;
        has_next = true;
        reach(next);
      }
      if (has_next) continue;
      for (const At reader : {state.at[0], state.at[1]}) {
        if (inserts_ && (reader == At::missing || state.has_failed)) return "an element that was inserted is missing";
        if (!inserts_ && reader == At::waits && !state.has_failed) return "a reader waits for ever";
      }
    }
    return "";
  }

 private:
  void reach(const State& state) {
    if (seen_.insert(state.key()).second) open_.push_back(state);
  }

  /// One atomic operation. @return false if there is none left
  bool step(State& s, At& at) const {
    const bool counts_first = fault_ != Fault::count_after_mark;
    switch (at) {
      case At::look:
        at = s.mark == ElementMark::inserted  ? At::waits
             : s.mark == ElementMark::awaited ? At::look_for_close
             : counts_first                   ? At::count
                                              : At::mark;
        return true;
      case At::count:
        ++s.awaited;
        at = counts_first ? At::mark : At::look_for_close;
        return true;
      case At::mark:
        if (s.mark == ElementMark::untouched) {
          s.mark = ElementMark::awaited;
          at = counts_first ? At::look_for_close : At::count;
        } else {
          at = counts_first ? At::uncount : At::look_for_close;
        }
        return true;
      case At::uncount:
        --s.awaited;
        at = s.mark == ElementMark::inserted ? At::waits : At::look_for_close;
        return true;
      case At::look_for_close:
        at = !s.closing ? At::waits : fault_ == Fault::no_second_look ? At::missing : At::look_again;
        return true;
      case At::look_again: at = s.mark == ElementMark::inserted ? At::waits : At::missing; return true;
      case At::insert:
        at = inserts_ && s.mark == ElementMark::awaited ? At::uncount_inserted : At::close;
        if (inserts_) s.mark = ElementMark::inserted;
        return true;
      case At::uncount_inserted:
        --s.awaited;
        at = At::close;
        return true;
      case At::close:
        s.closing = true;
        at = At::look_at_count;
        return true;
      case At::look_at_count: at = s.awaited == 0 ? At::ended : At::fail_awaited; return true;
      case At::fail_awaited:
        s.has_failed = s.mark == ElementMark::awaited;
        at = At::ended;
        return true;
      case At::waits:
      case At::missing:
      case At::ended: return false;
    }
    return false;
  }

  const bool inserts_;
  const Fault fault_;
  std::set<decltype(State().key())> seen_;
  std::vector<State> open_;
};

}  // namespace

TEST_CASE("in every order of steps readers get an element that was inserted, and are told of one that was not") {
  CHECK(Model(true, Fault::none).check() == "");
  CHECK(Model(false, Fault::none).check() == "");
}

TEST_CASE("the model finds what the rules of closing are for") {
  CHECK(Model(true, Fault::no_second_look).check() == "an element that was inserted is missing");
  CHECK(Model(false, Fault::count_after_mark).check() == "a reader waits for ever");
}

}  // namespace raddle::vm
