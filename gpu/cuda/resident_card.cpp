#include "gpu/cuda/resident_card.hpp"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

namespace raddle::gpu {

namespace {

/// Of each thread one task, which all warps may share.
constexpr superkernel::QueueSizes card_sizes{.descriptors_log2 = 3, .shares_log2 = 12, .slots_log2 = 13};
constexpr unsigned blocks_of_multiprocessor = 2;
constexpr std::uint64_t card_idle_ns = 20'000'000;  ///< then the card is free for others

}  // namespace

ResidentCard::ResidentCard(std::unique_ptr<CardQueues> queues, unsigned blocks, std::uint64_t silent_ns)
    : blocks_(blocks),
      queues_(std::move(queues)),
      kernel_(card_sizes, queues_->memory(), queues_->queues(card_idle_ns), silent_ns, *queues_) {}

std::expected<std::unique_ptr<ResidentCard>, int> ResidentCard::make(const CudaDriver& driver, void* context,
                                                                     unsigned multiprocessors,
                                                                     std::uint64_t silent_ns) {
  auto queues = CardQueues::make(driver, context, card_sizes, most_threads * most_words * sizeof(std::int64_t));
  if (!queues) return std::unexpected(queues.error());
  return std::unique_ptr<ResidentCard>(
      new ResidentCard(std::move(*queues), multiprocessors * blocks_of_multiprocessor, silent_ns));
}

std::int64_t ResidentCard::lanes() const {
  return std::int64_t{blocks_} * CardQueues::threads_of_block - superkernel::lane_count;
}

std::expected<std::int64_t, int> ResidentCard::compute(unsigned thread, std::uint64_t function,
                                                       std::span<const std::int64_t> words, std::int64_t count) {
  const std::size_t offset = thread * most_words * sizeof(std::int64_t);
  std::ranges::copy(words, reinterpret_cast<std::int64_t*>(queues_->words() + offset));
  const std::int64_t warps = std::min<std::int64_t>(lanes() / superkernel::lane_count, 1 << card_sizes.shares_log2);
  superkernel::QueueTask task =
      superkernel::task_of_points(static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(warps));
  task.function = function;
  task.words = queues_->address_of_words() + offset;
  std::promise<std::optional<std::uint64_t>> told;
  kernel_.submit(task, [&told](std::optional<std::uint64_t> made) { told.set_value(made); });
  const std::optional<std::uint64_t> made = told.get_future().get();
  if (!made) return std::unexpected(lost);
  return static_cast<std::int64_t>(std::min(*made, static_cast<std::uint64_t>(count)));
}

}  // namespace raddle::gpu
