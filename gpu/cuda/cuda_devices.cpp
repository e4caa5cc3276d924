#include "gpu/cuda/cuda_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "gpu/call_queue.hpp"
#include "gpu/cuda/card.hpp"
#include "vm/device/device_load.hpp"

namespace raddle::gpu {

namespace {

constexpr unsigned threads_of_card = ResidentCard::most_threads;
constexpr unsigned call_threads_of_card = 4;
constexpr std::int64_t batch_ns = 100'000;      // copies, a launch, two waits
constexpr std::int64_t start_ns = 400'000'000;  // driver, context, PTX by LLVM, code by the driver
constexpr int out_of_memory = 2;                // CUDA_ERROR_OUT_OF_MEMORY: the card is well

class CudaKernel final : public vm::DeviceKernel {
 public:
  /// @param functions  by card; at least one. Cards of one machine are taken to be alike
  explicit CudaKernel(std::vector<CardFunction> functions)
      : DeviceKernel(functions.front().lanes, functions.size()), functions(std::move(functions)) {}
  const std::vector<CardFunction> functions;
};

using Clock = std::chrono::steady_clock;
using Done = std::function<void(std::shared_ptr<const vm::DeviceKernel>)>;

}  // namespace

struct CudaDevices::State {
  State(unsigned most, Way way, std::string library) : most(most), way(way), library(std::move(library)) {}
  ~State() {
    opener.request_stop();
    if (opener.joinable()) opener.join();  // it starts some of the threads
    for (std::jthread& thread : threads) thread.request_stop();
    threads.clear();  // they use all below
  }

  struct Text {
    std::string ptx;
    Done done;
    std::string super{};       ///< the super kernel in which it is a function; "": there is none
    std::uint64_t number = 0;  ///< of the function
  };

  const unsigned most;
  const Way way;
  const std::string library;
  std::once_flag loading;
  std::optional<CudaDriver> driver;  ///< written once, under `loading`

  mutable std::mutex mutex;  ///< guards all below, but what says otherwise
  std::condition_variable_any changed;
  std::deque<std::function<void()>> loads;  ///< to be done once the cards are open
  std::vector<vm::RangeKernel> ranges;      ///< functions of the next super kernel
  std::deque<vm::DeviceBatch> batches;
  CallQueue calls;  ///< has a mutex of its own
  bool has_call_threads = false;
  std::vector<std::unique_ptr<Card>> cards;  ///< changed by open_cards() only, before the first batch
  std::vector<bool> failed;                  ///< by card
  bool is_open = false;
  std::string problem;
  vm::DeviceLoad load_of_cards;       ///< any thread, without the mutex
  std::atomic<unsigned> working = 0;  ///< cards that have not failed; relaxed, as what it decides is tried again
  std::vector<std::jthread> threads;
  std::jthread opener;  ///< last: uses all of the above

  /// The library, not the driver. @return why there is none, in words; "": it is there
  std::string load() {
    std::string fault;
    std::call_once(loading, [&] {
      if (auto found = CudaDriver::load(library))
        driver = *found;
      else
        fault = found.error();
    });
    return driver ? "" : fault.empty() ? "there is no driver" : fault;
  }

  /// Once. @return of how many cards there are
  std::expected<unsigned, std::string> open_cards() {
    const std::expected<unsigned, std::string> count = driver->begin();
    std::string fault = count ? "" : count.error();
    std::vector<std::unique_ptr<Card>> opened;
    for (unsigned i = 0; count && i < std::min(*count, most); ++i) {
      auto card = Card::open(*driver, i);
      const int error = card && way == Way::resident ? (*card)->make_resident() : 0;
      if (card && error == 0)
        opened.push_back(std::move(*card));
      else
        fault = card ? driver->text_of(error) : card.error();
    }
    const std::lock_guard lock(mutex);
    is_open = true;
    cards = std::move(opened);
    failed.resize(cards.size());
    working.store(static_cast<unsigned>(cards.size()), std::memory_order_relaxed);
    try {
      for (unsigned i = 0; i < cards.size() * threads_of_card; ++i)
        threads.emplace_back(
            [this, i](const std::stop_token& stop) { work(stop, i / threads_of_card, i % threads_of_card); });
    } catch (const std::system_error& error) {  // those there are do it
      fault = error.what();
      if (threads.empty()) cards.clear();
    }
    if (cards.empty() && !fault.empty()) return std::unexpected(fault);
    return count;
  }

  bool is_opened() const {
    const std::lock_guard lock(mutex);
    return is_open;
  }

  /// Of which super kernel the kernel will be a function. @param number  becomes that of the function
  std::vector<vm::RangeKernel> ranges_with(const vm::KernelGroup& kernels, vm::KernelEntry entry,
                                           std::uint64_t& number) {
    const std::lock_guard lock(mutex);
    number = ranges.size();
    ranges.push_back({kernels, entry});
    return ranges;
  }

