// `raddle runs diff`: which points and results differ between two runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiler/driver/commands.hpp"
#include "compiler/driver/run_table.hpp"
#include "compiler/driver/runs.hpp"
#include "compiler/sweep/json_text.hpp"
#include "compiler/sweep/quantities.hpp"
#include "compiler/sweep/values.hpp"

namespace raddle::driver {

namespace {

using report::Role;
using sweep::with_commas;

constexpr int json_schema = 1;
constexpr std::size_t shown_points = 20;  // as text

using Cells = std::map<std::string, std::string>;  ///< by the column's name

/// Results and outcomes by parameters. A point that two rows have is the last one.
std::map<Cells, Cells> points_of(const RunTable& table) {
  const report::TableSource source = table.source();
  std::map<Cells, Cells> points;
  source.for_each([&](std::span<const std::string_view> cells) {
    Cells parameters, results;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto& [name, role] = source.columns[i];
      if (role == Role::parameter)
        parameters[name] = sweep::canonical_text(cells[i]);
      else if (role != Role::duration && !cells[i].empty())
        results[name] = cells[i];
    }
    points[std::move(parameters)] = std::move(results);
    return true;
  });
  return points;
}

struct Change {
  std::string name, before, after;  ///< "": not there
};

struct ChangedPoint {
  Cells parameters;
  std::vector<Change> changes;
};

struct Difference {
  bool is_other_work = false;
  std::uint64_t equal = 0;
  std::vector<ChangedPoint> changed;
  std::vector<Cells> only_before, only_after;
};

std::vector<Change> changes_between(const Cells& before, const Cells& after) {
  std::vector<Change> changes;
  const auto text_in = [](const Cells& cells, const std::string& name) {
    const auto found = cells.find(name);
    return found == cells.end() ? std::string() : found->second;
  };
  for (const auto& [name, text] : before)
    if (const std::string other = text_in(after, name); sweep::canonical_text(other) != sweep::canonical_text(text))
      changes.push_back({name, text, other});
  for (const auto& [name, text] : after)
    if (!before.contains(name)) changes.push_back({name, "", text});
  return changes;
}

Difference difference_of(const std::map<Cells, Cells>& before, const std::map<Cells, Cells>& after) {
  Difference difference;
  for (const auto& [parameters, results] : before) {
    const auto found = after.find(parameters);
    if (found == after.end()) {
      difference.only_before.push_back(parameters);
      continue;
    }
    std::vector<Change> changes = changes_between(results, found->second);
    if (changes.empty())
      ++difference.equal;
    else
      difference.changed.push_back({parameters, std::move(changes)});
  }
  for (const auto& [parameters, results] : after)
    if (!before.contains(parameters)) difference.only_after.push_back(parameters);
  return difference;
}

std::string text_of(const Cells& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string text_of(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& each : changes)
    text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : "; ", each.name, each.before.empty() ? "-" : each.before,
                        each.after.empty() ? "-" : each.after);
  return text;
}

std::string more_than_shown(std::size_t count) {
  return count > shown_points ? fmt::format("  .. and {} more; --json has all\n", with_commas(count - shown_points))
                              : "";
}

std::string points_text(const std::vector<Cells>& points, const std::string& run) {
  if (points.empty()) return "";
  std::string text = fmt::format("{} only in {}\n", with_commas(points.size()), run);
  for (std::size_t i = 0; i < points.size() && i < shown_points; ++i) text += "  " + text_of(points[i]) + "\n";
  return text + more_than_shown(points.size());
}

std::string difference_text(const Difference& difference, const vm::RunRow& before, const vm::RunRow& after) {
  std::string text =
      fmt::format("A {}: {}\nB {}: {}\n", before.id, command_text(before), after.id, command_text(after));
  text += difference.is_other_work
              ? "what is run at a point is not the same: another script, a changed one, or command\n"
              : "what is run at a point is the same\n";
  text += fmt::format("{} points alike in both\n", with_commas(difference.equal));
  if (!difference.changed.empty()) {
    text += fmt::format("{} with other results\n", with_commas(difference.changed.size()));
    for (std::size_t i = 0; i < difference.changed.size() && i < shown_points; ++i)
      text +=
          fmt::format("  {}: {}\n", text_of(difference.changed[i].parameters), text_of(difference.changed[i].changes));
    text += more_than_shown(difference.changed.size());
  }
  return text + points_text(difference.only_before, "A") + points_text(difference.only_after, "B");
}

std::string cells_json(const Cells& cells) {
  sweep::JsonObject json;
  for (const auto& [name, value] : cells) json.add_text(name, value);
  return json.text();
}

std::string list_json(const std::vector<Cells>& points) {
  std::vector<std::string> items;
  for (const Cells& each : points) items.push_back(cells_json(each));
  return fmt::format("[{}]", fmt::join(items, ","));
}

std::string change_json(const ChangedPoint& point) {
  std::vector<std::string> changes;
  for (const Change& each : point.changes) {
    sweep::JsonObject json;
    json.add("name", sweep::json_string(each.name));
    json.add_text("a", each.before);
    json.add_text("b", each.after);
    changes.push_back(json.text());
  }
  return fmt::format("{{\"parameters\":{},\"changes\":[{}]}}", cells_json(point.parameters), fmt::join(changes, ","));
}

std::string difference_json(const Difference& difference, const vm::RunRow& before, const vm::RunRow& after) {
  std::vector<std::string> changed;
  for (const ChangedPoint& each : difference.changed) changed.push_back(change_json(each));
  sweep::JsonObject json;
  json.add("a", sweep::json_string(before.id));
  json.add("b", sweep::json_string(after.id));
  json.add("same_work", difference.is_other_work ? "false" : "true");
  json.add("alike", std::to_string(difference.equal));
  json.add("changed", fmt::format("[{}]", fmt::join(changed, ",")));
  json.add("only_a", list_json(difference.only_before));
  json.add("only_b", list_json(difference.only_after));
  return fmt::format("{{\"schema\":{},\"diff\":{}}}\n", json_schema, json.text());
}

}  // namespace

int diff_runs(const std::string& name, const std::string& other, bool as_json) {
  const std::expected<vm::RunRow, int> before = find_run(name), after = before ? find_run(other) : before;
  if (!after) return after.error();
  vm::RunRecord record = *vm::RunRecord::open();
  const RunTable old_table(record, *before), new_table(record, *after);
  for (const auto& [run, table] : {std::pair(&*before, &old_table), std::pair(&*after, &new_table)})
    if (!table->note().empty()) fmt::print(stderr, "raddle: run {}: {}\n", run->id, table->note());
  Difference difference = difference_of(points_of(old_table), points_of(new_table));
  difference.is_other_work = before->work != after->work;
  return write_output(as_json ? difference_json(difference, *before, *after)
                              : difference_text(difference, *before, *after))
             ? exit_ok
             : exit_failed;
}

}  // namespace raddle::driver
