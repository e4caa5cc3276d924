#pragma once
// What the queues cost on a simulated machine: nothing here.

namespace raddle::vm {

/// A stand-in for the meter of the simulated machines (tests/bench/scheduler): the queues tell it which shared cache
/// lines they touch, so that the same code runs here and there. This one vanishes when it is compiled.
struct NoMeter {
  struct Line {};
  void read(const Line&, unsigned /*worker*/) const {}
  void write(const Line&, unsigned /*worker*/) const {}
  void lock(const Line&, unsigned /*worker*/) const {}  ///< a mutex and what it guards
};

}  // namespace raddle::vm
