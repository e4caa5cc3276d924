// The gate's protocol in every order that there is: each state that workers can come to is visited, once. A lost
// wake-up shows as a state without a next step in which a task lies about and somebody sleeps. No more workers are
// woken than tasks have been made.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vm/schedule/idle_gate.hpp"

namespace raddle::vm {
namespace {

using Tasks = std::uint8_t;  // a bit for each

/// A task makes its children ready, then ends when all that it awaits have begun: so it holds its worker as long as a
/// task may, and others have to run those.
struct Job {
  std::vector<unsigned> children;
  Tasks awaited = 0;
  bool moves_children = false;  ///< from the worker's own queue to the shared one, as the queue tree does
};

/// The protocol with a rule left out: the checker must find that.
enum class Fault : std::uint8_t { none, no_second_look, silent_moves, leaves_with_promise, wakes_all };

struct Scenario {
  unsigned workers;
  std::vector<Job> jobs;
  std::vector<unsigned> injected;  ///< from outside, by somebody who holds the run until then
  unsigned remaining_workers = 0;  ///< not 0: somebody takes the others away meanwhile
  Fault fault = Fault::none;
};

enum class At : std::uint8_t {
  choose,
  look,
  announce,
  look_again,
  cancel,
  sleep,
  waiting,  // a worker between tasks
  push,
  move,
  publish,
  look_for_sleepers,
  promise,
  signal,
  await,  // in a task, and whoever is outside
  release,
  shrink,
  tell_all,
  retire,
  ended,
};

struct Actor {
  At at = At::ended;
  std::uint8_t queue = 0;     // the next to look into
  std::uint8_t task = 0;      // runs this
  std::uint8_t child = 0;     // the next to be made ready
  Tasks carried = 0;          // on their way to the shared queue
  std::uint8_t wake_ups = 0;  // to be made by one that leaves
  bool is_leaving = false;
  bool is_signalled = false;  // by the condition variable
};

constexpr unsigned most_workers = 3;

struct State {
  explicit State(unsigned workers) : steps(workers), wanted(workers) {}
  IdleSteps<unsigned> steps;
  unsigned wanted;
  std::array<Tasks, 1 + most_workers> queues{};  // the shared one, then each worker's own
  std::array<Actor, most_workers + 2> actors;    // the workers, who injects, who takes workers away
  Tasks begun = 0;
  std::uint8_t made = 0, woken = 0;  // tasks, and workers for them

  std::string key() const {
    std::string text;
    const auto add = [&](auto... values) { (text.push_back(static_cast<char>(values)), ...); };
    add(steps.workers, steps.unpromised, steps.promises, steps.asleep, steps.holds, steps.over, wanted, begun, made,
        woken);
    for (const Tasks queue : queues) add(queue);
    for (const Actor& a : actors)
      add(a.at, a.queue, a.task, a.child, a.carried, a.wake_ups, a.is_leaving, a.is_signalled);
    return text;
  }
};

/// A section under the gate's mutex is one step: only announce() may fall into it, and what that adds to a number that
/// the section has read already might as well be added afterwards.
class Model {
 public:
  explicit Model(const Scenario& scenario) : scenario_(scenario) {}

  /// @return what can go wrong, "" if nothing can
  std::string check() {
    State first(scenario_.workers);
    for (unsigned w = 0; w < scenario_.workers; ++w) first.actors[w].at = At::choose;
    first.steps.holds = 1;
    first.actors[injector].at = At::push;
    if (scenario_.remaining_workers != 0) first.actors[injector + 1].at = At::shrink;
    reach(first);
    while (!open_.empty()) {
      const State state = open_.back();
      open_.pop_back();
      has_next_ = false;
      for (unsigned a = 0; a < state.actors.size(); ++a) step(state, a);
      if (!has_next_ && !ends_well(state)) return fault_of(state);
      if (state.woken > state.made && scenario_.remaining_workers == 0) return "more get up than there are tasks";
    }
    return "";
  }
  std::size_t state_count() const { return seen_.size(); }

 private:
  static constexpr unsigned injector = most_workers;

  void reach(const State& state) {
    has_next_ = true;
    if (seen_.insert(state.key()).second) open_.push_back(state);
  }
  bool ends_well(const State& state) const {
    for (const Actor& actor : state.actors)
      if (actor.at != At::ended) return false;
    return state.steps.over && state.begun == (1u << scenario_.jobs.size()) - 1;
  }
  static std::string fault_of(const State& state) {
    for (const Tasks queue : state.queues)
      if (queue != 0) return state.steps.over ? "the run ends with a task left" : "a task lies there and nobody comes";
    return "the end is not found";
  }

