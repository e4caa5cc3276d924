#pragma once
// Starts one program. Instead of uv_spawn, which forks: that copies the page tables of a large address space, and
// can not ask the system to end the program with us.
#include <sys/types.h>

#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace raddle::vm {

struct ChildStart {
  const std::vector<std::string>& words;                                ///< not empty; words[0] is looked up in PATH
  const std::vector<std::pair<std::string, std::string>>& environment;  ///< added to the run's
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1;                    ///< -1: inherited; stay the caller's
  int answer_fd = -1;                                                   ///< becomes 3, likewise
};

/// Starts a program as the leader of a new session and process group, with no signal blocked. The system kills it
/// when the calling *thread* ends: call from threads that live as long as the run.
/// @return  its process id, or the errno of clone or exec
std::expected<pid_t, int> start_child(const ChildStart& start);

}  // namespace raddle::vm
