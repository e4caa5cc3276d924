#include "gpu/cuda/card_queues.hpp"

#include <cstring>
#include <vector>

namespace raddle::gpu {

namespace {

constexpr unsigned read_by_card = 2;    ///< CU_MEMHOSTALLOC_DEVICEMAP
constexpr int not_ready = 600;          ///< CUDA_ERROR_NOT_READY
constexpr unsigned beside_default = 1;  ///< CU_STREAM_NON_BLOCKING

}  // namespace

std::expected<std::unique_ptr<CardQueues>, int> CardQueues::make(const CudaDriver& driver, void* context,
                                                                 const superkernel::QueueSizes& sizes,
                                                                 std::size_t words_bytes) {
  std::unique_ptr<CardQueues> queues(new CardQueues(driver, context, sizes));
  if (const int error = queues->allocate(words_bytes)) return std::unexpected(error);
  return queues;
}

int CardQueues::allocate(std::size_t words_bytes) {
  if (const int error = driver_.create_stream(&stream_, beside_default)) return error;
  const std::size_t host_bytes = superkernel::HostBlock::size_bytes(sizes_) + words_bytes;
  void* memory = nullptr;
  if (const int error = driver_.host_allocate(&memory, host_bytes, read_by_card)) return error;
  host_ = static_cast<std::byte*>(memory);
  std::memset(memory, 0, host_bytes);
  if (const int error = driver_.host_address(&host_address_, memory, 0)) return error;
  struct alignas(superkernel::line_bytes) Line {
    std::byte bytes[superkernel::line_bytes];
  };
  const std::size_t bytes = superkernel::DeviceBlock::size_bytes(sizes_);
  std::vector<Line> first(bytes / sizeof(Line));
  superkernel::DeviceBlock(sizes_, first.front().bytes).write_first_values(0);
  if (const int error = driver_.allocate(&device_address_, bytes, stream_)) return error;
  if (const int error = driver_.copy_in(device_address_, first.data(), bytes, stream_)) return error;
  return driver_.wait_for_stream(stream_);
}

CardQueues::~CardQueues() {
  if (device_address_ != 0) driver_.free(device_address_, stream_);
  if (stream_ != nullptr) driver_.wait_for_stream(stream_);
  if (host_ != nullptr) driver_.host_free(host_);
  if (stream_ != nullptr) driver_.destroy_stream(stream_);
}

superkernel::Queues CardQueues::queues(std::uint64_t idle_ns) const {
  const auto pointer = [](std::uint64_t address) { return reinterpret_cast<std::byte*>(address); };
  superkernel::Queues queues = queues_in(sizes_, superkernel::HostBlock(sizes_, pointer(host_address_)),
                                         superkernel::DeviceBlock(sizes_, pointer(device_address_)));
  queues.idle_ns = idle_ns;
  return queues;
}

bool CardQueues::launch(const superkernel::Queues& queues) {
  superkernel::Queues given = queues;
  given.workers = blocks_ * threads_of_block / superkernel::lane_count - 1;
  const CudaDriver::Parameter parameters[] = {std::as_bytes(std::span(&given, 1))};
  return function_ != nullptr && driver_.set_context(context_) == 0 &&
         driver_.launch(function_, blocks_, threads_of_block, stream_, parameters) == 0;
}

void CardQueues::wait() {
  if (driver_.set_context(context_) == 0) driver_.wait_for_stream(stream_);
}

bool CardQueues::runs() const { return driver_.set_context(context_) == 0 && driver_.ask_stream(stream_) == not_ready; }

bool CardQueues::has_failed() {
  const int error = driver_.set_context(context_) == 0 ? driver_.ask_stream(stream_) : 0;
  return error != 0 && error != not_ready;
}

}  // namespace raddle::gpu
