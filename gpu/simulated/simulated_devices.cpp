#include "gpu/simulated/simulated_devices.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <future>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace raddle::gpu {

namespace {

constexpr std::uint64_t idle_ns = 2'000'000;  ///< until the threads sleep
constexpr std::size_t usual_chunk = std::size_t{16} << 20;
constexpr std::uint64_t ever = std::numeric_limits<std::uint64_t>::max();

class SimulatedKernel final : public vm::DeviceKernel {
 public:
  SimulatedKernel(raddle_leaf_function code, std::int64_t lanes) : DeviceKernel(lanes), code(code) {}
  const raddle_leaf_function code;
};

/// What stands for the function of its task.
struct SimulatedRange {
  const vm::DeviceBatch& batch;
  const std::vector<std::int64_t>& words;  ///< with addresses on the device
};

/// A lane's points: words as a kernel takes them have the end in place of the number of points.
std::uint64_t compute_points(std::uint64_t function, const std::int64_t* words, std::uint64_t first, std::uint64_t step,
                             std::uint64_t end) {
  const auto& [batch, all] = *reinterpret_cast<const SimulatedRange*>(function);
  if (!batch.is_wanted()) return first;
  std::vector<std::int64_t> own(words, words + all.size());
  own[2] = static_cast<std::int64_t>(end);
  std::int64_t results[] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(step)};
  static_cast<const SimulatedKernel&>(*batch.kernel).code(batch.run, own.data(), results, nullptr);
  return static_cast<std::uint64_t>(results[0]);
}

/// Its memory is that of the process. What was never written there are bytes that make wrong results.
class HostCopies final : public CopyEngine {
 public:
  int allocate(std::uint64_t& address, std::size_t bytes) override {
    void* const memory = std::aligned_alloc(Arena::granule, bytes);
    if (memory == nullptr) return out_of_memory;
    std::memset(memory, unwritten, bytes);
    address = reinterpret_cast<std::uint64_t>(memory);
    return 0;
  }
  int free(std::uint64_t address) override { return std::free(reinterpret_cast<void*>(address)), 0; }
  int copy_in(std::uint64_t to, const void* from, std::size_t bytes) override {
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
  }
  int copy_out(void* to, std::uint64_t from, std::size_t bytes) override {
    return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), 0;
  }
  int copy_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) override {
    return copy_in(to, reinterpret_cast<const void*>(from), bytes);
  }
  int wait() override { return 0; }

 private:
  static constexpr int unwritten = 0xcb;
};

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

SimulatedDevices::SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs, std::size_t memory)
    : warps_(warps),
      costs_(costs),
      host_memory_(lines(superkernel::HostBlock::size_bytes(sizes_for(warps)))),
      device_memory_(lines(superkernel::DeviceBlock::size_bytes(sizes_for(warps)))),
      threads_(warps, compute_points),
      kernel_(sizes_for(warps), superkernel::HostBlock(sizes_for(warps), host_memory_.front().bytes),
              queues_of(sizes_for(warps), host_memory_.data(), device_memory_.data()), ever, threads_),
      memory_(memory, std::min(usual_chunk, memory / 4)) {}

SimulatedDevices::~SimulatedDevices() {
  for (std::jthread& copier : copiers_) copier.request_stop();
  copiers_.clear();
  HostCopies engine;
  memory_.give_back_chunks(engine);
}

void SimulatedDevices::prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry,
                               std::shared_ptr<vm::CompilerLink> compiler, Prepared done) {
  compiler->use([&](vm::KernelCompiler& given) {
    given.request(kernels, entry,
                  [done = std::move(done), lanes = std::int64_t{warps_} * lanes](raddle_leaf_function code) {
                    done(code ? std::make_shared<SimulatedKernel>(code, lanes) : nullptr);
                  });
  });
}

void SimulatedDevices::submit(vm::DeviceBatch batch) {
  load_.begin(batch);
  {
    const std::lock_guard lock(mutex_);
    try {
      while (copiers_.size() < warps_) copiers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {  // those there are do it
    }
    if (!copiers_.empty()) {
      batches_.push_back(std::move(batch));
      changed_.notify_one();
      return;
    }
  }
  load_.end(batch);
  batch.done({.is_lost = true});
}

void SimulatedDevices::work(const std::stop_token& stop) {
  HostCopies engine;
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !batches_.empty(); })) {
    const vm::DeviceBatch batch = std::move(batches_.front());
    batches_.pop_front();
    lock.unlock();
    run(batch, engine);
    lock.lock();
  }
}

void SimulatedDevices::run(const vm::DeviceBatch& batch, CopyEngine& engine) {
  const std::uint64_t begin = superkernel::now_ns();
  bool is_lost = false;
  const auto compute = [&](const vm::DeviceBatch& part, const std::vector<std::int64_t>& words,
                           std::uint64_t) -> std::expected<std::int64_t, int> {
    const auto count = static_cast<std::uint64_t>(part.count());
    SimulatedRange range{part, words};
    superkernel::QueueTask task = superkernel::task_of_points(count, warps_);
    task.function = reinterpret_cast<std::uint64_t>(&range);
    task.words = reinterpret_cast<std::uint64_t>(words.data());
    std::promise<std::optional<std::uint64_t>> told;
    kernel_.submit(task, [&told](std::optional<std::uint64_t> made) { told.set_value(made); });
    const std::optional<std::uint64_t> made = told.get_future().get();
    is_lost = !made;
    return static_cast<std::int64_t>(part.is_wanted() ? std::min(made.value_or(0), count) : 0);
  };
  const BatchRun done = run_batch(batch, memory_, engine, compute);
  load_.end(batch);
  const bool has_no_room = done.error != 0;
  if (has_no_room) {
    const std::lock_guard lock(mutex_);
    problem_ = "simulated: its memory has no room for what a part of a loop reads; workers have computed it";
  }
  batch.done({.made = is_lost ? 0 : done.made,
              .is_lost = is_lost,
              .has_no_room = has_no_room,
              .spent_ns = static_cast<std::int64_t>(superkernel::now_ns() - begin),
              .traffic = done.traffic});
}

std::string SimulatedDevices::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace raddle::gpu
