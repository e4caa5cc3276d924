#include "gpu/simulated/simulated_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <expected>
#include <future>
#include <optional>
#include <system_error>
#include <utility>

#include "gpu/memory/host_clocks.hpp"
#include "gpu/simulated/modelled_copies.hpp"
#include "vm/device/kernel_words.hpp"

namespace raddle::gpu {

namespace {

constexpr std::size_t usual_chunk = std::size_t{16} << 20;
constexpr std::uint32_t descriptors_log2 = 5;

class SimulatedKernel final : public vm::DeviceKernel {
 public:
  SimulatedKernel(raddle_leaf_function code, std::string name, std::int64_t lanes, std::int64_t ready_ns)
      : DeviceKernel(lanes), code(code), name(std::move(name)), ready_ns(ready_ns) {}
  const raddle_leaf_function code;
  const std::string name;       ///< of what it computes, in words
  const std::int64_t ready_ns;  ///< on the model's clock
};

const SimulatedKernel& kernel_of(const vm::DeviceBatch& batch) {
  return static_cast<const SimulatedKernel&>(*batch.kernel);
}

/// What stands for the function of its task.
struct SimulatedRange {
  const vm::DeviceBatch& batch;
  const std::vector<std::int64_t>& words;  ///< with addresses on the device
  /// That processors have taken for it, null: nobody asks. Relaxed: it is read when the task has been completed.
  std::atomic<std::int64_t>* host_ns;
};

/// A lane's points: words as a kernel takes them have the end in place of the number of points.
std::uint64_t compute_points(std::uint64_t function, const std::int64_t* words, std::uint64_t first, std::uint64_t step,
                             std::uint64_t end) {
  const auto& [batch, all, host_ns] = *reinterpret_cast<const SimulatedRange*>(function);
  if (!batch.is_wanted()) return first;
  std::vector<std::int64_t> own(words, words + all.size());
  own[2] = static_cast<std::int64_t>(end);
  std::int64_t results[] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(step)};
  const std::int64_t begun = host_ns ? processor_ns() : 0;
  kernel_of(batch).code(batch.run, own.data(), results, nullptr);
  if (host_ns) host_ns->fetch_add(processor_ns() - begun, std::memory_order_relaxed);
  return static_cast<std::uint64_t>(results[0]);
}

}  // namespace

SimulatedDevices::SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs, std::size_t memory,
                                   const std::string& policy)
    : SimulatedDevices(warps, costs, memory, 1, nullptr, {.policy = policy, .calls_ahead = usual_calls_ahead}) {}

SimulatedDevices::SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs, std::size_t memory, const Cards& cards,
                                   const std::string& policy)
    : SimulatedDevices(warps, costs, memory, cards.count,
                       std::make_unique<ModelClock>(cards.model, cards.count, cards.links),
                       {.policy = policy, .calls_ahead = cards.calls_ahead}) {}

SimulatedDevices::SimulatedDevices(unsigned warps, const vm::DeviceCosts& costs, std::size_t memory, unsigned cards,
                                   std::unique_ptr<ModelClock> clock, CallPlacing way)
    : warps_(warps), costs_(costs), clock_(std::move(clock)), kernel_(warps, descriptors_log2, compute_points) {
  for (unsigned card = 0; card < cards; ++card) memories_.emplace_back(memory, std::min(usual_chunk, memory / 4));
  for (CardMemory& memory : memories_) {
    std::vector<CardMemory*> others;
    for (CardMemory& other : memories_)
      if (&other != &memory) others.push_back(&other);
    if (clock_ && clock_->has_peers()) memory.take_from(std::move(others));
  }
  calls_.emplace(warps_, memories_, clock_.get(), std::move(way));
}

SimulatedDevices::~SimulatedDevices() {
  for (std::jthread& copier : copiers_) copier.request_stop();
  copiers_.clear();
  calls_.reset();
  HostCopies engine;
  for (CardMemory& memory : memories_) memory.give_back_chunks(engine);
}

std::string SimulatedDevices::name() const { return clock_ ? std::string(clock_->model().title) : "simulated"; }

std::vector<vm::DeviceFacts> SimulatedDevices::facts() const {
  std::vector<vm::DeviceFacts> all;
  for (const CardMemory& memory : memories_)
    all.push_back({name(), memory.limit(), clock_ ? static_cast<unsigned>(clock_->model().lanes) : warps_ * lanes});
  return all;
}