  void start_opener() {
    const std::lock_guard lock(mutex);
    if (!opener.joinable()) opener = std::jthread([this](const std::stop_token& stop) { do_loads(stop); });
  }

  void do_loads(const std::stop_token& stop) {
    if (!is_opened()) static_cast<void>(open_cards());  // without cards nothing loads
    while (true) {
      std::unique_lock lock(mutex);
      if (!changed.wait(lock, stop, [this] { return !loads.empty(); })) return;
      const std::function<void()> load = std::move(loads.front());
      loads.pop_front();
      lock.unlock();
      load();
    }
  }

  void add_load(std::function<void()> load) {
    const std::lock_guard lock(mutex);
    loads.push_back(std::move(load));
    changed.notify_all();
  }

  /// @return whether there are any
  bool start_call_threads() {
    const std::lock_guard lock(mutex);
    if (has_call_threads) return true;
    try {
      for (unsigned i = 0; i < cards.size() * call_threads_of_card; ++i) {
        threads.emplace_back([this, i](const std::stop_token& stop) { work_on_calls(stop, i / call_threads_of_card); });
        has_call_threads = true;
      }
    } catch (const std::system_error&) {  // those there are do it
    }
    return has_call_threads;
  }

  std::shared_ptr<const vm::DeviceKernel> loaded(const Text& text) {
    std::vector<CardFunction> functions;
    for (const std::unique_ptr<Card>& card : cards) {
      CardFunction& function = functions.emplace_back(card->load(text.ptx, vm::range_kernel_name));
      if (text.super.empty() || function.registers > ResidentCard::most_registers) continue;
      const std::int64_t lanes = card->load_super(text.super);
      if (lanes == 0) continue;
      function.lanes = lanes;
      function.number = text.number;
    }
    return kernel_of(std::move(functions));
  }

  std::shared_ptr<const vm::DeviceKernel> loaded_for_calls(const std::string& ptx) {
    std::vector<CardFunction> functions;
    for (const std::unique_ptr<Card>& card : cards) functions.push_back(card->load(ptx, vm::calls_kernel_name));
    return kernel_of(std::move(functions));
  }

  static std::shared_ptr<const vm::DeviceKernel> kernel_of(std::vector<CardFunction> functions) {
    const bool runs = !functions.empty() && std::ranges::all_of(functions, &CardFunction::function);
    return runs ? std::make_shared<CudaKernel>(std::move(functions)) : nullptr;
  }

  void work(const std::stop_token& stop, unsigned number, unsigned thread) {
    void* const stream = cards[number]->open_stream();
    while (true) {
      std::unique_lock lock(mutex);
      if (!changed.wait(lock, stop, [this] { return !batches.empty(); })) break;
      const vm::DeviceBatch batch = std::move(batches.front());
      batches.pop_front();
      lock.unlock();
      run(number, thread, batch, stream);
    }
    if (stream != nullptr) cards[number]->close_stream(stream);
  }

  void run(unsigned number, unsigned thread, const vm::DeviceBatch& batch, void* stream) {
    const Clock::time_point begin = Clock::now();
    vm::DeviceOutcome outcome{.is_lost = true, .device = number};
    if (stream != nullptr && batch.is_wanted() && !has_failed(number)) {
      const auto& kernel = static_cast<const CudaKernel&>(*batch.kernel);
      const std::expected<std::int64_t, int> made = cards[number]->run(batch, kernel.functions[number], stream, thread);
      outcome.is_lost = !made;
      outcome.made = made.value_or(0);
      if (!made) note_problem(number, made.error());
    }
    for (const std::unique_ptr<Card>& card : cards) card->forget(batch);
    if (stream != nullptr) cards[number]->free_forgotten(stream);
    load_of_cards.end(batch);
    outcome.spent_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    batch.done(outcome);
  }

  void work_on_calls(const std::stop_token& stop, unsigned number) {
    void* const stream = cards[number]->open_stream();
    while (true) {
      const std::vector<vm::DeviceCall> bundle = calls.take(stop);
      if (bundle.empty()) break;
      run(number, bundle, stream);
      if (stream != nullptr) cards[number]->free_forgotten(stream);
    }
    if (stream != nullptr) cards[number]->close_stream(stream);
  }

  /// Halves of what the card has no room for.
  void run(unsigned number, std::span<const vm::DeviceCall> bundle, void* stream) {
    const Clock::time_point begin = Clock::now();
    const auto tell = [&](const vm::DeviceCall& call, vm::DeviceOutcome outcome) {
      outcome.device = number;
      outcome.spent_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
      for (const std::unique_ptr<Card>& card : cards) card->forget(call);
      call.done(outcome);  // whoever is told frees what the call is made of
    };
    if (stream == nullptr || has_failed(number) || std::ranges::none_of(bundle, &vm::DeviceCall::is_wanted)) {
      for (const vm::DeviceCall& call : bundle) tell(call, {.is_lost = true});
      return;
    }
    const auto& kernel = static_cast<const CudaKernel&>(*bundle.front().kernel);
    const auto statuses = cards[number]->run(bundle, kernel.functions[number], stream);
    if (!statuses && statuses.error() == out_of_memory && bundle.size() > 1) {
      run(number, bundle.first(bundle.size() / 2), stream);
      return run(number, bundle.subspan(bundle.size() / 2), stream);
    }
    if (!statuses) note_problem(number, statuses.error());
    for (std::size_t i = 0; i < bundle.size(); ++i)
      tell(bundle[i], {.made = statuses && (*statuses)[i] == 0 ? 1 : 0, .is_lost = !statuses});
  }

