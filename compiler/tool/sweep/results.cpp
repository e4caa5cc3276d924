#include "compiler/tool/sweep/results.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "compiler/tool/sweep/failures.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "vm/value/text.hpp"

namespace raddle::sweep {
namespace {

constexpr std::size_t fewest_points = 64, most_points = 1 << 16;  // points that are looked for together

constexpr std::string_view parameter_word = "parameter ";

constexpr std::array<std::pair<std::string_view, ResultType>, 3> result_words = {
    {{"int ", ResultType::int_}, {"float ", ResultType::float_}, {"boolean ", ResultType::boolean}}};
constexpr std::array<std::pair<std::string_view, ValueType>, 3> value_words = {
    {{"int ", ValueType::int_}, {"float ", ValueType::float_}, {"string ", ValueType::string}}};

template <typename Type>
using TypeWord = std::pair<std::string_view, Type>;

template <typename Words, typename Type>
void append_typed_name(std::string& text, const Words& words, const std::string& name, Type type) {
  text += std::ranges::find(words, type, &TypeWord<Type>::second)->first;
  (text += name) += '\0';
}

/// Takes the type off the front of the word. @return nothing if there is none
template <typename Words>
auto take_type(const Words& words, std::string_view& word) -> std::optional<decltype(words.front().second)> {
  for (const auto& [text, type] : words) {
    if (!word.starts_with(text)) continue;
    word.remove_prefix(text.size());
    return type;
  }
  return std::nullopt;
}

CellType cell_type(ResultType type) {
  switch (type) {
    case ResultType::int_: return CellType::int_;
    case ResultType::float_: return CellType::float_;
    case ResultType::boolean: break;
  }
  return CellType::boolean;
}

}  // namespace

void append_result(std::string& text, std::int64_t word, ResultType type) {
  switch (type) {
    case ResultType::int_: fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), word); break;
    case ResultType::float_: vm::append_float(text, std::bit_cast<double>(word)); break;
    case ResultType::boolean: text += word == 0 ? "false" : "true"; break;
  }
}

std::string text_of(const BlockForm& form) {
  std::string text;
  for (const ResultColumn& column : form.results) append_typed_name(text, result_words, column.name, column.type);
  for (const auto& [name, type] : form.parameters) {
    text += parameter_word;
    append_typed_name(text, value_words, name, type);
  }
  return text;
}

BlockForm block_form(const std::vector<std::string>& words) {
  BlockForm form;
  for (const std::string_view word : words) {
    std::string_view left = word;
    if (left.starts_with(parameter_word)) {
      left.remove_prefix(parameter_word.size());
      if (const auto type = take_type(value_words, left)) form.parameters.emplace_back(left, *type);
    } else if (const auto type = take_type(result_words, left)) {
      form.results.push_back({std::string(left), *type});
    }
  }
  return form;
}

EarlierResults::EarlierResults(vm::RunRecord& record, const ResultForm& form, std::string own_run, std::string since)
    : record_(record),
      form_(form),
      own_run_(std::move(own_run)),
      since_(std::move(since)),
      stands_on_(record.stands_on(own_run_)) {
  if (!form.is_of_earlier_works) add_work(form.keys.work().low, form.columns);
  for (const EarlierWork& earlier : form.earlier_works) {
    add_work(earlier.work, earlier.columns);
    works_.back().keys = record.point_keys(earlier.work);
  }
}

void EarlierResults::add_work(std::uint64_t work, std::vector<ResultColumn> columns) {
  const std::uint64_t blocks_of = form_.points == nullptr ? 0 : work;
  works_.push_back({work, std::move(columns), EarlierBlocks(record_, blocks_of, own_run_, since_)});
}

std::vector<std::uint64_t> EarlierResults::keys_of(const Work& work, std::span<const std::uint64_t> numbers) const {
  std::vector<std::uint64_t> keys = form_.points->keys(numbers);
  const std::uint64_t difference = work.work - form_.keys.work().low;
  for (std::uint64_t& key : keys) key += difference;
  return keys;
}

/// Of an earlier work only half of the hash is known: the other half of the key is that of the point in the record.
std::optional<vm::PointKey> EarlierResults::key_of(const Work& work, const Point& point) const {
  const vm::PointKey own = form_.keys.of(point);
  if (work.work == form_.keys.work().low) return own;
  const std::uint64_t low = own.low - form_.keys.work().low + work.work;
  const auto found = std::ranges::lower_bound(work.keys, low, {}, &vm::PointKey::low);
  return found == work.keys.end() || found->low != low ? std::nullopt : std::optional(*found);
}

