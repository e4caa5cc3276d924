// Opening the driver and the cards, and loading kernels on them.
#include "gpu/cuda/cuda_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace raddle::gpu {

namespace {

constexpr unsigned call_threads_of_card = 4;

/// What a compiler is given: it may end without an answer.
class Answer {
 public:
  using Take = std::function<void(std::optional<std::string> ptx)>;  ///< none: there is no answer
  explicit Answer(Take take) : take_(std::move(take)) {}
  ~Answer() {
    if (take_) take_(std::nullopt);
  }
  void give(const std::string& ptx) { std::exchange(take_, nullptr)(ptx); }

 private:
  Take take_;
};

}  // namespace

CudaDevices::State::~State() {
  for (std::vector<std::jthread>& of_card : threads)
    for (std::jthread& thread : of_card) thread.request_stop();
  threads.clear();  // they use all else
}

/// The library, not the driver. @return why there is none, in words; "": it is there
std::string CudaDevices::State::load() {
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
std::expected<unsigned, std::string> CudaDevices::State::open_cards() {
  const std::expected<unsigned, std::string> count = driver->begin();
  std::string fault = count ? "" : count.error();
  std::vector<std::unique_ptr<Card>> opened;
  for (unsigned i = 0; count && i < std::min(*count, most); ++i) {
    auto card = Card::open(*driver, i, limits);
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
  threads.resize(cards.size());
  working = static_cast<unsigned>(cards.size());
  bool has_threads = false;
  try {
    for (unsigned i = 0; i < cards.size() * threads_of_card; ++i) {
      const unsigned number = i / threads_of_card, thread = i % threads_of_card;
      threads[number].emplace_back([this, number, thread](const std::stop_token& stop) { work(stop, number, thread); });
      has_threads = true;
    }
  } catch (const std::system_error& error) {  // those there are do it
    fault = error.what();
    if (!has_threads) cards.clear(), working = 0;
  }
  if (cards.empty() && !fault.empty()) return std::unexpected(fault);
  return count;
}

/// It keeps the state: nobody need wait for the opening, which may take long.
void CudaDevices::State::start_opener(const std::shared_ptr<State>& state) {
  const std::lock_guard lock(state->mutex);
  if (state->opener.joinable()) return;
  state->is_opening = !state->is_open;
  state->opener = std::jthread([state](const std::stop_token& stop) { state->do_loads(stop); });
}

void CudaDevices::State::do_loads(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  if (is_opening) {
    lock.unlock();
    static_cast<void>(open_cards());  // without cards nothing loads
    lock.lock();
    is_opening = false;
    if (is_left) return;
  }
  while (changed.wait(lock, stop, [this] { return !loads.empty(); })) {
    const std::function<void()> load = std::move(loads.front());
    loads.pop_front();
    lock.unlock();
    load();
    lock.lock();
  }
}

void CudaDevices::State::add_load(std::function<void()> load) {
  const std::lock_guard lock(mutex);
  loads.push_back(std::move(load));
  changed.notify_all();
}

/// @return whether there are any
bool CudaDevices::State::start_call_threads() {
  const std::lock_guard lock(mutex);
  if (has_call_threads) return true;
  try {
    for (unsigned i = 0; i < cards.size() * call_threads_of_card; ++i) {
      const unsigned number = i / call_threads_of_card;
      if (failed[number]) continue;
      threads[number].emplace_back([this, number](const std::stop_token& stop) { work_on_calls(stop, number); });
      has_call_threads = true;
    }
  } catch (const std::system_error&) {  // those there are do it
  }
  return has_call_threads;
}

/// Loads it on the cards. Where a super kernel stays it becomes one of its functions, if it has few registers.
void CudaDevices::State::load_text(const std::shared_ptr<Text>& text, const std::string& ptx) {
  for (const std::unique_ptr<Card>& card : cards) text->functions.push_back(card->load(ptx, vm::range_kernel_name));
  const bool is_light = std::ranges::all_of(
      text->functions, [](const CardFunction& function) { return function.registers <= ResidentCard::most_registers; });
  if (way != Way::resident || !is_light || kernel_of(text->functions) == nullptr)
    return text->done(kernel_of(std::move(text->functions)));
  bool is_first = false;
  {
    const std::lock_guard lock(mutex);
    is_first = for_super.empty();
    for_super.push_back(text);
  }
  if (is_first) make_next_super();
}

/// One after the other: what does not fit is left out of all that come later. On the thread that loads.
void CudaDevices::State::make_next_super() {
  std::vector<vm::RangeKernel> all;
  std::shared_ptr<Text> text;
  {
    const std::lock_guard lock(mutex);
    if (for_super.empty()) return;
    text = for_super.front();
    all = ranges;
    all.push_back({text->kernels, text->entry});
  }
  const auto answer = std::make_shared<Answer>([weak = weak_from_this()](std::optional<std::string> super) {
    if (const std::shared_ptr<State> state = weak.lock())
      state->add_load([own = state.get(), super = std::move(super)] { own->load_super(super); });
  });
  text->compiler->use([&](vm::KernelCompiler& compiler) {  // if its run has ended there is no answer
    compiler.request_super_ptx(all, [answer](const std::string& super) { answer->give(super); });
  });
}

/// Of the first one that is to become a function.
void CudaDevices::State::load_super(const std::optional<std::string>& ptx) {
  std::unique_lock lock(mutex);
  const std::shared_ptr<Text> text = std::move(for_super.front());
  for_super.pop_front();
  const std::size_t number = ranges.size();
  lock.unlock();
  bool is_function = false;
  for (std::size_t i = 0; i < cards.size() && ptx && !ptx->empty(); ++i) {
    const std::int64_t lanes = cards[i]->load_super(*ptx);
    if (lanes == 0) continue;
    text->functions[i].lanes = lanes;
    text->functions[i].number = number;
    is_function = true;
  }
  lock.lock();
  if (is_function)
    ranges.push_back({text->kernels, text->entry});
  else if (ptx && problem.empty())
    problem = "a loop does not fit into the super kernel of the GPU: it was launched by itself";
  lock.unlock();
  text->done(kernel_of(text->functions));
  make_next_super();
}

std::shared_ptr<const vm::DeviceKernel> CudaDevices::State::loaded_for_calls(const std::string& ptx) {
  std::vector<CardFunction> functions;
  for (const std::unique_ptr<Card>& card : cards) functions.push_back(card->load(ptx, vm::calls_kernel_name));
  return kernel_of(std::move(functions));
}

/// One that some card takes. Another one that does not fails when it is to run it: cards are taken to be alike.
std::shared_ptr<const vm::DeviceKernel> CudaDevices::State::kernel_of(std::vector<CardFunction> functions) {
  std::int64_t lanes = 0;
  for (const CardFunction& function : functions)
    if (function.function != nullptr) lanes = function.lanes;
  return lanes == 0 ? nullptr : std::make_shared<CudaKernel>(lanes, std::move(functions));
}

}  // namespace raddle::gpu
