#include "tests/bench/locality/task_graph.hpp"

#include <algorithm>
#include <set>

namespace raddle::locality {

std::int64_t TaskGraph::work_ns() const {
  std::int64_t sum = 0;
  for (const vm::PlacedTask& task : tasks) sum += task.duration_ns;
  return sum;
}

std::optional<Priorities> priorities_of(std::string_view name) {
  if (name == "given") return Priorities::given;
  if (name == "bottom") return Priorities::bottom;
  if (name == "none") return Priorities::none;
  return std::nullopt;
}

void set_priorities(TaskGraph& graph, Priorities priorities) {
  if (priorities == Priorities::given) return;
  std::vector<std::int64_t> levels_ns(graph.tasks.size());
  for (std::size_t id = graph.tasks.size(); id-- != 0;) {  // successors come later
    for (const vm::TaskId next : graph.successors[id]) levels_ns[id] = std::max(levels_ns[id], levels_ns[next]);
    levels_ns[id] += graph.tasks[id].duration_ns;
    const bool has_level = priorities == Priorities::bottom;
    graph.tasks[id].priority = has_level ? static_cast<std::int32_t>(levels_ns[id] / 1000) : 0;
  }
}

vm::DataId GraphBuilder::add_data(std::int64_t bytes) {
  graph_.bytes.push_back(bytes);
  uses_.emplace_back();
  return static_cast<vm::DataId>(uses_.size() - 1);
}

void GraphBuilder::add_task(const std::vector<vm::DataId>& reads, const std::vector<vm::DataId>& writes,
                            std::int64_t duration_ns, std::int32_t priority) {
  const auto id = static_cast<vm::TaskId>(graph_.tasks.size());
  vm::PlacedTask task{.operands = reads,
                      .read_count = static_cast<std::uint32_t>(reads.size()),
                      .writes = writes,
                      .duration_ns = duration_ns,
                      .priority = priority};
  for (const vm::DataId data : writes)
    if (std::ranges::find(reads, data) == reads.end()) task.operands.push_back(data);
  std::set<vm::TaskId> awaited;
  for (const vm::DataId data : task.operands) {
    Uses& uses = uses_[data];
    if (uses.writer) awaited.insert(*uses.writer);
    if (std::ranges::find(writes, data) == writes.end()) {
      uses.readers.push_back(id);
      continue;
    }
    awaited.insert(uses.readers.begin(), uses.readers.end());
    uses = {.writer = id, .readers = {}};
  }
  for (const vm::TaskId other : awaited) graph_.successors[other].push_back(id);
  graph_.waits.push_back(static_cast<std::uint32_t>(awaited.size()));
  graph_.successors.emplace_back();
  graph_.tasks.push_back(std::move(task));
}

}  // namespace raddle::locality
