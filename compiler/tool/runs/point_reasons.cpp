// A point's key is the sum of a hash of the work and of hashes of its values. So a point with the same values under
// other work has a key that differs by the works alone, and is found without a look at any text.
#include "compiler/tool/runs/point_reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "vm/external/shell_command.hpp"
#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/runs/input_differences.hpp"
#include "compiler/tool/runs/recorded_points.hpp"
#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"
#include "compiler/tool/sweep/command_template.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/space/point_key.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "compiler/tool/formats/scan.hpp"

namespace raddle::tool {

namespace {

constexpr std::size_t compared_points = 20'000;  // earlier ones among which the nearest is looked for

std::string command_of(const vm::RunRow& run) {
  const std::vector<std::string> words = run.words();
  const auto command = std::ranges::find(words, "--");
  return command == words.end() ? "" : vm::shell_line({command + 1, words.end()});
}

/// The values are the same, and yet it is other work.
std::string what_changed(const vm::RunRow& run, const vm::RunRow& before) {
  const std::string now = command_of(run), then = command_of(before);
  if (now.empty() && then.empty())
    return fmt::format("the script, a module of it, a macro or a library is not as it was in run {}", before.id);
  if (!now.empty() && !then.empty()) return fmt::format("run {} did it with another command: {}", before.id, then);
  return fmt::format("run {} did it with {}", before.id, now.empty() ? "a command: " + then : "a script");
}

struct EarlierPoint {
  std::uint64_t number = 0;
  vm::PointOutcome outcome = vm::PointOutcome::ok;
};

/// Points of a run by PointKey::low: of several with one key, one that ended well.
using FoundKeys = std::unordered_map<std::uint64_t, EarlierPoint>;

/// Reads the keys of the run once, whatever the number of those that are wanted: there is no index of the lower halves,
/// and of blocks none at all.
FoundKeys find_keys(vm::RunRecord& record, const vm::RunRow& run, std::vector<std::uint64_t> wanted) {
  std::ranges::sort(wanted);
  FoundKeys found;
  for (const vm::PointHead& head : record.point_heads(run.id)) {
    if (!std::ranges::binary_search(wanted, head.key.low)) continue;
    const auto [at, is_new] = found.try_emplace(head.key.low, EarlierPoint{head.number, head.outcome});
    if (!is_new && head.outcome == vm::PointOutcome::ok) at->second = {head.number, head.outcome};
  }
  for (const vm::BlockHead& head : record.blocks_of(run.id)) {
    const std::vector<std::uint64_t> keys = record.block_keys(head.row);
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (std::ranges::binary_search(wanted, keys[i]))
        found.insert_or_assign(keys[i], EarlierPoint{record.block(head.row).number(i), vm::PointOutcome::ok});
  }
  return found;
}

/// Finds the earlier points that are most like others.
class Neighbours {
 public:
  struct Neighbour {
    const vm::RunRow* run = nullptr;
    std::uint64_t number = 0;
    NamedValues values;
  };

  /// Reads points of these runs, once and no more than compared_points. @param runs  the latest first
  Neighbours(vm::RunRecord& record, const std::vector<vm::RunRow>& runs) {
    for (const vm::RunRow& run : runs) {
      for_each_recorded_point(record, run, std::nullopt, [&](const vm::PointRow& row) {
        add({&run, row.number, sweep::json_members(row.parameters)});
        are_all_ = all_.size() < compared_points;
        return are_all_;
      });
      if (!are_all_) return;
    }
  }

  bool is_empty() const { return all_.empty(); }
  /// False: there are more points than were read.
  bool are_all() const { return are_all_; }
  /// Of those that share a parameter the one with the fewest that differ; of these that with the smallest sum of
  /// differences, then of the latest run, then with the lowest number: whatever the order in which points have ended.
  /// Null: there is none
  const Neighbour* nearest_to(const NamedValues& values) const {
    const Neighbour* nearest = nullptr;
    std::tuple<std::size_t, double, const vm::RunRow*, std::uint64_t> least;
    for (const Neighbour& each : all_) {
      if (!share_a_name(values, each.values)) continue;
      const std::vector<ValueDifference> differences = differences_of(values, each.values);
      if (nearest != nullptr && differences.size() > std::get<0>(least)) continue;
      // runs lie in one array, the latest first
      const std::tuple order(differences.size(), distance_of(differences), each.run, each.number);
      if (nearest != nullptr && order >= least) continue;
      nearest = &each;
      least = order;
    }
    return nearest;
  }