  void step(const State& before, unsigned self) {
    State state = before;
    Actor& actor = state.actors[self];
    switch (actor.at) {
      case At::choose:
        actor.queue = 0;
        if (self >= state.wanted)
          leave(state, self);
        else if (!take(state, self, 1 + self))
          actor.at = At::look;
        return reach(state);
      case At::look:
        if (!take(state, self, actor.queue) && ++actor.queue > scenario_.workers) actor.at = At::announce;
        return reach(state);
      case At::announce:
        state.steps.announce();
        actor.queue = 0;
        actor.at = scenario_.fault == Fault::no_second_look ? At::sleep : At::look_again;
        return reach(state);
      case At::look_again:
        if (state.queues[actor.queue] != 0 || (actor.queue == 0 && self >= state.wanted))
          actor.at = At::cancel;
        else if (++actor.queue > scenario_.workers)
          actor.at = At::sleep;
        return reach(state);
      case At::cancel:
        state.steps.cancel();
        actor.at = At::choose;
        return reach(state);
      case At::sleep:
        if (!state.steps.may_get_up()) {
          state.steps.fall_asleep(state.queues[0] == 0);
          if (state.steps.over) signal_all(state);
          actor.at = At::waiting;
          if (!state.steps.may_get_up()) return reach(state);
          state.steps.get_up();
        }
        return depart(state, self);
      case At::waiting:
        if (!std::exchange(actor.is_signalled, false)) return;
        if (!state.steps.may_get_up()) return reach(state);
        state.steps.get_up();
        return depart(state, self);
      case At::push:
        if (actor.child == made_ready(actor, self).size()) {
          actor.at = self == injector ? At::release : At::await;
          return reach(state);
        }
        add(state.queues[self == injector ? 0 : 1 + self], made_ready(actor, self)[actor.child++]);
        ++state.made;
        actor.at = self != injector && scenario_.jobs[actor.task].moves_children ? At::move : At::look_for_sleepers;
        return reach(state);
      case At::move:
        actor.carried = std::exchange(state.queues[1 + self], Tasks{0});
        actor.at = At::publish;
        return reach(state);
      case At::publish:
        state.queues[0] |= std::exchange(actor.carried, Tasks{0});
        actor.at = scenario_.fault == Fault::silent_moves ? At::push : At::look_for_sleepers;
        return reach(state);
      case At::look_for_sleepers:
        actor.at = state.steps.someone_announced() ? At::promise : after_push(actor);
        return reach(state);
      case At::promise:
        if (!state.steps.promise()) {
          actor.at = after_push(actor);
          return reach(state);
        }
        ++state.woken;
        if (scenario_.fault == Fault::wakes_all)
          while (state.steps.promise()) ++state.woken;
        actor.at = At::signal;
        return reach(state);
      case At::signal: actor.at = after_push(actor); return signal_one(state);
      case At::await:
        if ((state.begun & scenario_.jobs[actor.task].awaited) != scenario_.jobs[actor.task].awaited) return;
        actor.at = At::choose;
        return reach(state);
      case At::release:
        --state.steps.holds;
        actor.at = At::ended;
        return end_if_quiescent(state);
      case At::retire:
        --state.steps.workers;
        actor.at = At::ended;
        return end_if_quiescent(state);
      case At::shrink:
        state.wanted = scenario_.remaining_workers;
        actor.at = At::tell_all;
        return reach(state);
      case At::tell_all:
        state.steps.promise_all();
        signal_all(state);
        actor.at = At::ended;
        return reach(state);
      case At::ended: return;
    }
  }

  const std::vector<unsigned>& made_ready(const Actor& actor, unsigned self) const {
    return self == injector ? scenario_.injected : scenario_.jobs[actor.task].children;
  }
  static At after_push(Actor& actor) {
    if (!actor.is_leaving) return At::push;
    return --actor.wake_ups > 0 ? At::look_for_sleepers : At::retire;
  }
  static void add(Tasks& queue, unsigned task) { queue = static_cast<Tasks>(queue | 1u << task); }

