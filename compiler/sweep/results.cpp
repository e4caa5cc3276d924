#include "compiler/sweep/results.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "compiler/sweep/json_text.hpp"
#include "compiler/sweep/value_texts.hpp"

namespace raddle::sweep {
namespace {

constexpr std::size_t first_block = 64, largest_block = 1 << 16;  // points that are looked for together

constexpr std::string_view float_column = "float ", int_column = "int ";

}  // namespace

std::string text_of(std::int64_t word, ValueType type) {
  return type == ValueType::float_ ? fmt::format("{}", std::bit_cast<double>(word)) : fmt::format("{}", word);
}

std::string column_word(const ResultColumn& column) {
  return fmt::format("{}{}", column.type == ValueType::float_ ? float_column : int_column, column.name);
}

ResultColumn column_of(const std::string& word) {
  if (word.starts_with(float_column)) return {word.substr(float_column.size()), ValueType::float_};
  return {word.substr(int_column.size()), ValueType::int_};
}

bool EarlierResults::adapt(const Point& point, vm::EarlierResult& result) const {
  if (result.outcome != vm::PointOutcome::ok || result.collect == form_.collect) return true;
  if (result.stdout_size > result.stdout_end.size() || std::ranges::any_of(form_.collectors, &Collector::reads_file))
    return false;
  JsonObject results;
  for (const auto& [name, text] : json_members(result.results))
    if (std::ranges::find(form_.assigned, name) != form_.assigned.end()) results.add_text(name, text);
  if (!form_.collectors.empty() || form_.assigned.empty()) {
    const auto collected = collect_all(form_.collectors, point, result.stdout_end);
    if (!collected) return false;
    for (const auto& [name, text] : json_members(*collected)) results.add_text(name, text);
  }
  result.results = results.text();
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

BatchValues EarlierResults::find_in_batches(std::span<const std::uint64_t> numbers) {
  if (!batches_.is_empty()) return batches_.find(numbers, form_.points->keys(numbers));
  BatchValues none;
  none.is_found.resize(numbers.size());
  return none;
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

namespace {

/// One row after the other in the same memory.
class RowMaker {
 public:
  RowMaker(const ResultForm& form, EarlierResults& earlier)
      : form_(form), earlier_(earlier), values_(form.space), texts_(form.columns.size()) {
    for (const ResultColumn& column : form.columns) names_.push_back(column.name);
  }

  const ResultRow& of_batch(std::uint64_t number, const BatchValues& batches, std::size_t index) {
    values_.read(number, row_.values);
    row_.outcome = name_of(vm::PointOutcome::ok);
    set_duration(batches.durations_s[index]);
    row_.results.clear();
    for (std::size_t i = 0; i < std::min(texts_.size(), batches.columns.size()); ++i) {
      write(texts_[i], batches.columns[i][index], form_.columns[i].type);
      row_.results.emplace_back(names_[i], texts_[i]);
    }
    return row_;
  }

  const ResultRow& of_single(std::uint64_t number) {
    values_.read(number, row_.values);
    row_.outcome = "not run";
    row_.duration_s = {};
    row_.results.clear();
    found_ = earlier_.find_single(form_.space.point(number));
    if (!found_) return row_;
    row_.outcome = name_of(found_->outcome);
    set_duration(found_->duration_s);
    for (const auto& [name, text] : found_->results) row_.results.emplace_back(name, text);
    return row_;
  }

 private:
  static void write(std::string& text, std::int64_t word, ValueType type) {
    text.clear();
    if (type == ValueType::float_)
      fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), std::bit_cast<double>(word));
    else
      fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), word);
  }
  void set_duration(double seconds) {
    if (seconds != seconds_ || duration_.empty()) {
      duration_ = fmt::format("{:.{}f}", seconds, seconds < 1e-4 ? 9 : 6);
      seconds_ = seconds;
    }
    row_.duration_s = duration_;
  }

  const ResultForm& form_;
  EarlierResults& earlier_;
  ValueTexts values_;
  std::vector<std::string> names_, texts_;  // of the columns
  std::string duration_;
  double seconds_ = 0;  // that duration_ tells
  std::optional<EarlierResults::Found> found_;
  ResultRow row_;
};

}  // namespace

void ResultRows::for_each(const std::function<bool(const ResultRow&)>& visit) const {
  Cursor cursor(form_.space, options_);
  RowMaker maker(form_, earlier_);
  std::vector<std::uint64_t> numbers;
  for (std::size_t block = first_block;; block = std::min(2 * block, largest_block)) {
    numbers.clear();
    while (numbers.size() < block) {
      const std::optional<std::uint64_t> number = cursor.next_number();
      if (!number) break;
      numbers.push_back(*number);
    }
    if (numbers.empty()) return;
    const BatchValues batches = earlier_.find_in_batches(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const ResultRow& row = batches.is_found[i] ? maker.of_batch(numbers[i], batches, i) : maker.of_single(numbers[i]);
      if (!visit(row)) return;
    }
  }
}

}  // namespace raddle::sweep
