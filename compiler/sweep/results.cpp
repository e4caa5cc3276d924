#include "compiler/sweep/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/sweep/json_text.hpp"

namespace raddle::sweep {
namespace {

constexpr std::size_t first_block = 64, largest_block = 1 << 16;  // points that are looked for together

std::string text_of(std::int64_t word, ValueType type) {
  return type == ValueType::float_ ? fmt::format("{}", std::bit_cast<double>(word)) : fmt::format("{}", word);
}

}  // namespace

bool EarlierResults::adapt(const Point& point, vm::EarlierResult& result) const {
  if (result.outcome != vm::PointOutcome::ok || result.collect == form_.collect) return true;
  if (result.stdout_size > result.stdout_end.size() || std::ranges::any_of(form_.collectors, &Collector::reads_file))
    return false;
  auto results = collect_all(form_.collectors, point, result.stdout_end);
  if (!results) return false;
  result.results = std::move(*results);
  return true;
}

bool EarlierResults::is_done(const Point& point) {
  std::optional<vm::EarlierResult> result = record_.find_done(form_.keys.of(point));
  return result && adapt(point, *result);
}

std::vector<bool> EarlierResults::are_done(std::span<const std::uint64_t> numbers) {
  std::vector<bool> are_done(numbers.size());
  std::vector<std::uint64_t> keys;
  if (form_.points != nullptr) {
    if (!single_keys_) single_keys_ = record_.done_keys(form_.keys.work().low);
    if (single_keys_->empty() && batches_.is_empty()) return are_done;
    keys = form_.points->keys(numbers);
    are_done = batches_.contain(numbers, keys);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (are_done[i]) continue;
    if (single_keys_ && !std::ranges::binary_search(*single_keys_, keys[i])) continue;
    are_done[i] = is_done(form_.space.point(numbers[i]));
  }
  return are_done;
}

std::optional<EarlierResults::Found> EarlierResults::find_single(const Point& point) {
  std::optional<vm::EarlierResult> result = record_.find_latest(form_.keys.of(point), own_run_);
  if (!result || !adapt(point, *result)) return std::nullopt;
  return Found{result->outcome, result->duration_s, json_members(result->results)};
}

std::vector<std::optional<EarlierResults::Found>> EarlierResults::find(std::span<const Point> points) {
  std::vector<std::optional<Found>> all(points.size());
  BatchValues values;
  if (!batches_.is_empty()) {
    std::vector<std::uint64_t> numbers;
    for (const Point& point : points) numbers.push_back(point.number);
    values = batches_.find(numbers, form_.points->keys(numbers));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (values.is_found.empty() || !values.is_found[i]) {
      all[i] = find_single(points[i]);
      continue;
    }
    Found& found = all[i].emplace();
    found.duration_s = values.durations_s[i];
    for (std::size_t column = 0; column < std::min(values.columns.size(), form_.columns.size()); ++column)
      found.results.emplace_back(form_.columns[column].name,
                                 text_of(values.columns[column][i], form_.columns[column].type));
  }
  return all;
}

ResultRows::ResultRows(const ResultForm& form, CursorOptions options, EarlierResults& earlier)
    : form_(form), options_(std::move(options)), earlier_(earlier) {
  options_.order_seed.reset();
}

std::vector<std::string> ResultRows::known_results() const {
  std::vector<std::string> names;
  if (form_.collectors.empty())
    for (const ResultColumn& column : form_.columns) names.push_back(column.name);
  return names;
}

void ResultRows::for_each(const std::function<bool(ResultRow)>& visit) const {
  Cursor cursor(form_.space, options_);
  std::vector<Point> points;
  for (std::size_t block = first_block;; block = std::min(2 * block, largest_block)) {
    points.clear();
    while (points.size() < block) {
      std::optional<Point> point = cursor.next();
      if (!point) break;
      points.push_back(std::move(*point));
    }
    if (points.empty()) return;
    auto found = earlier_.find(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      ResultRow row;
      if (found[i]) {
        row.outcome = name_of(found[i]->outcome);
        row.duration_s = fmt::format("{:.6f}", found[i]->duration_s);
        row.results = std::move(found[i]->results);
      }
      row.point = std::move(points[i]);
      if (!visit(std::move(row))) return;
    }
  }
}

}  // namespace raddle::sweep
