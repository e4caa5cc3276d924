#pragma once
// Runs that go on at the same time in this folder: what they are running is not run once more.
#include <chrono>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "compiler/tool/sweep/sweep.hpp"
#include "vm/record/file_claim.hpp"
#include "vm/record/point_claims.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// For who holds the record locked: then it is tried again, unless the sweep is to end.
inline constexpr std::chrono::milliseconds wait_while_running(1000);

class OtherRuns {
 public:
  /// After the run has begun, and before it looks into the record. What it is given outlives it.
  /// @param run  the id of this one
  OtherRuns(const SweepRequest& request, const SweepPlan& plan, const sweep::ResultForm& form, std::string run);
  /// sweep::Sweep::Hooks::claim. Any thread.
  std::expected<sweep::Sweep::Claimed, std::string> claim(std::span<const std::uint64_t> numbers, bool is_block);
  /// The claim as long as it is needed when the point has ended: till that is written, if there are others to see it.
  /// Many claims at once cost the system microseconds each. Any thread.
  vm::PointClaim after_end(vm::PointClaim claim) const { return claims_.has_others() ? std::move(claim) : nullptr; }
  /// What was taken before the sweep, and what claim() has found done: sweep::EarlierResults::taken(). After the sweep.
  std::vector<std::int64_t> taken_after(std::vector<std::int64_t> before) const;
  /// Whether, for the first time, there is nothing to do but to wait for other runs. One thread.
  bool is_first_wait(const sweep::SweepCounts& counts);

 private:
  /// Of points, and of the files from which their results are read: points of a sweep with other ones may write them.
  vm::PointClaim claim_of(std::span<const std::uint64_t> numbers, bool is_block);
  vm::PointClaim claim_of_point(std::uint64_t number) const;
  bool claim_files(const sweep::Point& point, std::vector<vm::FileClaim>& claims);

  const SweepRequest& request_;
  const SweepPlan& plan_;
  const sweep::ResultForm& form_;
  const std::string run_;
  const vm::PointClaims claims_;
  std::uint64_t space_ = 0;  ///< names how points are numbered
  std::mutex mutex_;         ///< guards the next three
  std::optional<vm::RunRecord> record_;
  std::optional<sweep::EarlierResults> earlier_;  ///< none: there was no other run yet
  std::vector<std::int64_t> taken_;
  bool is_lock_told_ = false;  ///< guarded by mutex_
  bool has_waited_ = false;
  std::mutex files_mutex_;  ///< guards the next
  /// By place, of points that are run: which of them share a file is the sweep's own business.
  std::map<std::string, std::weak_ptr<const void>> files_;
};

}  // namespace raddle::tool
