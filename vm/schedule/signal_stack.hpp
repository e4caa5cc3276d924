#pragma once
// A stack for handlers of signals: one that tells of a stack that is full needs another.
#include <cstddef>

namespace raddle::vm {

/// Of the thread that makes it, as long as it is there; none if the thread has one.
class SignalStack {
 public:
  SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

 private:
  void* memory_ = nullptr;
};

}  // namespace raddle::vm
