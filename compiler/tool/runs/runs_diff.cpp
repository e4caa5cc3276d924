// `raddle runs diff`: which points or tasks, which results and which input files differ between two runs.
//
// The tables are read twice. First a row is two hashes, one of its parameters and one of its results: 32 bytes tell
// which points differ. Then only the texts of those that are shown are kept.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/runs/input_differences.hpp"
#include "compiler/tool/runs/run_table.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/runs/value_difference.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/space/values.hpp"
#include "vm/value/hash.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

using report::Role;
using sweep::with_commas;

constexpr std::size_t shown_points = 20;  // as text

using RowNumber = std::uint32_t;  ///< in the order of a table, from 0
using Cells = NamedValues;        ///< by the columns' names, in their order

struct HashedRow {
  vm::Hash128 parameters;
  std::uint64_t results = 0;
  RowNumber row = 0;
};

struct TextRow {
  Cells parameters, results;  ///< results that are empty are not there
};

/// Takes rows apart: which columns are compared, in the order of their names, whatever their order in the table.
class RowReader {
 public:
  /// @param of_tasks  their numbers, where they were called, and whether they were run, is no difference
  RowReader(const report::TableSource& source, bool of_tasks) {
    for (std::size_t i = 0; i < source.columns.size(); ++i) {
      const auto& [name, role] = source.columns[i];
      if (of_tasks && (name == number_of_task || name == "at" || name == "source")) continue;
      if (role == Role::outcome) outcome_ = i;
      if (role != Role::duration) (role == Role::parameter ? parameters_ : results_).emplace_back(name, i);
    }
    std::ranges::sort(parameters_);
    std::ranges::sort(results_);
  }

  /// Whether the record has the row's point.
  bool is_known(std::span<const std::string_view> cells) const { return cells[outcome_] != sweep::not_run; }

  HashedRow hashed(std::span<const std::string_view> cells, std::size_t row) {
    text_.clear();
    for (const auto& [name, index] : parameters_) add(name, cells[index]);
    const vm::Hash128 parameters = vm::hash(text_);
    text_.clear();
    for (const auto& [name, index] : results_)
      if (!sweep::is_missing(cells[index])) add(name, cells[index]);
    return {parameters, vm::hash(text_).low, static_cast<RowNumber>(row)};
  }

  TextRow texts(std::span<const std::string_view> cells) const {
    TextRow row;
    for (const auto& [name, index] : parameters_)
      row.parameters.emplace_back(name, sweep::canonical_text(cells[index]));
    for (const auto& [name, index] : results_)
      if (!sweep::is_missing(cells[index])) row.results.emplace_back(name, cells[index]);
    return row;
  }

 private:
  using Column = std::pair<std::string, std::size_t>;  // name, place in the table
  void add(const std::string& name, std::string_view cell) {
    (text_ += name) += '\0';
    (text_ += sweep::canonical_text(cell)) += '\0';
  }
  std::vector<Column> parameters_, results_;
  std::size_t outcome_ = 0;
  std::string text_;
};

/// A row for each point, sorted by its parameters' hashes: of a point that two rows have the last one.
/// @param of_tasks  several may do the same: their rows are all kept
std::vector<HashedRow> hashed_rows(const report::TableSource& source, bool of_tasks) {
  RowReader reader(source, of_tasks);
  std::vector<HashedRow> rows;
  std::size_t count = 0;
  source.for_each([&](std::span<const std::string_view> cells) {
    if (reader.is_known(cells)) rows.push_back(reader.hashed(cells, count));
    ++count;
    return true;
  });
  std::ranges::sort(rows, {}, [](const HashedRow& row) {
    return std::tuple(row.parameters.high, row.parameters.low, ~row.row);  // the last one first
  });
  if (of_tasks) return rows;
  const auto others = std::ranges::unique(rows, {}, &HashedRow::parameters);
  rows.erase(others.begin(), others.end());
  return rows;
}

/// Takes rows that are in both tables away, whatever their order. @return how many
std::uint64_t take_equal(std::vector<HashedRow>& before, std::vector<HashedRow>& after) {
  const auto key = [](const HashedRow& row) {
    return std::tuple(row.parameters.high, row.parameters.low, row.results);
  };
  const auto order = [&](const HashedRow& row) { return std::tuple_cat(key(row), std::tuple(row.row)); };
  std::ranges::sort(before, {}, order);
  std::ranges::sort(after, {}, order);
  std::vector<HashedRow> left_before, left_after;
  std::uint64_t equal = 0;
  auto own = before.begin();
  for (const HashedRow& other : after) {
    for (; own != before.end() && key(*own) < key(other); ++own) left_before.push_back(*own);
    if (own == before.end() || key(*own) != key(other)) {
      left_after.push_back(other);
      continue;
    }
    ++own;
    ++equal;
  }
  left_before.insert(left_before.end(), own, before.end());
  before = std::move(left_before);
  after = std::move(left_after);
  return equal;
}

