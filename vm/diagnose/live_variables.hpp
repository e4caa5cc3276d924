#pragma once
// Where the futures of a run that has come to rest belong: the variables of its frames, and the calls that were to set
// them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vm/interpret/run.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

class Frame;
class Future;
class Run;

/// A variable of a body, live or not.
struct Home {
  BodyId body = no_id;
  std::uint32_t slot = 0;
};

/// What a future is to a variable.
struct Holder {
  Home home;
  bool is_element = false;  ///< in an element of the array that the variable is
  std::string field = {};   ///< of the structure there: "x", "inner.x"; "": no field
};

/// @pre no worker runs
class LiveVariables {
 public:
  explicit LiveVariables(const Run& run);
  /// Each frame of the run, in any order; then end_adding(), before anything is asked.
  void add(Frame& frame) { frames_.push_back(&frame); }
  void end_adding();
  /// By address.
  const std::vector<Frame*>& frames() const { return frames_; }

  BodyId body_of(const Frame& frame) const;
  const VariableInfo& variable_at(Home home) const { return program_.bodies[home.body].variables[home.slot]; }
  /// Nothing if the future is no variable of a frame and no result of the run.
  std::optional<Home> home_of(const Future& future) const;
  /// Null if the future is no variable of a frame.
  Frame* frame_of(const Future& future) const;
  /// Where a strand reads a variable.
  Place place_of_use(const Strand& strand, Operand variable) const;
  /// Where a strand of a called function should produce a variable of the caller: the call.
  /// @param place  in the strand, if it is one of the frame that has the variable
  Place place_outside(const Frame& strand, Place place, const Future& product) const;
  /// The assignments that were skipped of what is stuck. Without one: it should have come from a function whose
  /// activation is over, and that function's output is what was not set. Goes down through calls as long as it is clear
  /// which one it was.
  void follow_calls(Holder holder, StuckVariable& stuck) const;

 private:
  std::vector<GuardedAssignment> guarded_assignments(const Holder& holder) const;
  /// A call whose `result`-th output is a variable, or the element of one.
  struct Producer {
    std::uint32_t instruction = no_id;
    std::uint32_t result = 0;
  };
  Home home_of(Operand variable, BodyId body) const;
  std::optional<Producer> producer_of(const Holder& holder) const;

  const Run& run_;
  const Program& program_;
  std::vector<Frame*> frames_;
};

}  // namespace raddle::vm
