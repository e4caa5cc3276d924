#include "gpu/simulated/simulated_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "gpu/call_operands.hpp"
#include "gpu/simulated/host_clocks.hpp"
#include "gpu/simulated/host_copies.hpp"
#include "vm/foreign/crash_notice.hpp"
#include "vm/foreign/foreign_code.hpp"

namespace raddle::gpu {

namespace {

constexpr std::int64_t lanes_of_warp = 32;

class SimulatedAppKernel final : public vm::DeviceKernel {
 public:
  SimulatedAppKernel(std::string name, vm::AppKernelCode code, std::int64_t lanes, std::int64_t ready_ns)
      : DeviceKernel(lanes), name(std::move(name)), code(code), ready_ns(ready_ns) {}
  const std::string name;  ///< of the function
  const vm::AppKernelCode code;
  const std::int64_t ready_ns;  ///< on the model's clock
};

const SimulatedAppKernel& app_kernel_of(const vm::DeviceCall& call) {
  return static_cast<const SimulatedAppKernel&>(*call.kernel);
}

/// While it is there the words have the addresses of large arrays on the card.
class WordsOnCard {
 public:
  /// @param reads, results  of the large arrays from this call's on
  WordsOnCard(const vm::DeviceCall& call, std::span<const std::uint64_t> reads, std::span<const std::uint64_t> results)
      : call_(call), words_(call.words.begin(), call.words.end()) {
    for (const vm::AddressedMemory& memory : call.read)
      if (is_large(memory)) call.words[memory.word] = reads[reads_++];
    for (const vm::AddressedMemory& memory : call.filled) {
      if (!is_large(memory)) continue;
      call.words[memory.word] = results[results_++];
      std::memset(reinterpret_cast<void*>(call.words[memory.word]), 0, memory.size_bytes);
    }
  }
  ~WordsOnCard() {
    for (const auto& arrays : {call_.read, call_.filled})
      for (const vm::AddressedMemory& memory : arrays) call_.words[memory.word] = words_[memory.word];
  }
  std::size_t reads() const { return reads_; }  ///< large arrays
  std::size_t results() const { return results_; }

