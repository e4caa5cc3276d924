#pragma once
// Which task ran when, on which worker: what `--trace` shows.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "vm/program/program.hpp"

namespace raddle::vm {

enum class TaskKind : std::uint8_t {
  activation,  ///< of a function or loop body
  strand,      ///< that has waited for its inputs
  iterations,  ///< of a `foreach`
  leaf,        ///< a call of a leaf function
  ending,      ///< of a call of the library, or of a program, outside
  program,     ///< an external one: on no worker
};

class TaskTrace {
 public:
  struct Entry {
    std::int64_t start_ns = 0, duration_ns = 0;  ///< since the trace was made
    TaskKind kind = TaskKind::activation;
    bool is_nested = false;  ///< inside of another one
    bool has_failed = false;
    const std::string* name = nullptr;         ///< of the program: function or app; of the longest one of several
    std::uint32_t instruction = no_id;         ///< of the program; no_id: the whole function
    std::uint64_t iterations = 0;              ///< of `foreach`
    std::uint64_t count = 1;                   ///< tasks
    std::int64_t busy_ns = 0, longest_ns = 0;  ///< of all of them, of one
  };

  /// @param most  entries that are kept: when there are more, tasks of a worker that began in the same part of the time
  ///              become one entry
  TaskTrace(unsigned workers, std::uint64_t most);
  std::int64_t now_ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin_).count();
  }
  /// On the worker's own thread.
  void add(unsigned worker, Entry entry);

  // ---- after the run
  /// Of each worker, in the order of their ends; nested ones before those that they are in.
  std::vector<std::vector<Entry>> tasks() const;
  /// External ones, in no order.
  std::vector<Entry> programs() const;

 private:
  struct alignas(64) Lane {  // of one worker, written by it
    std::vector<Entry> tasks, programs;
    std::int64_t part_ns = 1;  // tasks that begin in the same one are joined, once there are many
  };
  void join(Lane& lane) const;
  static void join_parts(Lane& lane);

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const std::size_t most_of_worker_;
  std::vector<Lane> lanes_;
};

}  // namespace raddle::vm
