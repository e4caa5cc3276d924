#include "gpu/gemtc/gpu_place.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "gpu/memory/arena.hpp"

namespace raddle::gpu {

namespace {

/// A task is shared by up to 512 warps.
constexpr superkernel::QueueSizes sizes{.descriptors_log2 = 10, .shares_log2 = 9, .slots_log2 = 13};
constexpr unsigned usual_blocks = 2;                 ///< of each multiprocessor
constexpr std::uint64_t idle_ns = 20'000'000;        ///< then the GPU is free for others
constexpr std::uint64_t silent_ns = 30'000'000'000;  ///< a kernel that has not beaten for so long is lost
constexpr unsigned sleeping_waits = 4,
                   stream_beside_others = 1;  ///< CU_CTX_SCHED_BLOCKING_SYNC, CU_STREAM_NON_BLOCKING
constexpr int not_there = 100;                ///< CUDA_ERROR_NO_DEVICE
constexpr const char* kernel_name = "raddle_super";

}  // namespace

std::unique_ptr<GpuPlace> GpuPlace::open(const gemtc_options& options) {
  auto driver = LoadedDriver::load("libcuda.so.1");
  if (!driver) return nullptr;
  const auto count = (*driver)->begin();
  int device = 0;
  void* context = nullptr;
  if (!count || *count == 0 || (*driver)->device(&device, 0) != 0) return nullptr;
  (*driver)->context_flags(device, sleeping_waits);  // a wish: who has the context already decides
  if ((*driver)->retain_context(&context, device) != 0) return nullptr;
  std::unique_ptr<GpuPlace> place(new GpuPlace(std::move(*driver), device, context));
  return place->make(options) == 0 ? std::move(place) : nullptr;
}

/// @return an error's number
int GpuPlace::make(const gemtc_options& options) {
  void* function = nullptr;
  int multiprocessors = 0, blocks_at_once = 0;
  if (const int error = driver_->set_context(context_)) return error;
  if (const int error = driver_->load_module(&module_, options.gpu_code)) return error;
  if (const int error = driver_->module_function(&function, module_, kernel_name)) return error;
  if (const int error = driver_->device_attribute(&multiprocessors, cuda_multiprocessor_count, device_)) return error;
  if (const int error = driver_->blocks_at_once(&blocks_at_once, function, CardQueues::threads_of_block, 0))
    return error;
  const unsigned most = static_cast<unsigned>(multiprocessors) * static_cast<unsigned>(blocks_at_once);
  if (most == 0) return not_there;
  const unsigned asked = options.workers != 0
                             ? options.workers * superkernel::lane_count / CardQueues::threads_of_block + 1
                             : static_cast<unsigned>(multiprocessors) * usual_blocks;
  if (const int error = driver_->create_stream(&stream_, stream_beside_others)) return error;
  if (const int error = driver_->allocate(&memory_, Arena::rounded(options.memory_bytes), stream_)) return error;
  const std::vector<std::uint64_t> none_failed(options.task_limit, ~std::uint64_t{0});
  const std::size_t bytes = none_failed.size() * sizeof none_failed.front();
  if (const int error = driver_->allocate(&statuses_, bytes, stream_)) return error;
  if (const int error = driver_->copy_in(statuses_, none_failed.data(), bytes, stream_)) return error;
  if (const int error = driver_->wait_for_stream(stream_)) return error;
  free_slots_.resize(options.task_limit);
  std::iota(free_slots_.rbegin(), free_slots_.rend(), std::size_t{0});
  auto queues = CardQueues::make(*driver_, context_, sizes, options.task_limit * sizeof(Words));
  if (!queues) return queues.error();
  queues_ = std::move(*queues);
  queues_->use(function, std::min(asked, most));
  kernel_.emplace(sizes, queues_->memory(), queues_->queues(idle_ns), silent_ns, *queues_);
  return 0;
}

/// Of a kernel that does not end the driver would wait for ever: then all is left to the end of the process.
GpuPlace::~GpuPlace() {
  driver_->set_context(context_);
  const bool is_hung = kernel_ && kernel_->is_lost() && queues_->runs();
  if (is_hung) queues_->abandon();
  kernel_.reset();
  queues_.reset();
  if (is_hung) return;
  for (const std::uint64_t address : {memory_, statuses_})
    if (address != 0) driver_->free(address, stream_);
  if (stream_ != nullptr) {
    driver_->wait_for_stream(stream_);
    driver_->destroy_stream(stream_);
  }
  if (module_ != nullptr) driver_->unload_module(module_);
  driver_->set_context(nullptr);
  driver_->release_context(device_);
}

/// @param ask  for it, of the stream  @return when it is done
template <typename Copy>
gemtc_code GpuPlace::copy(const Copy& ask) {
  const std::lock_guard lock(copies_mutex_);
  if (driver_->set_context(context_) != 0) return GEMTC_LOST;
  const int error = ask(), error_of_wait = driver_->wait_for_stream(stream_);
  return error == 0 && error_of_wait == 0 ? GEMTC_OK : GEMTC_LOST;
}

gemtc_code GpuPlace::copy_in(void* to, const void* from, std::size_t bytes) {
  return copy([&] { return driver_->copy_in(reinterpret_cast<std::uint64_t>(to), from, bytes, stream_); });
}

gemtc_code GpuPlace::copy_out(void* to, const void* from, std::size_t bytes) {
  return copy([&] { return driver_->copy_out(to, reinterpret_cast<std::uint64_t>(from), bytes, stream_); });
}

void GpuPlace::submit(GemtcTask& task, std::function<void()> done) {
  std::size_t slot = 0;
  {
    const std::lock_guard lock(slots_mutex_);
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const std::size_t offset = slot * sizeof(Words);
  *reinterpret_cast<Words*>(queues_->words() + offset) = {reinterpret_cast<std::uint64_t>(task.result.parameters),
                                                          statuses_ + slot * sizeof(std::uint64_t), task.threads,
                                                          task.threads};
  superkernel::QueueTask given =
      superkernel::task_of_points(static_cast<std::uint64_t>(task.threads), std::uint64_t{1} << sizes.shares_log2);
  given.function = task.kernel;
  given.words = queues_->address_of_words() + offset;
  try {
    kernel_->submit(given, [this, &task, slot, done = std::move(done)](std::optional<std::uint64_t> made) {
      end(task, slot, made);
      done();
    });
  } catch (...) {
    const std::lock_guard lock(slots_mutex_);
    free_slots_.push_back(slot);
    throw;
  }
}

/// Thread and status of the least thread that has failed, 32 bits each; the slot has none again.
std::optional<std::uint64_t> GpuPlace::status_of(std::size_t slot) {
  const std::uint64_t address = statuses_ + slot * sizeof(std::uint64_t), none = ~std::uint64_t{0};
  std::uint64_t found = none;
  const gemtc_code code = copy([&] {
    const int error = driver_->copy_out(&found, address, sizeof found, stream_);
    return error != 0 ? error : driver_->copy_in(address, &none, sizeof none, stream_);
  });
  return code == GEMTC_OK ? std::optional(found) : std::nullopt;
}

/// @param made  none: the GPU has failed
void GpuPlace::end(GemtcTask& task, std::size_t slot, std::optional<std::uint64_t> made) {
  const bool is_well = made && *made >= static_cast<std::uint64_t>(task.threads);
  const std::optional<std::uint64_t> status = made && !is_well ? status_of(slot) : std::nullopt;
  if (status) {
    task.result.status = static_cast<std::int32_t>(*status);
    task.result.failed_thread = static_cast<std::int64_t>(*status >> 32);
  } else if (!is_well) {
    task.result.status = GEMTC_LOST;
  }
  const std::lock_guard lock(slots_mutex_);
  free_slots_.push_back(slot);
}

}  // namespace raddle::gpu
