#pragma once
// Output files of programs that have not succeeded yet: what is half-written must not be taken for a result.
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace raddle::vm {

/// Any thread.
class PartialOutputs {
 public:
  /// A program that makes these files is about to start.
  void begin(const std::vector<std::string>& paths);
  /// It has succeeded, or its files have been removed.
  void end(const std::vector<std::string>& paths);
  /// Removes the files of all that have begun and not ended.
  void remove_all();

 private:
  std::mutex mutex_;
  std::unordered_multiset<std::string> paths_;  // guarded by mutex_
};

void remove_files(const std::vector<std::string>& paths);

}  // namespace raddle::vm
