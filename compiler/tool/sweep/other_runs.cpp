#include "compiler/tool/sweep/other_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "compiler/tool/process/signals.hpp"
#include "vm/value/file_place.hpp"
#include "vm/value/hash.hpp"

namespace raddle::tool {

namespace {

/// Sweeps of equal ones number their points alike; of others hardly ever, and then they wait for each other in vain.
std::uint64_t space_of(const SweepPlan& plan) {
  const std::uint64_t size = plan.space.size();
  std::string text = fmt::format("{} {} {}", plan.cursor.shard, plan.cursor.shard_count, size);
  for (const std::uint64_t number : {std::uint64_t{1}, size})
    if (size != 0) text += plan.keys.of(plan.space.point(number)).bytes();
  return vm::hash(text).low;
}

}  // namespace

OtherRuns::OtherRuns(const SweepRequest& request, const SweepPlan& plan, const sweep::ResultForm& form, std::string run)
    : request_(request), plan_(plan), form_(form), run_(std::move(run)), space_(space_of(plan)) {
  // another run that was alone until now may have points that have ended, and are neither claimed nor written yet
  constexpr std::chrono::milliseconds longest_gathering(100);
  if (claims_.has_others()) std::this_thread::sleep_for(longest_gathering);
}

vm::PointClaim OtherRuns::claim_of_point(std::uint64_t number) const {
  vm::PointClaim claim = claims_.claim(plan_.keys.of(plan_.space.point(number)));
  // all is run anew, whoever else does
  return claim || request_.use_record ? std::move(claim) : std::make_shared<int>();
}

vm::PointClaim OtherRuns::claim_of(std::span<const std::uint64_t> numbers, bool is_block) {
  if (is_block) {
    const auto [first, last] = std::ranges::minmax(numbers);
    vm::PointClaim claim = claims_.claim(space_, first, last);
    return claim || request_.use_record ? std::move(claim) : std::make_shared<int>();
  }
  vm::PointClaim claim = claim_of_point(numbers.front());
  if (!claim || std::ranges::none_of(plan_.collectors, &sweep::Collector::reads_file)) return claim;
  struct Claims {
    vm::PointClaim point;
    std::vector<vm::FileClaim> files = {};
  };
  const auto claims = std::make_shared<Claims>(std::move(claim));
  if (!claim_files(plan_.space.point(numbers.front()), claims->files)) return nullptr;
  return claims;
}

bool OtherRuns::claim_files(const sweep::Point& point, std::vector<vm::FileClaim>& claims) {
  const std::lock_guard lock(files_mutex_);
  std::erase_if(files_, [](const auto& file) { return file.second.expired(); });
  for (const sweep::Collector& collector : plan_.collectors) {
    if (!collector.reads_file()) continue;
    const unsigned slots = collector.is_by_slot() ? plan_.run.jobs : 1;  // which one is not known yet
    for (unsigned slot = 1; slot <= slots; ++slot) {
      const std::string place = vm::file_place(collector.file_for(point, {.slot = slot, .run = run_}));
      if (place.empty()) continue;
      std::weak_ptr<const void>& known = files_[place];
      vm::FileClaim claim = known.lock();
      if (!claim) claim = vm::claim_file(place);
      if (!claim) return false;
      known = claim;
      claims.push_back(std::move(claim));
    }
  }
  return true;
}

std::expected<sweep::Sweep::Claimed, std::string> OtherRuns::claim(std::span<const std::uint64_t> numbers,
                                                                   bool is_block) {
  sweep::Sweep::Claimed claimed{.claim = claim_of(numbers, is_block), .are_done = {}};
  if (!claimed.claim || !request_.use_record || !claims_.has_others()) return claimed;
  const std::lock_guard lock(mutex_);
  try {
    if (!earlier_)
      earlier_.emplace(record_.emplace(vm::RunRecord::create(wait_while_running)), form_, run_, request_.since);
    const std::size_t known = earlier_->taken().size();
    claimed.are_done = earlier_->are_done_by_now(numbers, is_block);
    const std::vector<std::int64_t>& taken = earlier_->taken();
    taken_.insert(taken_.end(), taken.begin() + static_cast<std::ptrdiff_t>(known), taken.end());
  } catch (const vm::RecordBusy&) {  // nobody knows whether others have done them: they are tried again
    earlier_.reset();
    record_.reset();
    claimed.claim = nullptr;
    if (!std::exchange(is_lock_told_, true))
      tell_at_once(
          "raddle: another process holds the record `.raddle/runs.db` locked: points that other runs may have "
          "done wait for it\n");
  } catch (const vm::RecordError& error) {
    return std::unexpected(error.what());
  }
  return claimed;
}

std::vector<std::int64_t> OtherRuns::taken_after(std::vector<std::int64_t> before) const {
  before.insert(before.end(), taken_.begin(), taken_.end());
  return before;
}

bool OtherRuns::is_first_wait(const sweep::SweepCounts& counts) {
  return counts.waiting != 0 && counts.running == 0 && !std::exchange(has_waited_, true);
}

}  // namespace raddle::tool
