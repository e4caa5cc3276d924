#include "compiler/tool/sweep/sweep_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "compiler/tool/sweep/table.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

/// @param is_script  its results are what it says that they are
void warn_of_texts(const sweep::Table& table, bool is_script) {
  for (const sweep::Table::NonNumbers& each : table.non_numbers()) {
    if (each.booleans != 0 && each.numbers != 0)
      warn(fmt::format("{} of `{}` {} true or false: beside numbers its statistics count that as 1 or 0",
                       sweep::counted(each.booleans, "value"), each.name, each.booleans == 1 ? "is" : "are"));
    if (each.texts == 0) continue;
    if (each.booleans + each.numbers == 0)
      vm::print_stderr("raddle: warning: no value of `{}` is a number: its statistics are empty\n{}", each.name,
                       is_script ? ""
                                 : "  = help: --collect takes numbers out of what is printed, as --collect "
                                   "'regex:E=(\\S+)'\n");
    else
      warn(fmt::format("{} of `{}` {}, as `{}`: its statistics leave that out", sweep::counted(each.texts, "value"),
                       each.name, each.texts == 1 ? "is no number" : "are no numbers", sweep::shortened(each.example)));
  }
}

std::expected<void, std::string> write_table(const SweepRequest& request, const SweepPlan& plan,
                                             const sweep::ResultRows& rows) {
  constexpr std::size_t shown_rows = 20;
  const std::string& path = request.output;
  const sweep::Table table(rows, plan.grouping);
  if (!plan.grouping.statistics.empty() && !request.script_options.is_quiet)
    warn_of_texts(table, plan.columns.has_value());
  if (request.as_json && path.empty()) return {};
  if (path == "-" || (path.empty() && isatty(STDOUT_FILENO) == 0)) return table.print_csv();
  if (!path.empty()) return table.write_file(path, plan.form);
  if (!write_output(table.excerpt(shown_rows))) return std::unexpected("");
  return {};
}

}  // namespace

std::expected<void, std::string> write_sweep_table(const SweepRequest& request, const SweepPlan& plan,
                                                   vm::RunRecord& record, const std::string& run) {
  const sweep::ResultForm form = plan.result_form();
  sweep::CursorOptions points = plan.cursor;
  if (!request.output.empty())
    points.numbers.clear();  // a file has the whole table, also if some points only were run again
  sweep::EarlierResults earlier(record, form, run);  // with what this run has added
  const sweep::ResultRows rows(form, points, earlier);
  std::expected<void, std::string> written = write_table(request, plan, rows);
  const bool is_whole = plan.cursor.numbers.empty();  // else other points may never have been run
  if (written && is_whole && earlier.missing_point() != 0)
    return std::unexpected(
        fmt::format("point {} is `not run` in the table, and perhaps others are: the record does not have any more "
                    "what it had when the sweep began\n  = help: the same line runs what is missing",
                    sweep::with_commas(earlier.missing_point())));
  return written;
}

}  // namespace raddle::tool
