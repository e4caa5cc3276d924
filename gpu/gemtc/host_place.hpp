#pragma once
// Tasks on threads of the host.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "gpu/gemtc/place.hpp"
#include "gpu/simulated/thread_kernel.hpp"

namespace raddle::gpu {

class HostPlace final : public GemtcPlace {
 public:
  /// @param options  in order, with none that are 0 for what is usual  @throws std::bad_alloc
  explicit HostPlace(const gemtc_options& options);

  std::uint64_t memory() const override { return reinterpret_cast<std::uint64_t>(memory_.get()); }
  std::int64_t most_threads() const override { return std::int64_t{1} << 40; }
  gemtc_code copy_in(void* to, const void* from, std::size_t bytes) override;
  gemtc_code copy_out(void* to, const void* from, std::size_t bytes) override { return copy_in(to, from, bytes); }
  void submit(GemtcTask& task, std::function<void()> done) override;

 private:
  struct FreeMemory {
    void operator()(std::byte* first) const;
  };
  static std::uint64_t compute(std::uint64_t work, const std::int64_t* words, std::uint64_t first, std::uint64_t step,
                               std::uint64_t end);

  const std::vector<gemtc_kernel> kernels_;
  const std::unique_ptr<std::byte, FreeMemory> memory_;
  ThreadKernel threads_;  ///< last: its threads use all of the above
};

}  // namespace raddle::gpu
