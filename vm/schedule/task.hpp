#pragma once
// What is scheduled.

namespace raddle::vm {

class Worker;

/// Something ready to run: exactly one owner at a time (a queue, or the worker that runs it).
class Task {
 public:
  /// Runs once; may delete the task.
  virtual void run(Worker& worker) = 0;
  Task* next = nullptr;  ///< for whoever owns the task

 protected:
  ~Task() = default;
};

}  // namespace raddle::vm
