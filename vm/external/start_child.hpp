#pragma once
// Starts one program. Instead of uv_spawn, which forks: that copies the page tables of a large address space, and
// can not ask the system to end the program with us.
#include <sched.h>
#include <sys/types.h>

#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace raddle::vm {

struct ChildStart {
  const std::vector<std::string>& words;                                ///< not empty; words[0] is looked up in PATH
  const std::vector<std::pair<std::string, std::string>>& environment;  ///< added to the run's
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1;                    ///< -1: inherited; stay the caller's
  int answer_fd = -1;                                                   ///< becomes 3, likewise
  int memory_fd = -1;                                                   ///< becomes 4, likewise; is none of 0 to 4
  /// What controls us: open, or -1 where nothing does. The program leads a process group in our session, and no
  /// terminal controls it. None: it is not known, and the program leads a session.
  std::optional<int> terminal = {};
  bool outlives_us = false;          ///< the system does not kill it with us, nor does the watcher
  const cpu_set_t* cores = nullptr;  ///< that it may use; null: the thread's
};

/// Starts a program as the leader of a process group that no terminal controls, with no signal blocked. The system
/// kills it when the calling *thread* ends: call from threads that live as long as the run. If this process is killed,
/// the watcher (program_watcher.hpp) kills its process group, until the thread calls child_has_ended().
/// @return  its process id, or the errno of clone or exec
std::expected<pid_t, int> start_child(const ChildStart& start);
/// The program that the calling thread has started has ended: before its id is free, that is, before it is waited for.
void child_has_ended();

}  // namespace raddle::vm
