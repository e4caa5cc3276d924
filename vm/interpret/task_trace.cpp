#include "vm/interpret/task_trace.hpp"

#include <algorithm>

namespace raddle::vm {

TaskTrace::TaskTrace(unsigned workers, std::uint64_t most)
    : most_of_worker_(std::max<std::size_t>(most / std::max(workers, 1u), 4)), lanes_(workers) {}

void TaskTrace::add(unsigned worker, Entry entry) {
  entry.busy_ns = entry.longest_ns = entry.duration_ns;
  Lane& lane = lanes_[worker];
  if (entry.kind == TaskKind::program) return lane.programs.push_back(entry);
  lane.tasks.push_back(entry);
  if (lane.tasks.size() > most_of_worker_) join(lane);
}

void TaskTrace::join(Lane& lane) const {
  std::erase_if(lane.tasks, &Entry::is_nested);
  for (join_parts(lane); lane.tasks.size() > most_of_worker_ / 2; join_parts(lane)) lane.part_ns *= 2;
}

void TaskTrace::join_parts(Lane& lane) {
  std::size_t kept = 0;
  for (const Entry& entry : lane.tasks) {
    Entry* last = kept == 0 ? nullptr : &lane.tasks[kept - 1];
    if (last == nullptr || last->start_ns / lane.part_ns != entry.start_ns / lane.part_ns) {
      lane.tasks[kept++] = entry;
      continue;
    }
    if (entry.longest_ns > last->longest_ns) {
      last->longest_ns = entry.longest_ns;
      last->name = entry.name;
      last->kind = entry.kind;
      last->instruction = entry.instruction;
    }
    last->duration_ns = entry.start_ns + entry.duration_ns - last->start_ns;
    last->busy_ns += entry.busy_ns;
    last->count += entry.count;
    last->iterations += entry.iterations;
  }
  lane.tasks.resize(kept);
}

std::vector<std::vector<TaskTrace::Entry>> TaskTrace::tasks() const {
  std::vector<std::vector<Entry>> all;
  for (const Lane& lane : lanes_) all.push_back(lane.tasks);
  return all;
}

std::vector<TaskTrace::Entry> TaskTrace::programs() const {
  std::vector<Entry> all;
  for (const Lane& lane : lanes_) all.insert(all.end(), lane.programs.begin(), lane.programs.end());
  return all;
}

}  // namespace raddle::vm