/// Points by their rows in the two tables, in the order of the first one.
struct Difference {
  bool is_other_work = false;
  std::uint64_t equal = 0;
  std::vector<std::pair<RowNumber, RowNumber>> changed;
  std::vector<RowNumber> only_before, only_after;
};

/// @param before,after  as hashed_rows() has them
Difference difference_of(const std::vector<HashedRow>& before, const std::vector<HashedRow>& after) {
  Difference found;
  const auto key = [](const HashedRow& row) { return std::pair(row.parameters.high, row.parameters.low); };
  auto own = before.begin();
  for (const HashedRow& other : after) {
    for (; own != before.end() && key(*own) < key(other); ++own) found.only_before.push_back(own->row);
    if (own == before.end() || key(*own) != key(other)) {
      found.only_after.push_back(other.row);
      continue;
    }
    if (own->results == other.results)
      ++found.equal;
    else
      found.changed.emplace_back(own->row, other.row);
    ++own;
  }
  for (; own != before.end(); ++own) found.only_before.push_back(own->row);
  std::ranges::sort(found.changed);
  std::ranges::sort(found.only_before);
  std::ranges::sort(found.only_after);
  return found;
}

/// The texts of some rows of a table.
class TextRows {
 public:
  TextRows(const report::TableSource& source, std::vector<RowNumber> wanted, bool of_tasks)
      : wanted_(std::move(wanted)) {
    std::ranges::sort(wanted_);
    if (wanted_.empty()) return;
    const RowReader reader(source, of_tasks);
    RowNumber row = 0;
    source.for_each([&](std::span<const std::string_view> cells) {
      if (row++ == wanted_[rows_.size()]) rows_.push_back(reader.texts(cells));
      return rows_.size() < wanted_.size();
    });
  }
  /// @pre it is one of those that were wanted
  const TextRow& operator[](RowNumber row) const {
    return rows_[static_cast<std::size_t>(std::ranges::lower_bound(wanted_, row) - wanted_.begin())];
  }

 private:
  std::vector<RowNumber> wanted_;  // sorted
  std::vector<TextRow> rows_;
};

/// A difference with the texts of what is told.
struct Telling {
  const Difference& difference;
  TextRows before, after;
  std::vector<InputDifference> inputs;  ///< of points: tasks have theirs among the results
};

/// @param most  points of each kind
Telling telling_of(const Difference& difference, const RunTable& before, const RunTable& after, std::size_t most,
                   bool of_tasks) {
  std::vector<RowNumber> own, other;
  for (std::size_t i = 0; i < std::min(most, difference.changed.size()); ++i) {
    own.push_back(difference.changed[i].first);
    other.push_back(difference.changed[i].second);
  }
  const auto add_first = [&](std::vector<RowNumber>& rows, const std::vector<RowNumber>& added) {
    rows.insert(rows.end(), added.begin(), added.begin() + static_cast<std::ptrdiff_t>(std::min(most, added.size())));
  };
  add_first(own, difference.only_before);
  add_first(other, difference.only_after);
  return {difference, TextRows(before.source(), std::move(own), of_tasks),
          TextRows(after.source(), std::move(other), of_tasks),
          of_tasks ? std::vector<InputDifference>() : input_differences(before, after)};
}

std::string text_of(const Cells& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string changes_text(const std::vector<ValueDifference>& changes) {
  std::string text;
  for (const ValueDifference& each : changes)
    text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : "; ", each.name, shown(each.before, "-"),
                        shown(each.now, "-"));
  return text;
}

std::string more_than_shown(std::size_t count) {
  return count > shown_points ? fmt::format("  .. and {} more; --json has all\n", with_commas(count - shown_points))
                              : "";
}

std::string points_text(const std::vector<RowNumber>& points, const TextRows& rows, const char* run) {
  if (points.empty()) return "";
  std::string text = fmt::format("{} only in {}\n", with_commas(points.size()), run);
  for (std::size_t i = 0; i < points.size() && i < shown_points; ++i)
    text += "  " + text_of(rows[points[i]].parameters) + "\n";
  return text + more_than_shown(points.size());
}

std::string inputs_text(const std::vector<InputDifference>& inputs) {
  if (inputs.empty()) return "";
  std::string text = "files that are not what they were:\n";
  for (std::size_t i = 0; i < inputs.size() && i < shown_points; ++i)
    text +=
        fmt::format("  {}, read at {}\n", changes_text({inputs[i].file}), sweep::counted(inputs[i].points, "point"));
  return text + more_than_shown(inputs.size());
}

