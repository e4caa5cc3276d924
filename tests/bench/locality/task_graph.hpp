#pragma once
// Programs over tiles as tasks that depend on each other by what they read and write.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vm/place/placed_task.hpp"

namespace raddle::locality {

constexpr std::int64_t tile_bytes = 33'177'600;  ///< 2,880 x 2,880 numbers of four bytes

/// Tasks in the order of their submission. Each waits for who has written what it touches, and, before it writes, for
/// all who read it.
struct TaskGraph {
  vm::PlacedTasks tasks;
  std::vector<std::vector<vm::TaskId>> successors;  ///< by task, in order
  std::vector<std::uint32_t> waits;                 ///< by task: for so many others
  std::vector<std::int64_t> bytes;                  ///< by datum
  double operations = 0;                            ///< of floating point, by all tasks; 0: not known

  std::int64_t work_ns() const;
};

/// Which PlacedTask::priority tasks have.
enum class Priorities : std::uint8_t {
  given,   ///< by the program
  bottom,  ///< bottom levels: what is left from the task's start to the end of the longest path through it
  none,    ///< equal ones
};
std::optional<Priorities> priorities_of(std::string_view name);
void set_priorities(TaskGraph& graph, Priorities priorities);

/// Builds a graph task by task.
class GraphBuilder {
 public:
  /// @return its id
  vm::DataId add_data(std::int64_t bytes);
  /// @param reads   distinct; what is read and written is in both
  void add_task(const std::vector<vm::DataId>& reads, const std::vector<vm::DataId>& writes, std::int64_t duration_ns,
                std::int32_t priority);
  TaskGraph take() { return std::move(graph_); }

 private:
  TaskGraph graph_;
  struct Uses {
    std::optional<vm::TaskId> writer;
    std::vector<vm::TaskId> readers;  ///< since then
  };
  std::vector<Uses> uses_;  ///< by datum
};

enum class Program : std::uint8_t { cholesky, lu, product, product_of_inputs, product_of_tiles };

/// `chol`, `lu`, `mm`: a product of rows and columns of tiles; `mm-noC`: likewise, only the inputs take memory;
/// `mm-3d`: of tiles, each added to one of the result. @return none: no such program
std::optional<Program> program_of(std::string_view name);
/// Of so many tiles a side, with durations as on a V100 in single precision and the priorities of StarPU's examples.
/// Source: Gonthier, Thibault, Marchal 2024, Table 1, for GEMM; the others by assumed efficiencies
TaskGraph graph_of(Program program, unsigned tiles);

}  // namespace raddle::locality