 private:
  struct Range {
    double low = 0, high = 0;
  };

  static bool share_a_name(const NamedValues& one, const NamedValues& other) {
    return std::ranges::any_of(one, [&](const auto& each) {
      return std::ranges::find(other, each.first, &NamedValues::value_type::first) != other.end();
    });
  }

  void add(Neighbour neighbour) {
    for (const auto& [name, value] : neighbour.values) {
      const std::optional<double> number = sweep::read_number(value);
      if (!number) continue;
      Range& range = ranges_.try_emplace(name, *number, *number).first->second;
      range = {std::min(range.low, *number), std::max(range.high, *number)};
    }
    all_.push_back(std::move(neighbour));
  }

  /// In parts of the range that a parameter has among the earlier points, so that units play no part. Not |a - b| /
  /// max(|a|, |b|): by that all values are equally far from 0, and 10 is nearer to 6 than 3 is.
  double distance_of(const std::vector<ValueDifference>& differences) const {
    double sum = 0;
    for (const ValueDifference& each : differences) {
      const std::optional<double> now = sweep::read_number(each.now.value_or("")),
                                  before = sweep::read_number(each.before.value_or(""));
      const auto range = ranges_.find(each.name);
      const double width = range == ranges_.end() ? 0 : range->second.high - range->second.low;
      sum += now && before && width > 0 ? std::abs(*now - *before) / width : 1;
    }
    return sum;
  }

  std::vector<Neighbour> all_;
  bool are_all_ = true;
  std::map<std::string, Range> ranges_;
};

/// Tells of the points of one run.
class Explainer {
 public:
  Explainer(vm::RunRecord& record, const vm::RunRow& run)
      : record_(record), run_(run), earlier_(record.runs()), request_(read_sweep_request(run.words())) {
    const auto own = std::ranges::find(earlier_, run.id, &vm::RunRow::id);
    earlier_.erase(own, earlier_.end());
    std::ranges::reverse(earlier_);  // the latest first
  }

  std::vector<std::optional<PointReason>> explain(std::span<const std::uint64_t> numbers) {
    std::vector<std::optional<PointReason>> reasons;
    reasons.reserve(numbers.size());
    std::vector<RunPoint> run_points;
    for (const std::uint64_t number : numbers) {
      const std::optional<std::uint64_t> key = add_reason(number, reasons);
      if (key) run_points.push_back({*key, reasons.size() - 1});
    }
    explain_run(run_points, reasons);
    return reasons;
  }

 private:
  using Reasons = std::vector<std::optional<PointReason>>;

  /// A point that the run has run itself.
  struct RunPoint {
    std::uint64_t key_low = 0;
    std::size_t reason = 0;               // its index
    const vm::RunRow* changed = nullptr;  // the latest run that has done other work with the same values
  };

  /// A reason with what is known of the point by itself. @return its key, if the run has run it
  std::optional<std::uint64_t> add_reason(std::uint64_t number, Reasons& reasons) {
    PointReason reason{.number = number};
    std::optional<std::uint64_t> key;
    for_each_recorded_point(record_, run_, number, [&](const vm::PointRow& row) {
      reason.parameters = row.parameters;
      key = row.key.low;
      return false;
    });
    const auto space = key || !request_ ? std::nullopt : std::optional(sweep::Space::make(request_->space));
    if (!key && (!space || !*space || number == 0 || number > (*space)->size())) {
      reasons.emplace_back();
      return key;
    }
    if (!key) {
      reason.parameters = parameters_json((*space)->parameters(), (*space)->point(number));
      explain_absent(reason);
    }
    reasons.emplace_back(std::move(reason));
    return key;
  }

