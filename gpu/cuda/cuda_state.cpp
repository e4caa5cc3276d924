// Opening the driver and the cards, and loading kernels on them.
#include "gpu/cuda/cuda_state.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "gpu/server/remote_driver.hpp"
#include "vm/device/kernel_words.hpp"

namespace raddle::gpu {

namespace {

constexpr unsigned call_threads_of_card = 4;
/// From pageable memory, about: gpu/README.md, Models.
constexpr vm::Links host_links = {.to_device = 10'000'000'000, .to_host = 3'000'000'000, .latency_ns = 6'000};

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

/// Of some card that takes it; 0: of none. Another one that does not fails when it is to run it: cards are taken to be
/// alike.
std::int64_t lanes_of(const std::vector<CardFunction>& functions) {
  std::int64_t lanes = 0;
  for (const CardFunction& function : functions)
    if (function.function != nullptr) lanes = function.lanes;
  return lanes;
}

}  // namespace

CudaDevices::State::~State() {
  for (std::vector<std::jthread>& of_card : threads)
    for (std::jthread& thread : of_card) thread.request_stop();
  threads.clear();  // they use all else
}

/// Nobody wants anything any more: what is asked of drivers in other processes ends.
void CudaDevices::State::close() {
  const std::lock_guard lock(mutex);
  is_closing = true;
  for (const auto& driver : drivers) driver->stop();
  if (next_driver) next_driver->stop();
}

/// The library, not the driver. @return why there is none, in words; "": it is there
std::string CudaDevices::State::look_for_driver() {
  std::call_once(looking, [&] {
    if (const auto found = LoadedDriver::load(library); !found) absence = found.error();
  });
  return absence;
}

/// In a process of its own, or in this one. Nothing is begun.
std::expected<std::shared_ptr<const CudaDriver>, std::string> CudaDevices::State::open_driver() {
  std::shared_ptr<const CudaDriver> driver;
  if (server.path.empty()) {
    auto loaded = LoadedDriver::load(library);
    if (!loaded) return std::unexpected(loaded.error());
    driver = std::move(*loaded);
  } else {
    auto remote = RemoteDriver::start(server, library, limits.answer_ns);
    if (!remote) return std::unexpected(remote.error());
    driver = std::move(*remote);
  }
  const std::lock_guard lock(mutex);
  if (is_closing) return std::unexpected("nobody wants it any more");
  return next_driver = driver;
}

std::expected<std::unique_ptr<Card>, std::string> CudaDevices::State::open_card(const CudaDriver& driver,
                                                                                unsigned number) const {
  auto card = Card::open(driver, number, limits);
  if (!card || way != Way::resident) return card;
  if (const int error = (*card)->make_resident()) return std::unexpected(driver.text_of(error));
  return card;
}

/// Once. @return how many were opened, of which the problem says why they are not all
std::expected<unsigned, std::string> CudaDevices::State::open_cards() {
  auto driver = open_driver();
  const std::expected<unsigned, std::string> count = driver ? (*driver)->begin() : std::unexpected(driver.error());
  std::string fault = count ? "" : count.error();
  std::vector<std::shared_ptr<const CudaDriver>> begun;
  std::vector<std::unique_ptr<Card>> opened;
  std::vector<CardPlace> made;
  for (unsigned i = 0; count && i < std::min(*count, most); ++i) {
    if (i != 0) driver = open_driver();
    const auto begins = i == 0 ? count : driver ? (*driver)->begin() : std::unexpected(driver.error());
    auto card = begins ? open_card(**driver, i) : std::unexpected(begins.error());
    if (card)
      opened.push_back(std::move(*card)), begun.push_back(*driver), made.push_back({.device = i, .starts = 1});
    else
      fault = card.error();
  }
  const std::lock_guard lock(mutex);
  is_open = true;
  next_driver = nullptr;
  cards = std::move(opened);
  drivers = std::move(begun);
  for (const std::unique_ptr<Card>& card : cards) facts.push_back(card->facts());
  places = std::move(made);
  if (const std::string fault_of_threads = start_threads(); !fault_of_threads.empty()) fault = fault_of_threads;
  if (!fault.empty() && !is_closing) problem = cards.empty() ? fault + "; workers compute everything" : fault;
  if (cards.empty() && !fault.empty()) return std::unexpected(fault);
  return static_cast<unsigned>(cards.size());
}

/// Cards for which there is none are not there. @pre the mutex is held  @return why there are not all, in words; "":
/// all are there
std::string CudaDevices::State::start_threads() {
  std::string fault;
  threads.resize(cards.size());
  try {
    for (unsigned i = 0; i < cards.size() * threads_of_card; ++i) {
      const auto number = static_cast<unsigned>(i % cards.size()), thread = static_cast<unsigned>(i / cards.size());
      if (i == limits.threads) throw std::system_error(EAGAIN, std::generic_category());
      threads[number].emplace_back([this, number, thread](const std::stop_token& stop) { work(stop, number, thread); });
      ++places[number].threads;
    }
  } catch (const std::system_error& error) {
    fault = error.what();
  }
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(places, [](const CardPlace& place) { return place.threads != 0; }));  // the first ones
  cards.resize(count), drivers.resize(count), facts.resize(count), places.resize(count), threads.resize(count);
  working = static_cast<unsigned>(count);
  std::vector<std::shared_ptr<CardMemory>> memories;
  for (const std::unique_ptr<Card>& card : cards) memories.push_back(card->memory());
  calls.place_by({.policy = policy, .links = host_links}, std::move(memories));
  return fault;
}

/// It keeps the state.
void CudaDevices::State::start_opener(const std::shared_ptr<State>& state) {
  const std::lock_guard lock(state->mutex);
  if (!state->opener.joinable())
    state->opener = std::jthread([state](const std::stop_token& stop) { state->do_loads(stop); });
}

void CudaDevices::State::do_loads(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  if (!is_open) {
    lock.unlock();
    static_cast<void>(open_cards());  // without cards nothing loads
    lock.lock();
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

/// @return whether each card that works has one, as it may be the last one that does
bool CudaDevices::State::start_call_threads() {
  const std::lock_guard lock(mutex);
  try {
    for (unsigned i = 0; i < cards.size() * call_threads_of_card; ++i) {
      const auto number = static_cast<unsigned>(i % cards.size()), before = static_cast<unsigned>(i / cards.size());
      CardPlace& place = places[number];
      if (place.is_given_up || place.call_threads > before) continue;
      threads[number].emplace_back([this, number](const std::stop_token& stop) { work_on_calls(stop, number); });
      ++place.call_threads;
    }
  } catch (const std::system_error&) {  // those there are do it
  }
  return std::ranges::all_of(places,
                             [](const CardPlace& place) { return place.is_given_up || place.call_threads != 0; });
}

/// A process that ends meanwhile is started anew, and asked once more.
CardFunction CudaDevices::State::load(unsigned number, const std::string& ptx, const char* entry) {
  for (bool is_second = false;; is_second = true) {
    std::unique_lock lock(mutex);
    const bool is_down = places[number].is_down;
    lock.unlock();
    if (is_down) open_anew(number);
    lock.lock();
    if (places[number].is_given_up || places[number].is_down) return {};
    lock.unlock();
    const CardFunction function = cards[number]->load(ptx, entry);
    if (function.function != nullptr || is_second || !drivers[number]->is_gone()) return function;
    bring_down(number, CudaDriver::gone);
  }
}

/// Loads it on the cards. Where a super kernel stays it becomes one of its functions, if it has few registers.
void CudaDevices::State::load_text(const std::shared_ptr<Text>& text, const std::string& ptx) {
  text->ptx = ptx;
  for (unsigned i = 0; i < cards.size(); ++i) text->functions.push_back(load(i, ptx, vm::range_kernel_name));
  const bool is_light = std::ranges::all_of(
      text->functions, [](const CardFunction& function) { return function.registers <= ResidentCard::most_registers; });
  if (way != Way::resident || !is_light || lanes_of(text->functions) == 0)
    return text->done(kernel_of(vm::words_of(text->kernels), ptx, vm::range_kernel_name, std::move(text->functions)));
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
    const std::int64_t lanes = cards[i] ? cards[i]->load_super(*ptx) : 0;
    if (lanes == 0) continue;
    text->functions[i].lanes = lanes;
    text->functions[i].number = number;
    is_function = true;
  }
  lock.lock();
  if (is_function)
    ranges.push_back({text->kernels, text->entry}), super = *ptx;
  else if (ptx && problem.empty())
    problem = vm::words_of(text->kernels) + " does not fit into the super kernel of the GPU: it was launched by itself";
  lock.unlock();
  text->done(kernel_of(vm::words_of(text->kernels), text->ptx, vm::range_kernel_name, text->functions));
  make_next_super();
}

CudaDevices::State::LoadedKernel CudaDevices::State::loaded_for_calls(const std::string& name, const std::string& ptx) {
  std::vector<CardFunction> functions;
  for (unsigned i = 0; i < cards.size(); ++i) functions.push_back(load(i, ptx, vm::calls_kernel_name));
  return kernel_of(name, ptx, vm::calls_kernel_name, std::move(functions));
}

/// On the thread that loads.  @error  no card takes it, and why the first of them does not
CudaDevices::State::LoadedKernel CudaDevices::State::kernel_of(const std::string& name, const std::string& ptx,
                                                               const char* entry, std::vector<CardFunction> functions) {
  const std::int64_t lanes = lanes_of(functions);
  if (lanes == 0) {
    std::string why = "no GPU takes its code";
    const auto refused = std::ranges::find_if(functions, [](const CardFunction& each) { return each.error != 0; });
    if (refused != functions.end())
      why += ": " + drivers[static_cast<std::size_t>(refused - functions.begin())]->text_of(refused->error);
    return std::unexpected(std::move(why));
  }
  const auto kernel = std::make_shared<CudaKernel>(lanes, name, ptx, entry, std::move(functions));
  std::erase_if(kernels, [](const std::weak_ptr<CudaKernel>& each) { return each.expired(); });
  kernels.push_back(kernel);
  return kernel;
}

}  // namespace raddle::gpu