bool EarlierResults::adapt(const Point& point, vm::EarlierResult& result) const {
  vm::Attempt& attempt = result.attempt;
  if (attempt.outcome != vm::PointOutcome::ok || result.collect == form_.collect) return true;
  if (attempt.stdout_size > attempt.stdout_end.size() || std::ranges::any_of(form_.collectors, &Collector::reads_file))
    return false;
  JsonObject results;
  for (const JsonMember& member : typed_members(attempt.results))
    if (std::ranges::find(form_.assigned, member.name) != form_.assigned.end())
      results.add(member.name, json_of(member));
  if (!form_.collectors.empty() || form_.assigned.empty()) {
    const auto collected = collect_all(form_.collectors, point, {}, attempt.stdout_end);
    if (!collected) return false;
    for (const JsonMember& member : typed_members(*collected)) results.add(member.name, json_of(member));
  }
  attempt.results = results.text();
  return true;
}

bool EarlierResults::is_done(const Point& point) {
  std::optional<InputFiles::Change> changed;  // of the latest
  const auto fits = [&](const vm::Attempt& attempt) {
    std::optional<InputFiles::Change> found = changed_file_of(attempt, point);
    const bool fits_point = !found;
    if (found && !changed) changed = std::move(found);
    return fits_point;
  };
  std::optional<vm::EarlierResult> result = record_.find_done(form_.keys.of(point), since_, fits);
  if (!result && !changed_file_) changed_file_ = std::move(changed);
  if (!result || !adapt(point, *result)) return false;
  taken_.push_back(result->attempt.row_digest);
  return true;
}

std::optional<InputFiles::Change> EarlierResults::changed_file_of(const vm::Attempt& attempt,
                                                                  const Point& point) const {
  return form_.inputs == nullptr ? std::nullopt : form_.inputs->changed(attempt.inputs, point);
}

std::vector<bool> EarlierResults::are_done(std::span<const std::uint64_t> numbers) {
  std::vector<bool> are_done(numbers.size());
  std::vector<std::uint64_t> keys;
  if (form_.points != nullptr) {
    if (!single_keys_) single_keys_ = record_.done_keys(form_.keys.work().low, since_);
    EarlierBlocks& blocks = works_.front().blocks;
    if (single_keys_->empty() && blocks.is_empty()) return are_done;
    keys = form_.points->keys(numbers);
    are_done = blocks.contain(numbers, keys);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (are_done[i]) continue;
    if (single_keys_ && !std::ranges::binary_search(*single_keys_, keys[i])) continue;
    are_done[i] = is_done(form_.space.point(numbers[i]));
  }
  return are_done;
}

std::vector<bool> EarlierResults::are_done_by_now(std::span<const std::uint64_t> numbers, bool is_block) {
  if (is_block)
    return EarlierBlocks(record_, form_.keys.work().low, own_run_, since_)
        .contain(numbers, form_.points->keys(numbers), /*only_near=*/true);
  std::vector<bool> are_done;
  for (const std::uint64_t number : numbers) are_done.push_back(is_done(form_.space.point(number)));
  return are_done;
}

std::optional<EarlierResults::Found> EarlierResults::find_single(std::size_t work, const Point& point) {
  const std::optional<vm::PointKey> key = key_of(works_[work], point);
  if (!key) return std::nullopt;
  std::optional<vm::EarlierResult> result = record_.find_latest(
      *key, stands_on_, [&](const vm::Attempt& attempt) { return !changed_file_of(attempt, point); });
  if (!result || !adapt(point, *result)) return std::nullopt;
  has_strange_points_ |= !result->is_of_run;
  const vm::Attempt& attempt = result->attempt;
  return Found{attempt.outcome, attempt.duration_s, reason_of(attempt), attempt.inputs, typed_members(attempt.results)};
}

BlockValues EarlierResults::find_in_blocks(std::size_t work, std::span<const std::uint64_t> numbers) {
  EarlierBlocks& blocks = works_[work].blocks;
  if (!blocks.is_empty()) return blocks.find(numbers, keys_of(works_[work], numbers));
  BlockValues none;
  none.is_found.resize(numbers.size());
  return none;
}

ResultRows::ResultRows(const ResultForm& form, CursorOptions options, EarlierResults& earlier)
    : form_(form), options_(std::move(options)), earlier_(earlier) {
  options_.order_seed.reset();
}

ResultNames ResultRows::known_results() const {
  ResultNames known{form_.assigned, !form_.is_of_earlier_works || !form_.assigned.empty()};
  if (known.are_all && known.names.empty() && form_.collectors.empty()) known.names.emplace_back(printed_result);
  for (const Collector& collector : form_.collectors) {
    std::ranges::copy(collector.names(), std::back_inserter(known.names));
    known.are_all &= !collector.names().empty();
  }
  return known;
}

bool ResultRows::is_text(std::string_view name) const {
  return std::ranges::find(form_.texts, name) != form_.texts.end();
}

std::optional<CellType> ResultRows::known_type(std::string_view result) const {
  if (is_text(result)) return CellType::string;
  const auto column = std::ranges::find(form_.columns, result, &ResultColumn::name);
  const bool are_of_columns = form_.earlier_works.empty() && !form_.is_of_earlier_works;
  return are_of_columns && column != form_.columns.end() ? std::optional(cell_type(column->type)) : std::nullopt;
}