  /// They were run: nothing that ended well was there, or was to be taken.
  void explain_run(std::vector<RunPoint>& points, Reasons& reasons) {
    for (const vm::RunRow& each : earlier_) {
      if (points.empty()) return;
      std::vector<std::uint64_t> wanted;
      const auto key_in = [&](const RunPoint& point) { return point.key_low - run_.work + each.work; };
      std::ranges::transform(points, std::back_inserter(wanted), key_in);
      const FoundKeys found = find_keys(record_, each, std::move(wanted));
      std::erase_if(points, [&](RunPoint& point) {
        const auto at = found.find(key_in(point));
        return at != found.end() && is_explained_by(each, at->second, point, *reasons[point.reason]);
      });
    }
    std::optional<Neighbours> neighbours;
    for (const RunPoint& point : points) {
      PointReason& reason = *reasons[point.reason];
      if (point.changed != nullptr) {
        reason.because = what_changed(run_, *point.changed);
        continue;
      }
      if (!neighbours) neighbours.emplace(record_, earlier_);
      explain_by_nearest(*neighbours, reason);
    }
  }

  /// An earlier run has a point with these values.
  bool is_explained_by(const vm::RunRow& earlier, const EarlierPoint& found, RunPoint& point,
                       PointReason& reason) const {
    if (earlier.work != run_.work) {
      if (point.changed != nullptr) return false;
      point.changed = &earlier;
      refer(reason, earlier, found.number);
      return false;
    }
    refer(reason, earlier, found.number);
    reason.because = why_not_taken(earlier, found, reason);
    return true;
  }

  PointFiles files_of(const vm::RunRow& run, std::uint64_t number) const {
    std::string inputs;
    record_.for_each_attempt(run.id, number, [&](const vm::PointRow& row) {
      inputs = row.attempt.inputs;
      return true;
    });
    return files_of_point(inputs);
  }

  /// A file that the earlier point has written, and that was not there when it was run again. "": none
  static std::string lost_output(const NamedValues& now, const NamedValues& before) {
    for (const auto& [path, mark] : before)
      if (std::ranges::find(now, std::pair(path, vm::output_mark(/*is_new=*/true))) != now.end()) return path;
    return "";
  }

  std::string why_not_taken(const vm::RunRow& before, const EarlierPoint& found, PointReason& reason) const {
    if (found.outcome != vm::PointOutcome::ok)
      return fmt::format("in run {} it failed{}, and only what has ended well is taken", before.id,
                         found.outcome == vm::PointOutcome::failed ? "" : fmt::format(" ({})", name_of(found.outcome)));
    const PointFiles now = files_of(run_, reason.number), then = files_of(before, found.number);
    reason.differences = changed_files(now.read, then.read);
    if (!reason.differences.empty())
      return fmt::format("run {} has it, but {}", before.id, not_as_before(reason.differences));
    if (const std::string lost = lost_output(now.written, then.written); !lost.empty())
      return fmt::format("run {} has it, but `{}`, which it had written, was not there any more", before.id, lost);
    if (run_.kind == run_kind::rerun_some)
      return fmt::format("run {} has it, but this one was to run some of {} anew", before.id, run_.resumes);
    if (run_.kind == run_kind::rerun_all)
      return fmt::format("run {} has it, but this one was to run all of {} anew", before.id, run_.resumes);
    const std::string since = taken_since(run_);
    if (since == run_.id) return fmt::format("run {} has it, but --no-cache runs all anew", before.id);
    if (!since.empty())
      return fmt::format("run {} has it, but this one goes on with {}, which was to run all anew", before.id, since);
    return fmt::format("run {} has it, but what it has kept does not give the results that this one collects",
                       before.id);
  }

  void explain_by_nearest(const Neighbours& neighbours, PointReason& reason) const {
    const NamedValues own = sweep::json_members(reason.parameters);
    const Neighbours::Neighbour* nearest = neighbours.nearest_to(own);
    if (nearest == nullptr) {
      reason.because = neighbours.is_empty() ? "no run before this one has points in the record"
                                             : "no earlier run has points like it";
      return;
    }
    refer(reason, *nearest->run, nearest->number);
    reason.differences = differences_of(own, nearest->values);
    if (reason.differences.empty() && nearest->run->work == run_.work) {
      const std::string written = text_of(differently_written(own, nearest->values));
      reason.because = written.empty() ? fmt::format("run {} did it with another seed", nearest->run->id)
                                       : fmt::format("run {} did it with another text of the same value: {}",
                                                     nearest->run->id, written);
    } else if (reason.differences.empty()) {
      reason.because = what_changed(run_, *nearest->run);
    } else {
      reason.because = fmt::format(
          "no earlier run has these values; most like it{} is point {} of run {}: {}",
          neighbours.are_all() ? "" : fmt::format(", of {} that were compared,", sweep::with_commas(compared_points)),
          reason.earlier_number, nearest->run->id, text_of(reason.differences));
      if (nearest->run->work != run_.work) reason.because += "; " + what_changed(run_, *nearest->run);
    }
  }

