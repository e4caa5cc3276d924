#include "gpu/gemtc/host_place.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "gpu/memory/arena.hpp"

namespace raddle::gpu {

namespace {

constexpr std::uint32_t descriptors_log2 = 10;

}  // namespace

void HostPlace::FreeMemory::operator()(std::byte* first) const { std::free(first); }

HostPlace::HostPlace(const gemtc_options& options)
    : kernels_(options.kernels, options.kernels + options.kernel_count),
      memory_(static_cast<std::byte*>(std::aligned_alloc(Arena::granule, Arena::rounded(options.memory_bytes)))),
      threads_(options.workers, descriptors_log2, compute) {
  if (!memory_) throw std::bad_alloc();
}

gemtc_code HostPlace::copy_in(void* to, const void* from, std::size_t bytes) {
  std::memmove(to, from, bytes);
  return GEMTC_OK;
}

void HostPlace::submit(GemtcTask& task, std::function<void()> done) {
  const auto* const where_kernel_is = reinterpret_cast<const std::int64_t*>(&kernels_[task.kernel]);
  threads_.submit(reinterpret_cast<std::uint64_t>(&task), where_kernel_is, static_cast<std::uint64_t>(task.threads),
                  [&task, done = std::move(done)](std::optional<std::uint64_t> told) {
                    if (!told) task.result.status = GEMTC_NO_THREADS, task.result.failed_thread = -1;
                    done();
                  });
}

std::uint64_t HostPlace::compute(std::uint64_t work, const std::int64_t* words, std::uint64_t first, std::uint64_t step,
                                 std::uint64_t end) {
  GemtcTask& task = *reinterpret_cast<GemtcTask*>(work);
  const gemtc_kernel kernel = *reinterpret_cast<const gemtc_kernel*>(words);
  for (std::uint64_t number = first; number < end; number += step) {
    const auto thread = static_cast<std::int64_t>(number);
    const std::int32_t status = kernel(task.result.parameters, thread, task.threads);
    if (status == 0) continue;
    const std::lock_guard lock(task.mutex);
    gemtc_result& result = task.result;
    if (result.status == 0 || thread < result.failed_thread) result.status = status, result.failed_thread = thread;
    return number;
  }
  return end;
}

}  // namespace raddle::gpu
