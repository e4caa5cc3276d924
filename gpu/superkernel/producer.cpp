#include "gpu/superkernel/producer.hpp"

#include <algorithm>

namespace raddle::gpu::superkernel {

QueueTask task_of_points(std::uint64_t count, std::uint64_t warps) {
  constexpr std::uint64_t chunks_of_warp = 4;
  const std::uint64_t needed = std::clamp<std::uint64_t>((count + lane_count - 1) / lane_count, 1, warps);
  const std::uint64_t chunk = count / (needed * chunks_of_warp) / lane_count * lane_count;
  return {.count = count, .chunk = std::max<std::uint64_t>(chunk, lane_count), .shares = needed};
}

Producer::Producer(const QueueSizes& sizes, const HostBlock& memory, std::uint64_t start)
    : sizes_(sizes),
      memory_(memory),
      tags_(std::size_t{1} << sizes.descriptors_log2),
      free_(tags_.size()),
      free_taken_(0),
      freed_(free_.size()),
      taken_(start),
      tail_(start) {
  for (std::size_t i = 0; i < free_.size(); ++i) free_[i] = i;
}

std::optional<std::uint64_t> Producer::take_free() {
  std::uint64_t next = load<Access::free_read>(&free_taken_);
  while (true) {
    if (next == load<Access::freed_read>(&freed_)) return std::nullopt;
    const std::uint64_t found = load<Access::free_read>(place_of(free_.data(), next, sizes_.descriptors_log2));
    if (replace<Access::free_taken>(&free_taken_, next, next + 1)) return found;
  }
}

bool Producer::submit(const QueueTask& task) {
  const std::optional<std::uint64_t> number = take_free();
  if (!number) return false;
  memory_.descriptors()[*number] = {task.function, task.words, task.count, task.chunk, task.shares, {}};
  tags_[*number].store(task.tag, std::memory_order_release);
  hesitate();
  const std::uint64_t first = add<Access::tail_added>(&tail_, task.shares);
  for (std::uint64_t position = first; position < first + task.shares; ++position) {
    std::uint64_t* const entry = place_of(memory_.ring(), position, sizes_.ring_log2());
    own_to_write(entry);
    store<Access::entry_written>(entry, word_at(position, sizes_.ring_log2(), *number));
  }
  return true;
}

std::optional<Completion> Producer::take() {
  std::uint64_t* const pair = memory_.completions() + 2 * (taken_ & (free_.size() - 1));
  const std::uint64_t lap = lap_at(taken_, sizes_.descriptors_log2);
  const std::uint64_t second = load<Access::completion_read>(pair + 1);
  if (second >> 32 != lap) return std::nullopt;
  const std::uint64_t first = load<Access::completion_read>(pair);
  if (first >> 63 != (lap & 1) && !is_left_out(Step::lap_of_first_word)) return std::nullopt;
  own_to_read(pair);
  const std::uint64_t number = what_of(second);
  const Completion completion{tags_[number].load(std::memory_order_acquire), first & no_failure};
  store<Access::free_written>(place_of(free_.data(), freed_, sizes_.descriptors_log2), number);
  store<Access::freed_written>(&freed_, freed_ + 1);
  ++taken_;
  return completion;
}

}  // namespace raddle::gpu::superkernel