std::string difference_text(const Telling& told, const vm::RunRow& before, const vm::RunRow& after) {
  const Difference& difference = told.difference;
  std::string text = fmt::format("A {}: {}\nB {}: {}\n", before.id, cut_on_terminal(command_text(before)), after.id,
                                 cut_on_terminal(command_text(after)));
  const bool have_tasks = is_of_script(before) && is_of_script(after);
  if (!have_tasks)
    text += difference.is_other_work
                ? "what is run at a point is not the same: another script, a changed one, or command\n"
                : "what is run at a point is the same\n";
  text += fmt::format("{} alike in both\n", sweep::counted(difference.equal, have_tasks ? "task" : "point"));
  if (!difference.changed.empty()) {
    text += fmt::format("{} with other results\n", with_commas(difference.changed.size()));
    for (std::size_t i = 0; i < difference.changed.size() && i < shown_points; ++i) {
      const TextRow &own = told.before[difference.changed[i].first], &other = told.after[difference.changed[i].second];
      text +=
          fmt::format("  {}: {}\n", text_of(own.parameters), changes_text(differences_of(other.results, own.results)));
    }
    text += more_than_shown(difference.changed.size());
  }
  return text + points_text(difference.only_before, told.before, "A") +
         points_text(difference.only_after, told.after, "B") + inputs_text(told.inputs);
}

std::string cells_json(const Cells& cells) {
  sweep::JsonObject json;
  for (const auto& [name, value] : cells) json.add_text(name, value);
  return json.text();
}

std::string list_json(const std::vector<RowNumber>& points, const TextRows& rows) {
  std::vector<std::string> items;
  for (const RowNumber each : points) items.push_back(cells_json(rows[each].parameters));
  return fmt::format("[{}]", fmt::join(items, ","));
}

std::string change_json(const TextRow& before, const TextRow& after) {
  std::vector<std::string> changes;
  for (const ValueDifference& each : differences_of(after.results, before.results)) {
    sweep::JsonObject json;
    json.add("name", sweep::json_string(each.name));
    json.add("a", each.before ? sweep::json_value(*each.before) : "null");
    json.add("b", each.now ? sweep::json_value(*each.now) : "null");
    changes.push_back(json.text());
  }
  return fmt::format("{{\"parameters\":{},\"changes\":[{}]}}", cells_json(before.parameters), fmt::join(changes, ","));
}

std::string inputs_json(const std::vector<InputDifference>& inputs) {
  std::vector<std::string> items;
  for (const InputDifference& each : inputs) {
    sweep::JsonObject json;
    json.add("file", sweep::json_string(each.file.name));
    json.add("a", each.file.before ? sweep::json_string(*each.file.before) : "null");
    json.add("b", each.file.now ? sweep::json_string(*each.file.now) : "null");
    json.add("points", std::to_string(each.points));
    items.push_back(json.text());
  }
  return fmt::format("[{}]", fmt::join(items, ","));
}

std::string difference_json(const Telling& told, const vm::RunRow& before, const vm::RunRow& after) {
  const Difference& difference = told.difference;
  std::vector<std::string> changed;
  for (const auto& [own, other] : difference.changed)
    changed.push_back(change_json(told.before[own], told.after[other]));
  sweep::JsonObject json;
  json.add("a", sweep::json_string(before.id));
  json.add("b", sweep::json_string(after.id));
  json.add("same_work", difference.is_other_work ? "false" : "true");
  json.add("alike", std::to_string(difference.equal));
  json.add("changed", fmt::format("[{}]", fmt::join(changed, ",")));
  json.add("only_a", list_json(difference.only_before, told.before));
  json.add("only_b", list_json(difference.only_after, told.after));
  json.add("inputs", inputs_json(told.inputs));
  return json_line("\"diff\":" + json.text());
}

/// Two reads of each table, between which nobody is to change the record.
std::string text_of_runs(vm::RunRecord& record, const vm::RunRow& before, const vm::RunRow& after, bool as_json) {
  const RunTable old_table(record, before), new_table(record, after);
  for (const auto& [run, table] : {std::pair(&before, &old_table), std::pair(&after, &new_table)})
    if (!table->note().empty()) vm::print_stderr("raddle: run {}: {}\n", run->id, table->note());
  const bool of_tasks = is_of_script(before) && is_of_script(after);
  std::vector<HashedRow> old_rows = hashed_rows(old_table.source(), of_tasks);
  std::vector<HashedRow> new_rows = hashed_rows(new_table.source(), of_tasks);
  const std::uint64_t equal = of_tasks ? take_equal(old_rows, new_rows) : 0;
  Difference difference = difference_of(old_rows, new_rows);
  difference.equal += equal;
  difference.is_other_work = before.work != after.work;
  const std::size_t most = as_json ? std::numeric_limits<std::size_t>::max() : shown_points;
  const Telling told = telling_of(difference, old_table, new_table, most, of_tasks);
  return as_json ? difference_json(told, before, after) : difference_text(told, before, after);
}

}  // namespace

int diff_runs(const std::string& name, const std::string& other, bool as_json) {
  const std::expected<vm::RunRow, int> before = find_run(name), after = before ? find_run(other) : before;
  if (!after) return after.error();
  vm::RunRecord record = *vm::RunRecord::open();
  std::string text;
  record.read_together([&] { text = text_of_runs(record, *before, *after, as_json); });
  return write_output(text) ? exit_ok : exit_failed;
}

}  // namespace raddle::tool
