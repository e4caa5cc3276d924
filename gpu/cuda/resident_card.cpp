#include "gpu/cuda/resident_card.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "gpu/server/server_process.hpp"

namespace raddle::gpu {

namespace {

/// Of each thread one task, which all warps may share.
constexpr superkernel::QueueSizes card_sizes{.descriptors_log2 = 3, .shares_log2 = 12, .slots_log2 = 13};
constexpr unsigned blocks_of_multiprocessor = 2;
constexpr std::uint64_t card_idle_ns = 20'000'000;  ///< then the card is free for others
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds slice{100};

}  // namespace

ResidentCard::ResidentCard(std::unique_ptr<CardQueues> queues, unsigned blocks, const ResidentPatience& patience)
    : blocks_(blocks),
      answer_ns_(patience.answer_ns),
      queues_(std::move(queues)),
      kernel_(card_sizes, queues_->memory(), queues_->queues(card_idle_ns), patience.silent_ns, *queues_) {}

std::expected<std::unique_ptr<ResidentCard>, int> ResidentCard::make(const CudaDriver& driver, void* context,
                                                                     unsigned multiprocessors,
                                                                     const ResidentPatience& patience) {
  auto queues = CardQueues::make(driver, context, card_sizes, most_threads * most_words * sizeof(std::int64_t));
  if (!queues) return std::unexpected(queues.error());
  return std::unique_ptr<ResidentCard>(
      new ResidentCard(std::move(*queues), multiprocessors * blocks_of_multiprocessor, patience));
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
  std::future<std::optional<std::uint64_t>> answer = told.get_future();
  const auto begin = Clock::now();
  // ingest may go on while a worker warp does not
  while (answer.wait_for(slice) == std::future_status::timeout)
    if (Clock::now() - begin > std::chrono::nanoseconds(std::min(answer_ns_, WantedWhile::patience_ns())))
      kernel_.give_up();
  const std::optional<std::uint64_t> made = answer.get();
  if (!made) return std::unexpected(lost);
  return static_cast<std::int64_t>(std::min(*made, static_cast<std::uint64_t>(count)));
}

}  // namespace raddle::gpu
