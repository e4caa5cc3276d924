#include "gpu/simulated/card_model.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>

namespace raddle::gpu {

namespace {

constexpr std::uint64_t few_bytes = 64 << 10;  ///< go with a launch
constexpr std::size_t gib = std::size_t{1} << 30;

constexpr CardModel h100 = {.name = "h100",
                            .title = "H100 (model)",
                            .memory_bytes = 79 * gib,
                            .lanes = 270'336,
                            .full_slowness = 64,
                            .lone_slowness = 24,
                            .bytes_of_memory_per_ns = 3350,
                            .bytes_up_per_ns = 10,
                            .bytes_down_per_ns = 3,
                            .bytes_between_per_ns = 380,
                            .copy_ns = 6'000,
                            .launch_ns = 8'400,
                            .open_ns = 300'000'000,
                            .load_ns = 5'000'000};

constexpr CardModel h200_of(CardModel model) {
  model.name = "h200";
  model.title = "H200 (model)";
  model.memory_bytes = 139 * gib;
  model.bytes_of_memory_per_ns = 4800;
  return model;
}

constexpr std::array models = {h100, h200_of(h100)};

std::int64_t rounded_ns(double ns) { return static_cast<std::int64_t>(ns); }

/// @return 0 without bytes: nothing is copied
std::int64_t ns_of_copies(const CardModel& model, std::uint64_t bytes, double bytes_per_ns) {
  return bytes == 0 ? 0 : model.copy_ns + rounded_ns(static_cast<double>(bytes) / bytes_per_ns);
}

}  // namespace

std::span<const CardModel> card_models() { return models; }

const CardModel* card_model(std::string_view name) {
  const auto found = std::ranges::find(models, name, &CardModel::name);
  return found == models.end() ? nullptr : &*found;
}

std::int64_t ModelLink::take(std::int64_t from_ns, std::int64_t ns) {
  if (ns == 0) return from_ns;
  auto next = busy_.upper_bound(from_ns);
  std::int64_t begin = next == busy_.begin() ? from_ns : std::max(from_ns, std::prev(next)->second);
  while (next != busy_.end() && next->first < begin + ns) begin = std::max(begin, (next++)->second);
  std::int64_t end = begin + ns;
  if (next != busy_.end() && next->first == end) {
    end = next->second;
    next = busy_.erase(next);
  }
  if (next != busy_.begin() && std::prev(next)->second == begin)
    std::prev(next)->second = end;
  else
    busy_.emplace_hint(next, begin, end);
  return begin;
}

ModelClock::ModelClock(const CardModel& model, unsigned cards, const ModelLinks& links)
    : model_(model),
      cards_(cards),
      links_up_(links.are_one_bus ? 1 : cards),
      links_down_(links_up_.size()),
      links_between_(links.have_peers ? cards : 0) {}

vm::Links ModelClock::links() const {
  constexpr double ns_of_second = 1e9;
  return {.to_device = static_cast<std::int64_t>(model_.bytes_up_per_ns * ns_of_second),
          .to_host = static_cast<std::int64_t>(model_.bytes_down_per_ns * ns_of_second),
          .between_devices = has_peers() ? static_cast<std::int64_t>(model_.bytes_between_per_ns * ns_of_second) : 0,
          .latency_ns = model_.copy_ns};
}

/// @pre mutex_ is held, as below
void ModelClock::go_on() {
  const auto now = std::chrono::steady_clock::now();
  if (under_way_ == 0) now_ns_ += (now - read_) / std::chrono::nanoseconds(1);
  read_ = now;
}

void ModelClock::leave(std::int64_t given) {
  go_on();
  under_way_ -= given;
}

void ModelClock::open() {
  const std::lock_guard lock(mutex_);
  go_on();
  if (open_ns_ < 0) open_ns_ = now_ns_ + model_.open_ns;
}

std::int64_t ModelClock::load_kernel() {
  const std::lock_guard lock(mutex_);
  go_on();
  return open_ns_ = std::max(open_ns_, now_ns_) + model_.load_ns;
}

std::int64_t ModelClock::give() {
  const std::lock_guard lock(mutex_);
  go_on();
  ++under_way_;
  return now_ns_;
}

/// When it would begin there. What the card has taken and not ended takes as long as each launch of it so far, with its
/// copies.
std::int64_t ModelClock::begin_ns(unsigned card, const MissingBytes& missing) const {
  const Card& of = cards_[card];
  const vm::DevicePrediction& times = of.times;
  const std::int64_t spent_ns =
      times.copies_up_ns + times.copies_between_ns + times.computing_ns + times.copies_down_ns;
  const std::int64_t launch_ns = times.launches == 0 ? model_.launch_ns : spent_ns / times.launches;
  const std::int64_t copied_ns = std::max(now_ns_, links_up_[link_of(card)].free_ns()) +
                                 ns_of_copies(model_, missing.of_host, model_.bytes_up_per_ns);
  const std::int64_t between_ns = missing.of_cards == 0
                                      ? 0
                                      : std::max(now_ns_, links_between_[card].free_ns()) +
                                            ns_of_copies(model_, missing.of_cards, model_.bytes_between_per_ns);
  return std::max({copied_ns, between_ns, of.lanes.free_ns(), links_down_[link_of(card)].free_ns()}) +
         of.taken * launch_ns;
}

ModelClock::Taken ModelClock::take(std::span<const MissingBytes> missing) {
  const std::lock_guard lock(mutex_);
  go_on();
  const auto begin_of = [&](unsigned card) {  // of equal ones that which has been free for longest
    return std::pair(begin_ns(card, missing.empty() ? MissingBytes{} : missing[card]), cards_[card].lanes.free_ns());
  };
  const auto all = std::views::iota(0u, static_cast<unsigned>(cards_.size()));
  const unsigned first = *std::ranges::min_element(all, {}, begin_of);
  return taken_by(first);
}

/// There is room for another one when one of the last bundles ends; those that are under way end after these.
std::int64_t ModelClock::bundle_ns(const Card& card) {
  return card.bundles_end_ns[std::min(static_cast<std::size_t>(card.taken), bundles_at_once - 1)];
}

ModelClock::Taken ModelClock::taken_by(unsigned card) {
  const Taken taken{card, now_ns_, bundle_ns(cards_[card])};
  ++cards_[card].taken;
  return taken;
}

std::vector<unsigned> ModelClock::askers() {
  std::vector<unsigned> cards(cards_.size());
  std::iota(cards.begin(), cards.end(), 0u);
  const std::lock_guard lock(mutex_);
  std::ranges::stable_sort(cards, {}, [&](unsigned card) {
    const Card& of = cards_[card];
    return std::tuple(bundle_ns(of), of.taken, of.lanes.free_ns());
  });
  return cards;
}

ModelClock::Taken ModelClock::take_on(unsigned card) {
  const std::lock_guard lock(mutex_);
  go_on();
  return taken_by(card);
}

ModelClock::Passed ModelClock::copy_up(unsigned card, std::int64_t from_ns, std::uint64_t bytes) {
  const std::int64_t ns = ns_of_copies(model_, bytes, model_.bytes_up_per_ns);
  const std::lock_guard lock(mutex_);
  cards_[card].times.copies_up_ns += ns;
  const std::int64_t begin = bytes <= few_bytes ? from_ns : links_up_[link_of(card)].take(from_ns, ns);
  return {begin, begin + ns};
}

ModelClock::Passed ModelClock::copy_between(unsigned card, std::int64_t from_ns, std::uint64_t bytes) {
  const std::int64_t ns = ns_of_copies(model_, bytes, model_.bytes_between_per_ns);
  const std::lock_guard lock(mutex_);
  cards_[card].times.copies_between_ns += ns;
  const std::int64_t begin = links_between_[card].take(from_ns, ns);
  return {begin, begin + ns};
}

ModelClock::Ended ModelClock::end(unsigned card, std::int64_t from_ns, const ModelledWork& work, std::int64_t given) {
  const std::int64_t down_ns = ns_of_copies(model_, work.traffic.bytes_down, model_.bytes_down_per_ns);
  const std::uint64_t bytes =
      work.traffic.bytes_up + work.traffic.bytes_between + work.traffic.bytes_kept + work.traffic.bytes_down;
  const std::int64_t busy =
      rounded_ns(std::max(static_cast<double>(work.host_ns) * model_.full_slowness / static_cast<double>(model_.lanes),
                          static_cast<double>(bytes) / model_.bytes_of_memory_per_ns));
  const std::int64_t computing =
      work.launches * model_.launch_ns +
      std::max(busy, rounded_ns(static_cast<double>(work.longest_ns) * model_.lone_slowness));

  const std::lock_guard lock(mutex_);
  leave(given);
  Card& of = cards_[card];
  --of.taken;
  Ended ended;
  ended.begin_ns = of.lanes.take(from_ns, busy);
  ended.computed_ns = ended.begin_ns + computing;
  ended.back_ns = links_down_[link_of(card)].take(ended.computed_ns, down_ns);
  ended.end_ns = ended.back_ns + down_ns;
  if (work.is_bundle) {
    of.bundles_end_ns.front() = ended.end_ns;
    std::ranges::sort(of.bundles_end_ns);
  }
  of.times.computing_ns += computing;
  of.times.copies_down_ns += down_ns;
  of.times.launches += work.launches;
  now_ns_ = std::max(now_ns_, ended.end_ns);
  return ended;
}

void ModelClock::drop() {
  const std::lock_guard lock(mutex_);
  leave(1);
}

vm::RunPrediction ModelClock::prediction() {
  const std::lock_guard lock(mutex_);
  go_on();
  vm::RunPrediction all{.run_ns = now_ns_, .devices = {}};
  for (const Card& card : cards_) all.devices.push_back(card.times);
  return all;
}

}  // namespace raddle::gpu