  /// The point is in the sweep, but the run has no row of it.
  void explain_absent(PointReason& reason) {
    reason.state = sweep::not_run;
    reason.because = why_left_out(reason.number);
    if (!reason.because.empty()) return;
    if (takes_earlier_points()) find_taken(reason);
    if (!reason.earlier_run.empty()) {
      reason.state = "from the record";
      reason.because = fmt::format("run {} did the same, as point {}", reason.earlier_run, reason.earlier_number);
    } else if (run_.state == vm::RunState::running) {
      reason.state = "waits";
      reason.because = "the run is under way, and has not ended it yet";
    } else if (run_.state != vm::RunState::done && run_.state != vm::RunState::failed) {
      reason.because = fmt::format("the run did not get to it: it was {}", name_of(run_.state));
    } else {
      reason.because =
          run_.taken != 0
              ? "no run has it any more: that from which it was taken has been removed, or its files have changed"
              : "the run has not run it: its points are other ones by now";
    }
  }

  /// "": the run was to run it.
  std::string why_left_out(std::uint64_t number) const {
    if (run_.kind == run_kind::rerun_failed)
      return fmt::format("the run was to run only what failed in {}", run_.resumes);
    if (run_.kind == run_kind::rerun_some)
      return fmt::format("the run was to run only some of {}, by `rerun --where`", run_.resumes);
    if (request_->where.empty() && request_->shard.empty()) return "";
    const auto plan = make_plan(*request_);
    if (!plan) return "";
    const sweep::CursorOptions& points = (*plan)->cursor;
    if (number % points.shard_count != points.shard % points.shard_count) return "--shard leaves it out";
    const auto is_kept = points.filter ? points.filter({(*plan)->space.point(number)}) : std::vector{true};
    return is_kept && !is_kept->front() ? "--where leaves it out" : "";
  }

  bool takes_earlier_points() const { return run_.kind != run_kind::rerun_all && taken_since(run_) != run_.id; }

  void find_taken(PointReason& reason) {
    const NamedValues own = sweep::json_members(reason.parameters);
    const std::string since = taken_since(run_);
    const vm::StandsOn of = record_.stands_on(run_.id);
    const auto is_taken = [&](const vm::Attempt& attempt) {
      if (attempt.row_digest == 0 || of.taken.empty()) return !files_.changed(attempt.inputs, {});
      return of.has_taken(attempt);
    };
    for (const vm::RunRow& each : earlier_) {
      if (each.work == run_.work)
        for_each_recorded_point(record_, each, std::nullopt, [&](const vm::PointRow& row) {
          const bool is_it = row.attempt.outcome == vm::PointOutcome::ok &&
                             differences_of(own, sweep::json_members(row.parameters)).empty() && is_taken(row.attempt);
          if (is_it) refer(reason, each, row.number);
          return !is_it;
        });
      if (!reason.earlier_run.empty() || each.id == since) return;
    }
  }

  static void refer(PointReason& reason, const vm::RunRow& run, std::uint64_t point) {
    reason.earlier_run = run.id;
    reason.earlier_number = point;
  }

  vm::RunRecord& record_;
  const vm::RunRow& run_;
  std::vector<vm::RunRow> earlier_;
  const std::expected<SweepRequest, int> request_;  // of the run
  sweep::InputFiles files_{{}};
};

}  // namespace

std::vector<std::optional<PointReason>> reasons_of(vm::RunRecord& record, const vm::RunRow& run,
                                                   std::span<const std::uint64_t> numbers) {
  return Explainer(record, run).explain(numbers);
}

}  // namespace raddle::tool
