#include "compiler/tool/sweep/other_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "compiler/tool/process/signals.hpp"
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

vm::PointClaim OtherRuns::claim_of(std::span<const std::uint64_t> numbers, bool is_batch) const {
  if (!is_batch) return claims_.claim(plan_.keys.of(plan_.space.point(numbers.front())));
  const auto [first, last] = std::ranges::minmax(numbers);
  return claims_.claim(space_, first, last);
}

std::expected<sweep::Sweep::Claimed, std::string> OtherRuns::claim(std::span<const std::uint64_t> numbers,
                                                                   bool is_batch) {
  sweep::Sweep::Claimed claimed{.claim = claim_of(numbers, is_batch), .are_done = {}};
  if (!request_.use_record) {  // all is run anew, whoever else does
    if (!claimed.claim) claimed.claim = std::make_shared<int>();
    return claimed;
  }
  if (!claimed.claim || !claims_.has_others()) return claimed;
  const std::lock_guard lock(mutex_);
  try {
    if (!earlier_)
      earlier_.emplace(record_.emplace(vm::RunRecord::create(wait_while_running)), form_, run_, request_.since);
    claimed.are_done = earlier_->are_done_by_now(numbers, is_batch);
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

bool OtherRuns::is_first_wait(const sweep::SweepCounts& counts) {
  return counts.waiting != 0 && counts.running == 0 && !std::exchange(has_waited_, true);
}

}  // namespace raddle::tool
