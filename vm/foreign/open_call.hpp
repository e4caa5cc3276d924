#pragma once
// Calls of code outside of the script while they last, for what such code does to the process.
//
// Note [exits]. C may end the process: the run would be over without its results, as a success if the code is 0. So the
// tool has functions of its own in the place of `exit`, `_exit`, `_Exit`, `quick_exit` and `pthread_exit`, which shared
// libraries find first. Called by code of the script's they fail the call, by a jump to where it began: frames of C are
// left as they are, as `exit` leaves them. Where no call began that can fail, in machine code of leaf functions
// and in threads that C has started, the run ends as by a crash (crash_notice.hpp). Calls by anybody else, and those in
// forked processes, are what they are.
#include <setjmp.h>

#include <optional>
#include <string>
#include <string_view>

#include "vm/program/program.hpp"

namespace raddle::vm {

/// Of the thread that has made it.
class OpenCall {
 public:
  explicit OpenCall(const ForeignFunction& function);
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  ~OpenCall();
  /// The innermost one; null: none.
  static OpenCall* of_thread();

  const ForeignFunction& function() const { return function_; }
  /// Where a call goes on that leaves.
  jmp_buf& start() {
    can_leave_ = true;
    return start_;
  }
  bool can_leave() const { return can_leave_; }
  /// @param called  "exit(0)"
  [[noreturn]] void leave(std::string called);
  /// What is wrong with the call that has left.
  std::string error() const;

 private:
  const ForeignFunction& function_;
  OpenCall* const around_;
  bool can_leave_ = false;
  jmp_buf start_;
  std::string left_by_;
};

/// @return what `code` returns, or the error of a call that has left by `exit`
template <typename Code>
std::string call_that_may_leave(const ForeignFunction& function, const Code& code) {
  OpenCall open(function);
  if (setjmp(open.start()) != 0) return open.error();
  return code();
}

/// Functions that a thread may be in without an open call. As long as it is there.
class KnownFunction {
 public:
  explicit KnownFunction(const ForeignFunction& function);
  KnownFunction(const KnownFunction&) = delete;
  KnownFunction& operator=(const KnownFunction&) = delete;
  ~KnownFunction();

 private:
  const ForeignFunction& function_;
};

/// Whose code a thread runs.
struct RunningCode {
  const ForeignFunction* function = nullptr;
  bool is_certain = false;  ///< else it is another function of its library, or a thread that this has started
};
/// Allocates nothing. @return nullopt: of nobody that is known
std::optional<RunningCode> running_code();

/// From here on calls of them by code of the script's are seen.
void watch_exits();

}  // namespace raddle::vm
