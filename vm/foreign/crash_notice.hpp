#pragma once
// Code outside of the script that ends the process, as that is one: before, it is told whose code it was and where the
// script has it, and what the run has done is kept.
#include <cstddef>
#include <functional>

#include "vm/foreign/open_call.hpp"
#include "vm/value/failure.hpp"

namespace raddle::vm {

/// From the first call on, which is due before code outside of the script runs, faults and `abort` in it are told on
/// standard error; then the process ends as it would have. So are faults where a mapped file was cut short: it is due
/// before one is mapped, too; if nobody else listens, the process ends with code 1 then. Not told: other faults in
/// raddle's own code, and those in processes forked from this one. Any thread.
void tell_of_crashes();

/// Writes where a place is, as "a.df:3:1"; allocates nothing. @return how many characters that are
using PlaceWriter = std::size_t (*)(const Place& place, char* text, std::size_t size);
/// @param writer  of the scripts that run
void tell_places_by(PlaceWriter writer);

/// What is to be done before the process ends so, as long as it is there. One at a time.
class CrashKeeper {
 public:
  /// @param keep  called at most once, by a thread of its own; the process ends when it comes back, or after 3 s
  explicit CrashKeeper(std::function<void()> keep);
  CrashKeeper(const CrashKeeper&) = delete;
  CrashKeeper& operator=(const CrashKeeper&) = delete;
  ~CrashKeeper();
};

/// What can not be made an error of the call: tells it, keeps what has been done, ends the process with code 1.
[[noreturn]] void end_by_exit(const RunningCode& running, const char* name, int code);
/// Of an exception that nobody has caught; comes back if it is not from code outside of the script.
void end_by_foreign_exception(const char* text);

}  // namespace raddle::vm