  bool take(State& state, unsigned self, unsigned from) const {
    Tasks& queue = state.queues[from];
    if (queue == 0) return false;
    Actor& actor = state.actors[self];
    actor.task = static_cast<std::uint8_t>(__builtin_ctz(queue));
    actor.child = 0;
    actor.at = At::push;
    queue = static_cast<Tasks>(queue & (queue - 1));
    add(state.begun, actor.task);
    return true;
  }
  /// What is left goes to the shared queue.
  void leave(State& state, unsigned self) const {
    Actor& actor = state.actors[self];
    actor.carried = std::exchange(state.queues[1 + self], Tasks{0});
    actor.wake_ups = static_cast<std::uint8_t>(__builtin_popcount(actor.carried));
    if (scenario_.fault != Fault::leaves_with_promise) ++actor.wake_ups;
    actor.at = actor.wake_ups != 0 ? At::publish : At::retire;
    actor.is_leaving = true;
  }
  void depart(State& state, unsigned self) {
    state.actors[self].at = state.steps.depart() ? At::choose : At::ended;
    reach(state);
  }
  void end_if_quiescent(State& state) {
    state.steps.end_if_quiescent(state.queues[0] == 0);
    if (state.steps.over) signal_all(state);
    reach(state);
  }
  static void signal_all(State& state) {
    for (Actor& actor : state.actors)
      if (actor.at == At::waiting) actor.is_signalled = true;
  }
  /// The condition variable wakes whom it likes.
  void signal_one(const State& state) {
    bool is_any_waiting = false;
    for (unsigned a = 0; a < scenario_.workers; ++a) {
      if (state.actors[a].at != At::waiting || state.actors[a].is_signalled) continue;
      is_any_waiting = true;
      State next = state;
      next.actors[a].is_signalled = true;
      reach(next);
    }
    if (!is_any_waiting) reach(state);
  }

  const Scenario scenario_;
  std::vector<State> open_;
  std::unordered_set<std::string> seen_;
  bool has_next_ = false;
};

void check_all_orders(const Scenario& scenario) {
  Model model(scenario);
  CHECK(model.check() == "");
  MESSAGE(model.state_count(), " states");
}
std::string fault_found(Scenario scenario, Fault fault) {
  scenario.fault = fault;
  return Model(scenario).check();
}

/// Task 0 makes 1 and 2 ready and waits until both have begun, which wait for each other: all three workers are needed.
const Scenario meeting{.workers = 3, .jobs = {{{1, 2}, 0b110}, {{}, 0b100}, {{}, 0b010}}, .injected = {0}};

TEST_CASE("every order: tasks from outside are run, then the end is found") {
  check_all_orders({.workers = 1, .jobs = {{}, {}, {}}, .injected = {0, 1, 2}});
  check_all_orders({.workers = 2, .jobs = {{}, {}, {}}, .injected = {0, 1, 2}});
  check_all_orders({.workers = 3, .jobs = {{}, {}}, .injected = {0, 1}});
}

TEST_CASE("every order: a task that awaits others gets workers for each of them") {
  check_all_orders({.workers = 2, .jobs = {{{1}, 0b10}, {}}, .injected = {0}});
  check_all_orders(meeting);
  check_all_orders({.workers = 3, .jobs = {{{}, 0b110}, {{2}, 0b101}, {}}, .injected = {0, 1}});
}

TEST_CASE("every order: tasks that move to another queue are seen by those that fall asleep meanwhile") {
  check_all_orders({.workers = 2, .jobs = {{{1, 2}, 0b110, true}, {}, {}}, .injected = {0}});
  check_all_orders({.workers = 3, .jobs = {{{1, 2}, 0b110, true}, {{}, 0b100}, {{}, 0b010}}, .injected = {0}});
}

TEST_CASE("every order: workers that leave hand over what they had") {
  check_all_orders({.workers = 2, .jobs = {{{1}}, {{2}}, {}}, .injected = {0}, .remaining_workers = 1});
  check_all_orders({.workers = 3, .jobs = {{}}, .injected = {0}, .remaining_workers = 1});
  check_all_orders({.workers = 3, .jobs = {{}}, .injected = {0}, .remaining_workers = 2});
}

TEST_CASE("the checker finds what is wrong with a protocol that leaves a rule out") {
  CHECK(fault_found(meeting, Fault::no_second_look) == "a task lies there and nobody comes");
  Scenario moving = meeting;
  moving.jobs[0].moves_children = true;
  CHECK(fault_found(moving, Fault::silent_moves) == "a task lies there and nobody comes");
  CHECK(fault_found(meeting, Fault::wakes_all) == "more get up than there are tasks");
  const Scenario leaving{.workers = 2, .jobs = {{}}, .injected = {0}, .remaining_workers = 1};
  CHECK(fault_found(leaving, Fault::none) == "");
  CHECK(fault_found(leaving, Fault::leaves_with_promise) == "a task lies there and nobody comes");
}

}  // namespace
}  // namespace raddle::vm
