#include "gpu/simulated/simulated_devices.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace raddle::gpu {

namespace {

constexpr std::uint64_t idle_ns = 2'000'000;  ///< until the threads sleep
constexpr std::uint64_t ever = std::numeric_limits<std::uint64_t>::max();

class SimulatedKernel final : public vm::DeviceKernel {
 public:
  SimulatedKernel(raddle_leaf_function code, std::int64_t lanes) : DeviceKernel(lanes), code(code) {}
  const raddle_leaf_function code;
};

/// What stands for the function of its task.
struct SimulatedBatch {
  explicit SimulatedBatch(vm::DeviceBatch given) : batch(std::move(given)) {}
  const vm::DeviceBatch batch;
  std::uint64_t begin = 0;  ///< when the first chunk was taken up: written by who has it
};

/// A lane's points: words as a kernel takes them have the end in place of the number of points.
std::uint64_t compute_points(std::uint64_t function, const std::int64_t* words, std::uint64_t first, std::uint64_t step,
                             std::uint64_t end) {
  auto& simulated = *reinterpret_cast<SimulatedBatch*>(function);
  const vm::DeviceBatch& batch = simulated.batch;
  if (first == 0) simulated.begin = superkernel::now_ns();
  if (!batch.is_wanted()) return first;
  std::vector<std::int64_t> own(words, words + batch.words.size());
  own[2] = static_cast<std::int64_t>(end);
  std::int64_t results[] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(step)};
  static_cast<const SimulatedKernel&>(*batch.kernel).code(batch.run, own.data(), results, nullptr);
  return static_cast<std::uint64_t>(results[0]);
}

superkernel::QueueSizes sizes_for(unsigned warps) {
  return {.descriptors_log2 = 5, .shares_log2 = static_cast<std::uint32_t>(std::bit_width(warps)), .slots_log2 = 4};
}

std::size_t lines(std::size_t bytes) { return bytes / superkernel::line_bytes; }

superkernel::Queues queues_of(const superkernel::QueueSizes& sizes, void* host, void* device) {
  const superkernel::DeviceBlock block(sizes, static_cast<std::byte*>(device));
  block.write_first_values(0);
  superkernel::Queues queues = queues_in(sizes, superkernel::HostBlock(sizes, static_cast<std::byte*>(host)), block);
  queues.idle_ns = idle_ns;
  return queues;
}

}  // namespace

SimulatedDevices::SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs)
    : warps_(warps),
      costs_(costs),
      host_memory_(lines(superkernel::HostBlock::size_bytes(sizes_for(warps)))),
      device_memory_(lines(superkernel::DeviceBlock::size_bytes(sizes_for(warps)))),
      threads_(warps, compute_points),
      kernel_(sizes_for(warps), superkernel::HostBlock(sizes_for(warps), host_memory_.front().bytes),
              queues_of(sizes_for(warps), host_memory_.data(), device_memory_.data()), ever, threads_) {}

void SimulatedDevices::prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry, vm::KernelCompiler& compiler,
                               std::function<void(std::shared_ptr<const vm::DeviceKernel>)> done) {
  compiler.request(kernels, entry,
                   [done = std::move(done), lanes = std::int64_t{warps_} * lanes](raddle_leaf_function code) {
                     done(code ? std::make_shared<SimulatedKernel>(code, lanes) : nullptr);
                   });
}

void SimulatedDevices::submit(vm::DeviceBatch batch) {
  load_.begin(batch);
  auto given = std::make_shared<SimulatedBatch>(std::move(batch));
  superkernel::QueueTask task = superkernel::task_of_points(static_cast<std::uint64_t>(given->batch.count()), warps_);
  task.function = reinterpret_cast<std::uint64_t>(given.get());
  task.words = reinterpret_cast<std::uint64_t>(given->batch.words.data());
  kernel_.submit(task, [this, given](std::optional<std::uint64_t> made) {
    const vm::DeviceBatch& done = given->batch;
    load_.end(done);
    if (!made) return done.done({.is_lost = true});
    const auto least = static_cast<std::int64_t>(std::min(*made, static_cast<std::uint64_t>(done.count())));
    const auto spent = static_cast<std::int64_t>(superkernel::now_ns() - given->begin);
    done.done({.made = done.is_wanted() ? least : 0, .spent_ns = spent});
  });
}

}  // namespace raddle::gpu
