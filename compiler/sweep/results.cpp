#include "compiler/sweep/results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sweep/json_text.hpp"

namespace raddle::sweep {

bool EarlierResults::adapt(const Point& point, vm::EarlierResult& result) const {
  if (result.outcome != vm::PointOutcome::ok || result.collect == collect_) return true;
  if (result.stdout_size > result.stdout_end.size() || std::ranges::any_of(collectors_, &Collector::reads_file))
    return false;
  auto results = collect_all(collectors_, point, result.stdout_end);
  if (!results) return false;
  result.results = std::move(*results);
  return true;
}

bool EarlierResults::is_done(const Point& point) {
  std::optional<vm::EarlierResult> result = record_.find_done(keys_.of(point));
  return result && adapt(point, *result);
}

std::optional<vm::EarlierResult> EarlierResults::find(const Point& point) {
  std::optional<vm::EarlierResult> result = record_.find_latest(keys_.of(point), own_run_);
  if (result && !adapt(point, *result)) result.reset();
  return result;
}

ResultRows::ResultRows(const Space& space, CursorOptions options, EarlierResults& earlier)
    : space_(space), options_(std::move(options)), earlier_(earlier) {
  options_.order_seed.reset();
}

void ResultRows::for_each(const std::function<bool(ResultRow)>& visit) const {
  Cursor cursor(space_, options_);
  while (std::optional<Point> point = cursor.next()) {
    ResultRow row;
    if (const auto result = earlier_.find(*point)) {
      row.outcome = name_of(result->outcome);
      row.duration_s = fmt::format("{:.6f}", result->duration_s);
      row.results = json_members(result->results);
    }
    row.point = std::move(*point);
    if (!visit(std::move(row))) return;
  }
}

}  // namespace raddle::sweep