namespace {

/// Of what the record has of a single point. There a string that looks like a JSON number was one before, and numbers
/// that JSON has not stand as strings, too.
/// @param is_printed  it is a line that was printed, which is what it looks like
CellType cell_type(const JsonMember& result, bool is_printed) {
  if (is_printed) return type_of_cell(result.text);
  const bool is_number = !result.text.empty() && !json_value(result.text).starts_with('"');
  if (result.text.empty() || (result.is_string && is_number)) return CellType::string;
  const CellType type = type_of_cell(result.text);
  return type == CellType::string && is_number ? CellType::float_ : type;  // an int of JSON's has any size
}

/// One row after the other in the same memory.
class RowMaker {
 public:
  RowMaker(const ResultForm& form, EarlierResults& earlier)
      : form_(form),
        is_of_output_(form.collectors.empty() && form.assigned.empty()),
        earlier_(earlier),
        values_(form.space, form.known) {}

  const ResultRow& of_block(std::size_t work, std::uint64_t number, const BlockValues& blocks, std::size_t index) {
    begin(number, name_of(vm::PointOutcome::ok));
    set_duration(blocks.durations_s[index]);
    const std::vector<ResultColumn>& columns = earlier_.columns_of(work);
    texts_.resize(std::max(texts_.size(), columns.size()));
    for (std::size_t i = 0; i < std::min(columns.size(), blocks.columns.size()); ++i) {
      texts_[i].clear();
      append_result(texts_[i], blocks.columns[i][index], columns[i].type);
      row_.results.push_back({columns[i].name, texts_[i], cell_type(columns[i].type)});
    }
    return row_;
  }

  /// @return null if there is none
  const ResultRow* of_single(std::size_t work, std::uint64_t number) {
    found_ = earlier_.find_single(work, form_.space.point(number));
    if (!found_) return nullptr;
    begin(number, name_of(found_->outcome));
    set_duration(found_->duration_s);
    if (!found_->reason.empty()) row_.reason = found_->reason;
    row_.inputs = found_->inputs;
    for (const JsonMember& result : found_->results) {
      const bool is_printed = is_of_output_ && result.name == printed_result;
      const bool is_there = !result.text.empty() || (result.is_string && !is_printed);
      row_.results.push_back({result.name, is_there ? std::string_view(result.text) : std::string_view(),
                              is_there ? cell_type(result, is_printed) : CellType::string});
    }
    return &row_;
  }

  const ResultRow& of_none(std::uint64_t number) {
    begin(number, not_run);
    return row_;
  }

 private:
  void begin(std::uint64_t number, std::string_view outcome) {
    values_.read(number, row_.values);
    row_.outcome = outcome;
    row_.duration_s = row_.reason = row_.inputs = {};
    row_.results.clear();
  }
  void set_duration(double seconds) {
    if (seconds != seconds_ || duration_.empty()) {
      duration_ = fmt::format("{:.{}f}", seconds, seconds < 1e-4 ? 9 : 6);
      seconds_ = seconds;
    }
    row_.duration_s = duration_;
  }

  const ResultForm& form_;
  const bool is_of_output_;  // nothing is collected or assigned
  EarlierResults& earlier_;
  ValueTexts values_;
  std::vector<std::string> texts_;  // of the columns
  std::string duration_;
  double seconds_ = 0;  // that duration_ tells
  std::optional<EarlierResults::Found> found_;
  ResultRow row_;
};

/// Rows of many points: of each what the latest work has that has it.
class RowReader {
 public:
  RowReader(const ResultForm& form, EarlierResults& earlier) : earlier_(earlier), maker_(form, earlier) {}

  void find(std::span<const std::uint64_t> numbers) {
    blocks_.clear();
    for (std::size_t work = 0; work < earlier_.work_count(); ++work)
      blocks_.push_back(earlier_.find_in_blocks(work, numbers));
  }
  const ResultRow& row(std::uint64_t number, std::size_t index) {
    for (std::size_t work = 0; work < blocks_.size(); ++work) {
      if (blocks_[work].is_found[index]) return maker_.of_block(work, number, blocks_[work], index);
      if (const ResultRow* found = maker_.of_single(work, number)) return *found;
    }
    earlier_.note_missing(number);
    return maker_.of_none(number);
  }

 private:
  EarlierResults& earlier_;
  RowMaker maker_;
  std::vector<BlockValues> blocks_;  // by work
};

}  // namespace

void ResultRows::for_each(const std::function<bool(const ResultRow&)>& visit) const {
  Cursor cursor(form_.space, options_);
  RowReader reader(form_, earlier_);
  std::vector<std::uint64_t> numbers;
  for (std::size_t count = fewest_points;; count = std::min(2 * count, most_points)) {
    numbers.clear();
    while (numbers.size() < count) {
      const std::optional<std::uint64_t> number = cursor.next_number();
      if (!number) break;
      numbers.push_back(*number);
    }
    if (numbers.empty()) return;
    reader.find(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!visit(reader.row(numbers[i], i))) return;
  }
}

}  // namespace raddle::sweep
