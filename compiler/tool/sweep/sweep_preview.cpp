#include "compiler/tool/sweep/sweep_preview.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vm/external/shell_command.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

/// What is found among the points: all of them where that takes no long time, else the first ones.
struct Preview {
  std::uint64_t looked_at = 0, count = 0, taken = 0;
  std::vector<std::uint64_t> first = {};  ///< to be run
};

/// The points of a plan, and what the record has of them.
struct Points {
  Points(const SweepRequest& request, const SweepPlan& plan)
      : record(request.use_record ? vm::RunRecord::open() : std::nullopt),
        form(plan.result_form()),
        cursor(plan.space, plan.cursor) {
    if (record && record->has_points(plan.keys.work().low)) earlier.emplace(*record, form, "", request.since);
  }
  std::optional<vm::RunRecord> record;
  const sweep::ResultForm form;
  std::optional<sweep::EarlierResults> earlier;
  sweep::Cursor cursor;
};

Preview look_at_points(sweep::Cursor& cursor, sweep::EarlierResults* earlier, bool is_filtered,
                       std::size_t most_shown) {
  constexpr std::size_t block = 1024;
  constexpr auto most_time = std::chrono::seconds(2);
  const auto begin = std::chrono::steady_clock::now();
  Preview found;
  for (std::vector<std::uint64_t> numbers;; numbers.clear()) {
    while (numbers.size() < block) {
      const std::optional<std::uint64_t> number = cursor.next_number();
      if (!number) break;
      numbers.push_back(*number);
    }
    const std::vector<bool> are_done =
        earlier != nullptr ? earlier->are_done(numbers) : std::vector<bool>(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!are_done[i] && found.first.size() < most_shown) found.first.push_back(numbers[i]);
      found.taken += are_done[i] ? 1 : 0;
    }
    found.count += numbers.size();
    found.looked_at = cursor.position();
    if (numbers.empty()) return found;
    if (earlier == nullptr && !is_filtered) {  // the others are counted without a look
      found.looked_at = found.count = cursor.size();
      return found;
    }
    if (std::chrono::steady_clock::now() - begin > most_time) return found;
  }
}

/// How the points of a script are run.
std::string manner(const SweepRequest& request, const SweepPlan& plan) {
  const std::string why = !plan.collectors.empty()        ? "--collect looks at what it prints"
                          : request.timeout_s > 0         ? "--timeout ends it"
                          : plan.script->runs_in_blocks() ? ""
                                                          : plan.script->why_not_in_blocks();
  return why.empty() ? "thousands of points are computed together" : "each point is a run by itself: " + why;
}

}  // namespace

int preview_sweep(const SweepRequest& request, const SweepPlan& plan) {
  constexpr std::size_t shown = 5;
  Points points(request, plan);
  sweep::Cursor& cursor = points.cursor;
  std::optional<sweep::EarlierResults>& earlier = points.earlier;
  const Preview found =
      look_at_points(cursor, earlier ? &*earlier : nullptr, static_cast<bool>(plan.cursor.filter), shown);
  if (!cursor.error().empty()) {
    vm::print_stderr("raddle: {}\n", cursor.error());
    return exit_failed;
  }
  std::string text;
  for (const std::uint64_t number : found.first)
    text += vm::shell_line(plan.command.words_for(plan.space.point(number), {})) + "\n";
  const std::uint64_t runs = found.count - found.taken;
  if (runs > found.first.size()) text += "...\n";
  if (found.looked_at == cursor.size())
    vm::print_stderr("raddle: {}, {} of them in the record: {}\n", sweep::counted(found.count, "point"),
                     sweep::with_commas(found.taken), sweep::counted(runs, "run"));
  else
    vm::print_stderr("raddle: {} points; of the first {}, {}{} are in the record, and {} would be run\n",
                     sweep::with_commas(cursor.size()), sweep::with_commas(found.looked_at),
                     plan.cursor.filter ? fmt::format("--where keeps {}, ", sweep::with_commas(found.count)) : "",
                     sweep::with_commas(found.taken), sweep::with_commas(runs));
  if (plan.script) vm::print_stderr("raddle: {}\n", manner(request, plan));
  return write_output(text) ? exit_ok : exit_failed;
}

bool has_runs(const SweepRequest& request, const SweepPlan& plan) {
  Points points(request, plan);
  while (const std::optional<std::uint64_t> number = points.cursor.next_number())
    if (!points.earlier || !points.earlier->are_done(std::span(&*number, 1)).front()) return true;
  return false;
}

}  // namespace raddle::tool
