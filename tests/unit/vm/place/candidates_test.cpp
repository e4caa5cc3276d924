#include "vm/place/candidates.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "vm/place/policy.hpp"

namespace raddle::vm {
namespace {

constexpr Links three_links{.to_device = 1'000'000'000, .to_host = 700'000'000, .between_devices = 3'000'000'000};

/// Tells candidates what it hears of copies.
class ForwardingPolicy final : public Policy {
 public:
  ForwardingPolicy(const PlacementView& view, Candidates& candidates) : Policy(view), candidates_(candidates) {}
  void released(std::span<const TaskId>, std::optional<DeviceId>, std::int64_t) override {}
  std::optional<TaskId> next(DeviceId) override { return std::nullopt; }
  void came(DeviceId device, DataId data) override { candidates_.came(device, data); }
  void went(DeviceId device, DataId data) override { candidates_.went(device, data); }

 private:
  Candidates& candidates_;
};

/// Algorithm 3 as it is printed, from all ready tasks at each choice.
std::vector<TaskId> chosen_anew(const PlacedTasks& tasks, const std::vector<TaskId>& ready, const Residency& copies,
                                DeviceId device, Candidates::Rank rank) {
  struct Gain {
    std::vector<TaskId> alone = {}, with_another = {};
    std::int64_t left_ns = 0;
    std::size_t appearance = 0;
  };
  std::map<DataId, Gain> gains;
  std::vector<TaskId> free;
  const auto urgency = [&](TaskId id) { return urgency_of(id, tasks[id]); };
  for (const TaskId id : ready) {
    std::vector<DataId> missing;
    for (const DataId data : tasks[id].reads())
      if (!copies.is_near(device, data)) missing.push_back(data);
    if (missing.empty()) free.push_back(id);
    for (const DataId data : missing) {
      Gain& gain = gains.try_emplace(data, Gain{.appearance = gains.size()}).first->second;
      gain.left_ns += tasks[id].duration_ns;
      if (missing.size() == 1) gain.alone.push_back(id);
      if (missing.size() == 2) gain.with_another.push_back(id);
    }
  }
  if (!free.empty()) return free;
  const auto key = [&](DataId data) {
    const Gain& gain = gains.at(data);
    long double work = 0, top = -1e18L;
    for (const TaskId id : gain.alone) work += static_cast<long double>(tasks[id].duration_ns);
    for (const TaskId id : gain.alone.empty() ? gain.with_another : gain.alone)
      top = std::max(top, static_cast<long double>(tasks[id].priority));
    const auto short_first = rank == Candidates::Rank::time_per_task ? work : 0;
    const long double transfer = copies.transfer_ns(data, device), count = gain.alone.size();
    const long double ratio = work == 0                                 ? 1e18L
                              : rank == Candidates::Rank::ratio         ? transfer / work
                              : rank == Candidates::Rank::time_per_task ? transfer / count
                                                                        : 0;
    return std::tuple(ratio, -static_cast<int>(gain.alone.size()), short_first, -top,
                      -static_cast<int>(gain.with_another.size()), -gain.left_ns, gain.appearance);
  };
  const auto best = std::ranges::min_element(gains, {}, [&](const auto& entry) { return key(entry.first); });
  if (!best->second.alone.empty()) return best->second.alone;
  if (!best->second.with_another.empty()) return {*std::ranges::min_element(best->second.with_another, {}, urgency)};
  return {*std::ranges::min_element(ready, {}, urgency)};
}

class RandomCandidates {
 public:
  RandomCandidates(unsigned seed, Candidates::Rank rank)
      : random_(seed),
        tasks_(random_tasks()),
        copies_({64, 64, 128, 64, 64, 96, 64, 64}, 3, 1 << 20, three_links),
        candidates_(tasks_, copies_, rank),
        rank_(rank),
        listener_({.tasks = tasks_, .residency = copies_}, candidates_) {
    copies_.set_policy(listener_);
  }
  /// @return false: a choice differs
  bool step() {
    const auto device = static_cast<DeviceId>(below(3));
    const auto data = static_cast<DataId>(below(8));
    switch (below(4)) {
      case 0:
      case 1: add(); return true;
      case 2: flip(device, data); return true;
      default: return ready_.empty() || takes_the_same(device);
    }
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  PlacedTasks random_tasks() {
    PlacedTasks tasks(40);
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      std::vector<DataId> data{0, 1, 2, 3, 4, 5, 6, 7};
      std::ranges::shuffle(data, random_);
      data.resize(below(6));
      const auto reads = static_cast<std::uint32_t>(data.size());
      tasks[i] = {.operands = data,
                  .read_count = reads,
                  .duration_ns = static_cast<std::int64_t>(below(3)) * 100,
                  .priority = static_cast<std::int32_t>(below(4)),
                  .arrival = i};
    }
    return tasks;
  }
  void add() {
    const auto id = static_cast<TaskId>(below(tasks_.size()));
    if (std::ranges::find(ready_, id) != ready_.end()) return;
    ready_.push_back(id);
    candidates_.add(id);
  }
  void flip(DeviceId device, DataId data) {
    if (copies_.is_present(device, data)) {
      copies_.drop(device, data);
      return;
    }
    const Source source = *copies_.source(data, device);
    copies_.begin_load(device, data, source);
    copies_.end_load(device, data, source);
  }
  bool takes_the_same(DeviceId device) {
    const std::vector<TaskId> expected = chosen_anew(tasks_, ready_, copies_, device, rank_);
    const std::vector<TaskId> taken = candidates_.take_next(device);
    for (const TaskId id : taken) std::erase(ready_, id);
    return taken == expected && candidates_.count() == ready_.size();
  }

  std::mt19937 random_;
  PlacedTasks tasks_;
  Residency copies_;
  Candidates candidates_;
  const Candidates::Rank rank_;
  ForwardingPolicy listener_;
  std::vector<TaskId> ready_;
};

}  // namespace

TEST_CASE("candidates that are kept up are those that a look at all ready tasks finds") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    for (const Candidates::Rank rank :
         {Candidates::Rank::ratio, Candidates::Rank::count, Candidates::Rank::time_per_task}) {
      RandomCandidates candidates(seed, rank);
      bool is_same = true;
      for (int i = 0; i < 300 && is_same; ++i) is_same = candidates.step();
      CHECK(is_same);
    }
  }
}

}  // namespace raddle::vm
