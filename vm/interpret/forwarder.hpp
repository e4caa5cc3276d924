#pragma once
// Carries a value from one future to another when it comes.
#include "vm/interpret/frame.hpp"

namespace raddle::vm {

/// Owns references to the frames and to the container, so that both futures live. Destroys itself when done.
class Forwarder final : public Cell, public Waiter {
 public:
  Forwarder(Future& source, Frame& source_frame, Future& target, Frame* target_frame, Value container,
            std::uint32_t instruction, Operand variable)
      : source(source),
        source_frame(source_frame),
        target(target),
        target_frame(target_frame),
        container(std::move(container)),
        instruction(instruction),
        variable(variable) {}
  void run(Worker&) override {}  // never queued
  void resolved(Worker& worker) override;

  Future& source;
  Frame& source_frame;  ///< where the operand stands that names the source
  Future& target;
  Frame* target_frame;  ///< null: the target lies in `container`
  const Value container;
  // for messages; those that pass parameters have none, as nobody else sets them
  const std::uint32_t instruction;
  const Operand variable;  ///< the target, seen from its frame; absent: it lies in `container`
};

/// Waits for an array element that somebody reads. Owns a reference to the frame.
class ElementWait final : public Cell, public Waiter {
 public:
  ElementWait(Frame& frame, std::uint32_t instruction, Future& element, Value array, Value key)
      : frame(frame), instruction(instruction), element(element), array(std::move(array)), key(std::move(key)) {}
  void run(Worker&) override {}  // never queued
  void resolved(Worker& worker) override;

  Frame& frame;
  const std::uint32_t instruction;
  Future& element;
  const Value array, key;
};

}  // namespace raddle::vm
