#include "gpu/simulated/simulated_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <expected>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "gpu/call_operands.hpp"
#include "gpu/memory/host_clocks.hpp"
#include "gpu/simulated/modelled_copies.hpp"
#include "vm/foreign/crash_notice.hpp"
#include "vm/foreign/foreign_code.hpp"

namespace raddle::gpu {

namespace {

constexpr std::int64_t lanes_of_warp = 32;
constexpr vm::Links unknown_links = {.to_device = 10'000'000'000, .to_host = 10'000'000'000};

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

SimulatedCalls::SimulatedCalls(unsigned warps, std::deque<CardMemory>& memories, ModelClock* clock, CallPlacing way)
    : warps_(warps), memories_(memories), clock_(clock) {
  std::vector<std::shared_ptr<CardMemory>> all;
  for (CardMemory& memory : memories) all.emplace_back(std::shared_ptr<void>{}, &memory);  // which owns nothing
  way.links = clock ? clock->links() : unknown_links;
  queue_.place_by(std::move(way), std::move(all));
}

SimulatedCalls::~SimulatedCalls() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void SimulatedCalls::prepare(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler,
                             const vm::Devices::Prepared& done) {
  vm::tell_of_crashes();
  if (clock_) clock_->open();
  const auto code = compiler.load(function);
  if (!code) return done(std::unexpected("it can not be compiled"));  // why says the call, which fails
  const auto kernel = std::make_shared<SimulatedAppKernel>(function.name, *code,
                                                           clock_ ? clock_->model().lanes : warps_ * lanes_of_warp,
                                                           clock_ ? clock_->load_kernel() : 0);
  // what no GPU would take does not go here, either
  compiler.request_ptx(function, [kernel, done](const std::expected<std::string, std::string>& ptx) {
    if (!ptx) return done(std::unexpected(ptx.error()));
    done(kernel);
  });
}

void SimulatedCalls::submit(vm::DeviceCall call) {
  const std::int64_t now_ns = clock_ ? clock_->give() : steady_ns();
  {
    const std::lock_guard lock(mutex_);
    try {
      while (threads_.size() < warps_) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {  // those there are do it
    }
    if (!threads_.empty()) return queue_.push(std::move(call), now_ns);
  }
  if (clock_) clock_->drop();
  vm::tell(std::array{vm::EndedCall{&call, {.is_lost = true}}});
}

void SimulatedCalls::work(const std::stop_token& stop) {
  const auto askers = [this] { return clock_ ? clock_->askers() : std::vector<unsigned>{0}; };
  while (true) {
    const CallBundle bundle = queue_.take(stop, askers, clock_ ? CallQueue::most_calls : 1);
    if (bundle.calls.empty()) return;
    run(bundle);
  }
}

void SimulatedCalls::run(const CallBundle& bundle) {
  ModelClock::Taken taken{.card = bundle.card.value_or(0)};
  if (clock_) taken = bundle.card ? clock_->take_on(taken.card) : clock_->take();
  if (bundle.card) taken.now_ns = bundle.given_ns;
  std::vector<vm::EndedCall> ended;
  for (const vm::DeviceCall& call : bundle.calls) ended.push_back({&call, {.device = taken.card}});
  const bool has_run = run_there(taken, bundle.card.has_value(), bundle.calls, ended);
  queue_.end(bundle, has_run);
  vm::tell(ended);
}

/// As one launch, or by halves if the card has no room. @return false: it has none for one of the calls
bool SimulatedCalls::run_there(const ModelClock::Taken& taken, bool is_placed, std::span<const vm::DeviceCall> calls,
                               std::span<vm::EndedCall> ended) {
  const std::int64_t begun_ns = steady_ns();
  const std::vector<Operand> reads = large_operands(calls, &vm::DeviceCall::read);
  const std::vector<Operand> results = large_operands(calls, &vm::DeviceCall::filled);
  const bool has_large = !reads.empty() || !results.empty();
  const std::int64_t from_ns = std::max({taken.now_ns, taken.bundle_ns, app_kernel_of(calls.front()).ready_ns});
  ModelledCopies engine(clock_, taken.card, from_ns);
  for (const vm::DeviceCall& call : calls) engine.add(call.words.size_bytes() + bytes_of(call.read));
  std::expected<CardMemory::Hold, int> hold;
  if (has_large) hold = memories_[taken.card].admit(reads, results, engine);
  if (!hold && calls.size() > 1) {
    const std::size_t half = calls.size() / 2;
    const bool has_first = run_there(taken, is_placed, calls.first(half), ended.first(half));
    ModelClock::Taken rest = taken;
    if (clock_) rest.bundle_ns = clock_->take_on(taken.card).bundle_ns;
    return run_there(rest, is_placed, calls.subspan(half), ended.subspan(half)) && has_first;
  }
  ModelledWork work{.is_bundle = true};
  std::vector<std::size_t> made;
  vm::DeviceOutcome ahead;
  std::int64_t computing_ns = 0, computing_start_ns = 0;
  if (hold) {
    engine.wait();
    if (is_placed) ahead = load_ahead(taken.card, engine.begun_ns().value_or(from_ns));
    work.traffic = hold->traffic;
    computing_start_ns = steady_ns();
    run_calls(calls, *hold, results, ended, work, made, engine);
    computing_ns = steady_ns() - computing_start_ns;
  } else {
    note_lack_of_room(calls.front());
    ended.front().outcome.has_no_room = true;
  }
  ModelClock::Passed passed{begun_ns, steady_ns()};
  if (clock_) {
    const std::int64_t ready_ns = hold ? std::max(engine.done_ns(), hold->ready_ns) : from_ns;
    const auto ends = clock_->end(taken.card, ready_ns, work, static_cast<std::int64_t>(calls.size()));
    passed = {engine.begun_ns().value_or(ends.begin_ns), ends.end_ns};
    computing_start_ns = clock_->on_host(ends.begin_ns);
    computing_ns = ends.computed_ns - ends.begin_ns;
    engine.note_results(work.traffic.bytes_down, ends);
  }
  if (hold && has_large) memories_[taken.card].release(std::move(*hold), made, passed.end_ns);
  for (vm::EndedCall& call : ended) {
    call.outcome.start_ns = clock_ ? clock_->on_host(passed.begin_ns) : begun_ns;
    call.outcome.spent_ns = passed.end_ns - passed.begin_ns;
    call.outcome.computing_start_ns = computing_start_ns;
    call.outcome.computing_ns = computing_ns;
  }
  vm::DeviceOutcome& first = ended.front().outcome;
  first.traffic = work.traffic;
  first.traffic += ahead.traffic;
  first.transfers = engine.take_transfers();
  std::ranges::copy(ahead.transfers, std::back_inserter(first.transfers));
  return hold.has_value();
}

/// What the card's next calls read. @param from_ns  by the model's clock
vm::DeviceOutcome SimulatedCalls::load_ahead(unsigned card, std::int64_t from_ns) {
  ModelledCopies engine(clock_, card, from_ns);
  vm::DeviceOutcome ahead{.traffic = queue_.load_ahead(card, memories_[card], engine).value_or(vm::DeviceTraffic{})};
  ahead.transfers = engine.take_transfers();
  return ahead;
}

/// @param results  that are large, of all calls  @param made  gets how much of each the host has then
void SimulatedCalls::run_calls(std::span<const vm::DeviceCall> calls, const CardMemory::Hold& hold,
                               std::span<const Operand> results, std::span<vm::EndedCall> ended, ModelledWork& work,
                               std::vector<std::size_t>& made, CopyEngine& engine) {
  std::size_t next_read = 0;
  work.launches = 1;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const vm::DeviceCall& call = calls[i];
    const std::size_t first_result = made.size();
    bool is_made = false;
    {
      const WordsOnCard words(call, std::span(hold.reads).subspan(next_read),
                              std::span(hold.results).subspan(first_result));
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
      engine.copy_out(const_cast<void*>(results[result].host), hold.results[result], made[result]);
    }
    work.traffic.bytes_up += call.words.size_bytes() + bytes_of(call.read);
    work.traffic.bytes_down += call.words.size_bytes() + bytes_of(call.filled);
  }
  note_results(results, made, work.traffic);
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