 private:
  const vm::DeviceCall& call_;
  const std::vector<std::uint64_t> words_;
  std::size_t reads_ = 0, results_ = 0;
};

/// As AppKernelFunction does. @return whether it has ended well
bool makes(const vm::DeviceCall& call) {
  if (!call.is_wanted()) return false;
  std::array<char, 256> thrown{};
  const std::int64_t status = app_kernel_of(call).code(call.words.data(), thrown.data(), thrown.size());
  vm::write_output_of_c();
  return status == 0 && thrown[0] == 0;
}

/// Without large arrays.
std::uint64_t bytes_of(std::span<const vm::AddressedMemory> all) {
  std::uint64_t bytes = 0;
  for (const vm::AddressedMemory& memory : all) bytes += is_large(memory) ? 0 : memory.size_bytes;
  return bytes;
}

}  // namespace

SimulatedCalls::~SimulatedCalls() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void SimulatedCalls::prepare(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler,
                             const vm::Devices::Prepared& done) {
  vm::tell_of_crashes();
  if (clock_) clock_->open();
  const auto code = compiler.load(function);
  if (!code) return done(std::unexpected("it can not be compiled"));  // why says the call, which fails
  const auto kernel = std::make_shared<SimulatedAppKernel>(
      function.name, *code, clock_ ? clock_->model().lanes : warps_ * lanes_of_warp, clock_ ? clock_->load_kernel() : 0);
  // what no GPU would take does not go here, either
  compiler.request_ptx(function, [kernel, done](const std::expected<std::string, std::string>& ptx) {
    if (!ptx) return done(std::unexpected(ptx.error()));
    done(kernel);
  });
}

void SimulatedCalls::submit(vm::DeviceCall call) {
  if (clock_) clock_->give();
  {
    const std::lock_guard lock(mutex_);
    try {
      while (threads_.size() < warps_) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {  // those there are do it
    }
    if (!threads_.empty()) return queue_.push(std::move(call));
  }
  if (clock_) clock_->drop();
  vm::tell(std::array{vm::EndedCall{&call, {.is_lost = true}}});
}

void SimulatedCalls::work(const std::stop_token& stop) {
  while (true) {
    const std::vector<vm::DeviceCall> calls = queue_.take(stop, clock_ ? CallQueue::most_calls : 1);
    if (calls.empty()) return;
    run(calls);
  }
}

void SimulatedCalls::run(const std::vector<vm::DeviceCall>& bundle) {
  const std::int64_t begun = steady_ns();
  const auto [card, now] = clock_ ? clock_->take() : ModelClock::Taken{};
  ModelledWork work;
  std::vector<vm::EndedCall> ended;
  for (const vm::DeviceCall& call : bundle) ended.push_back({&call, {.device = card, .start_ns = begun}});
  run_there(card, bundle, ended, work);
  ModelClock::Passed passed{begun, begun};
  if (clock_) {
    const std::int64_t from = std::max(now, app_kernel_of(bundle.front()).ready_ns);
    passed = clock_->end(card, from, work, static_cast<std::int64_t>(bundle.size()));
  }
  for (vm::EndedCall& call : ended) {
    call.outcome.start_ns = clock_ ? clock_->on_host(passed.begin_ns) : begun;
    call.outcome.spent_ns = clock_ ? passed.end_ns - passed.begin_ns : steady_ns() - begun;
  }
  ended.front().outcome.traffic = work.traffic;
  vm::tell(ended);
}

/// As one launch, or by halves if the card has no room.
void SimulatedCalls::run_there(unsigned card, std::span<const vm::DeviceCall> bundle, std::span<vm::EndedCall> ended,
                               ModelledWork& work) {
  const std::vector<Operand> reads = large_operands(bundle, &vm::DeviceCall::read);
  const std::vector<Operand> results = large_operands(bundle, &vm::DeviceCall::filled);
  HostCopies engine;
  std::optional<CardMemory::Hold> hold;
  if (!reads.empty() || !results.empty()) {
    auto admitted = memories_[card].admit(reads, results, engine);
    if (!admitted && bundle.size() > 1) {
      const std::size_t half = bundle.size() / 2;
      run_there(card, bundle.first(half), ended.first(half), work);
      return run_there(card, bundle.subspan(half), ended.subspan(half), work);
    }
    if (!admitted) {
      note_lack_of_room(bundle.front());
      ended.front().outcome.has_no_room = true;
      return;
    }
    hold = std::move(*admitted);
    work.traffic += hold->traffic;
  }
  ++work.launches;
  std::vector<std::size_t> made;
  std::size_t next_read = 0;
  for (std::size_t i = 0; i < bundle.size(); ++i) {
    const vm::DeviceCall& call = bundle[i];
    const std::span<const std::uint64_t> from = hold ? std::span(hold->reads) : std::span<std::uint64_t>{};
    const std::span<const std::uint64_t> to = hold ? std::span(hold->results) : std::span<std::uint64_t>{};
    const std::size_t first_result = made.size();
    bool is_made = false;
    {
      const WordsOnCard words(call, from.subspan(next_read), to.subspan(first_result));
      const std::int64_t begun = processor_ns();
      is_made = makes(call);
      const std::int64_t spent = processor_ns() - begun;
      work.host_ns += spent;
      work.longest_ns = std::max(work.longest_ns, spent / lanes_of_warp);
      next_read += words.reads();
      made.resize(first_result + words.results());
    }
    ended[i].outcome.made = is_made ? 1 : 0;
    for (std::size_t result = first_result; result < made.size(); ++result) {
      made[result] = is_made ? results[result].bytes : 0;
      engine.copy_out(const_cast<void*>(results[result].host), to[result], made[result]);
      work.traffic.bytes_down += made[result];
    }
    work.traffic.bytes_up += call.words.size_bytes() + bytes_of(call.read);
    work.traffic.bytes_down += call.words.size_bytes() + bytes_of(call.filled);
  }
  if (hold) memories_[card].release(std::move(*hold), made);
}

void SimulatedCalls::note_lack_of_room(const vm::DeviceCall& call) {
  const std::lock_guard lock(mutex_);
  problem_ = fmt::format("its memory has no room for what the AppKernel `{}` reads at once; workers have computed it",
                         app_kernel_of(call).name);
}

std::string SimulatedCalls::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace raddle::gpu
