#pragma once
// Where the futures of a run that has come to rest belong: the variables of its frames, and the calls that were to set
// them.
#include <cstdint>
#include <optional>
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
  /// What a stuck variable should have got from a function whose activation is over: the function's output is what was
  /// not set. Goes down through calls as long as it is clear which one it was.
  void follow_calls(Home home, StuckVariable& stuck) const;

 private:
  /// A call whose `result`-th output is a variable.
  struct Producer {
    std::uint32_t instruction = no_id;
    std::uint32_t result = 0;
  };
  std::optional<Producer> producer_of(Home home) const;

  const Run& run_;
  const Program& program_;
  std::vector<Frame*> frames_;
};

}  // namespace raddle::vm