void SimulatedDevices::prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry,
                               std::shared_ptr<vm::CompilerLink> compiler, Prepared done) {
  if (clock_) clock_->open();
  compiler->use([&](vm::KernelCompiler& given) {
    given.request(kernels, entry,
                  [done = std::move(done), name = vm::words_of(kernels), clock = clock_.get(),
                   lanes = clock_ ? clock_->model().lanes : std::int64_t{warps_} * lanes](raddle_leaf_function code) {
                    if (code == nullptr) return done(std::unexpected(""));
                    done(std::make_shared<SimulatedKernel>(code, name, lanes, clock ? clock->load_kernel() : 0));
                  });
  });
}

void SimulatedDevices::submit(vm::DeviceBatch batch) {
  load_.begin(batch);
  const std::int64_t given_ns = clock_ ? clock_->give() : 0;
  {
    const std::lock_guard lock(mutex_);
    try {
      while (copiers_.size() < warps_) copiers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {  // those there are do it
    }
    if (!copiers_.empty()) {
      batches_.push_back({std::move(batch), given_ns});
      changed_.notify_one();
      return;
    }
  }
  load_.end(batch);
  if (clock_) clock_->drop();
  batch.done({.is_lost = true});
}

void SimulatedDevices::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !batches_.empty(); })) {
    const Given given = std::move(batches_.front());
    batches_.pop_front();
    lock.unlock();
    run(given);
    lock.lock();
  }
}

unsigned SimulatedDevices::card_for(const vm::DeviceBatch& batch) {
  const std::vector<Operand> reads = operands_read(batch);
  std::vector<MissingBytes> missing;
  for (CardMemory& memory : memories_) missing.push_back(memory.missing_bytes(reads));
  return clock_->take(missing).card;
}

void SimulatedDevices::run(const Given& given) {
  const vm::DeviceBatch& batch = given.batch;
  vm::DeviceOutcome outcome{.device = clock_ ? card_for(batch) : 0, .start_ns = steady_ns()};
  ModelledWork work;
  ModelledCopies engine(clock_.get(), outcome.device, std::max(given.given_ns, kernel_of(batch).ready_ns));
  const auto compute = [&](const vm::DeviceBatch& part, const std::vector<std::int64_t>& words,
                           std::uint64_t) -> std::expected<std::int64_t, int> {
    engine.wait();
    const auto count = static_cast<std::uint64_t>(part.count());
    std::atomic<std::int64_t> host_ns{0};
    SimulatedRange range{part, words, clock_ ? &host_ns : nullptr};
    std::promise<std::optional<std::uint64_t>> told;
    kernel_.submit(reinterpret_cast<std::uint64_t>(&range), words.data(), count,
                   [&told](std::optional<std::uint64_t> made) { told.set_value(made); });
    const std::optional<std::uint64_t> made = told.get_future().get();
    outcome.is_lost = !made;
    ++work.launches;
    work.host_ns += host_ns;
    work.longest_ns += host_ns / part.count();
    return static_cast<std::int64_t>(part.is_wanted() ? std::min(made.value_or(0), count) : 0);
  };
  BatchRun done = run_batch(batch, memories_[outcome.device], engine, compute);
  load_.end(batch);
  outcome.made = outcome.is_lost ? 0 : done.made;
  outcome.has_no_room = done.error != 0;
  outcome.traffic = work.traffic = done.traffic;
  outcome.spent_ns = steady_ns() - outcome.start_ns;
  outcome.computing_start_ns = done.computing_start_ns;
  outcome.computing_ns = done.computing_ns;
  if (clock_) {
    const auto passed =
        clock_->end(outcome.device, std::max({engine.from_ns(), engine.done_ns(), done.ready_ns}), work);
    const std::int64_t begin_ns = engine.begun_ns().value_or(passed.begin_ns);
    outcome.start_ns = clock_->on_host(begin_ns);
    outcome.spent_ns = passed.end_ns - begin_ns;
    outcome.computing_start_ns = clock_->on_host(passed.begin_ns);
    outcome.computing_ns = passed.computed_ns - passed.begin_ns;
    engine.note_results(work.traffic.bytes_down, passed);
  }
  outcome.transfers = engine.take_transfers();
  if (outcome.has_no_room) {
    const std::lock_guard lock(mutex_);
    problem_ = fmt::format("{}: its memory has no room for what {} reads at once; workers have computed it", name(),
                           kernel_of(batch).name);
  }
  batch.done(outcome);
}

std::string SimulatedDevices::problem() const {
  if (const std::string of_calls = calls_->problem(); !of_calls.empty()) return fmt::format("{}: {}", name(), of_calls);
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace raddle::gpu
