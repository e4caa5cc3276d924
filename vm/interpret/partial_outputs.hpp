#pragma once
// Output files of programs that have not succeeded yet: what is half-written must not be taken for a result, and two
// programs that write one file at the same time leave a mixture of both.
#include <expected>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/value/failure.hpp"

namespace raddle::vm {

/// Any thread.
class PartialOutputs {
 public:
  struct Output {
    std::string path;  ///< as the program knows it
    CallPlace call;    ///< that its program runs for
  };
  struct Conflict {
    Output mine, other;  ///< one file, perhaps under two names
  };
  /// A program that makes these files is about to start. Devices, pipes and other files that are no regular ones may
  /// be written by any number of programs, and one program may have one file as several outputs.
  /// @return  what end() is to be given
  /// @error   a file that another program has begun and not ended; nothing has begun then
  std::expected<std::vector<std::string>, Conflict> begin(const std::vector<std::string>& paths, CallPlace call);
  /// It has succeeded, or its files have been removed.
  void end(const std::vector<std::string>& begun);
  /// Removes the files of all that have begun and not ended.
  void remove_all();

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, Output> outputs_;  ///< guarded by mutex_; by place_of(path)
};

void remove_files(const std::vector<std::string>& paths);

}  // namespace raddle::vm