  bool has_failed(unsigned number) const {
    const std::lock_guard lock(mutex);
    return failed[number];
  }

  void note_problem(unsigned number, int error) {
    const std::lock_guard lock(mutex);
    if (problem.empty())
      problem = fmt::format("{}: {}; workers have computed what it was given", cards[number]->facts().name,
                            error == ResidentCard::lost ? "its super kernel answers no more" : driver->text_of(error));
    if (error == out_of_memory || failed[number]) return;
    failed[number] = true;
    working.fetch_sub(1, std::memory_order_relaxed);
  }
};

CudaDevices::CudaDevices(unsigned most, vm::DeviceTakes takes, Way way, std::string library)
    : takes_(takes), state_(std::make_shared<State>(most, way, std::move(library))) {}

CudaDevices::~CudaDevices() = default;

std::expected<unsigned, std::string> CudaDevices::open() {
  if (const std::string fault = state_->load(); !fault.empty()) return std::unexpected(fault);
  return state_->open_cards();
}

void CudaDevices::prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry, vm::KernelCompiler& compiler,
                          Done done) {
  if (!state_->load().empty()) return done(nullptr);
  try {
    state_->start_opener();
  } catch (const std::system_error&) {
    return done(nullptr);
  }
  // the compiler may live longer than this
  const auto text = std::make_shared<State::Text>(State::Text{"", std::move(done)});
  const auto load = [state = std::weak_ptr(state_), text] {
    const std::shared_ptr<State> found = state.lock();
    if (!found || text->ptx.empty()) return text->done(nullptr);
    found->add_load([state = found.get(), text] { text->done(state->loaded(*text)); });
  };
  const bool is_resident = state_->way == Way::resident;
  compiler.request_ptx(kernels, entry, [text, load, is_resident](std::string ptx) {
    text->ptx = std::move(ptx);
    if (!is_resident) load();
  });
  if (is_resident)  // answered after the request before it
    compiler.request_super_ptx(state_->ranges_with(kernels, entry, text->number), [text, load](std::string super) {
      text->super = std::move(super);
      load();
    });
}

void CudaDevices::prepare_calls(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler,
                                PreparedCalls done) {
  if (const std::string fault = state_->load(); !fault.empty()) return done(std::unexpected(fault));
  try {
    state_->start_opener();
  } catch (const std::system_error& error) {
    return done(std::unexpected(error.what()));
  }
  // the compiler may live longer than this
  compiler.request_ptx(function, [state = std::weak_ptr(state_),
                                  done = std::move(done)](const std::expected<std::string, std::string>& ptx) {
    const std::shared_ptr<State> found = state.lock();
    if (!found) return;
    if (!ptx) return done(std::unexpected(ptx.error()));
    found->add_load([state = found.get(), ptx = *ptx, done] {
      std::shared_ptr<const vm::DeviceKernel> kernel = state->loaded_for_calls(ptx);
      if (kernel == nullptr || !state->start_call_threads()) return done(std::unexpected("no GPU takes its code"));
      done(std::move(kernel));
    });
  });
}

void CudaDevices::submit(vm::DeviceCall call) {
  for (const std::unique_ptr<Card>& card : state_->cards) card->expect(call);
  state_->calls.push(std::move(call));
}

void CudaDevices::submit(vm::DeviceBatch batch) {
  for (const std::unique_ptr<Card>& card : state_->cards) card->expect(batch);
  state_->load_of_cards.begin(batch);
  const std::lock_guard lock(state_->mutex);
  state_->batches.push_back(std::move(batch));
  state_->changed.notify_all();
}

bool CudaDevices::is_hungry() const {
  return state_->load_of_cards.is_below(state_->working.load(std::memory_order_relaxed), threads_of_card);
}

vm::DeviceCosts CudaDevices::costs() const { return {.batch_ns = batch_ns, .start_ns = start_ns, .takes = takes_}; }

std::vector<vm::DeviceFacts> CudaDevices::facts() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<vm::DeviceFacts> all;
  for (const std::unique_ptr<Card>& card : state_->cards) all.push_back(card->facts());
  return all;
}

std::string CudaDevices::problem() const {
  const std::lock_guard lock(state_->mutex);
  return state_->problem;
}

}  // namespace raddle::gpu
