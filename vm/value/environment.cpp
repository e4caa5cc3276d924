#include "vm/value/environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <mutex>

namespace raddle::vm {
namespace {

/// Held while the list is another one, and by who reads it as a whole.
std::mutex list_in_use;

std::vector<char*> entries() {
  std::vector<char*> all;
  for (char** each = environ; *each != nullptr; ++each) all.push_back(*each);
  return all;
}

}  // namespace

std::string environment_path(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

std::vector<char*> environment() {
  const std::lock_guard lock(list_in_use);
  return entries();
}

void with_variable(const std::string& variable, const std::function<void()>& action) {
  /// Lists are kept for ever: another thread's getenv may still read one.
  struct List {
    std::string added;
    std::vector<char*> all;
  };
  static std::deque<List> lists;
  const std::lock_guard lock(list_in_use);
  List& list = lists.emplace_back(variable, entries());
  list.all.insert(list.all.end(), {list.added.data(), nullptr});
  char** const before = environ;
  environ = list.all.data();
  action();
  environ = before;
}

}  // namespace raddle::vm
