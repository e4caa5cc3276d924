// `raddle plot`: a recorded run's numbers against each other, on the terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/runs/run_table.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "compiler/tool/terminal/plot.hpp"
#include "compiler/tool/terminal/tty.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

using report::Role;
using report::TableSource;
using terminal::PlotPoint;

constexpr std::size_t row_number = std::numeric_limits<std::size_t>::max();  ///< in place of a column

struct PlotWords {
  std::string run, x, y;
  bool log_x = false, log_y = false;
};

/// What is known of a column before it is chosen.
struct Numbers {
  std::unordered_set<double> different;  ///< as many as are counted
  bool has_others = false;               ///< cells that are there and no numbers
};

std::vector<Numbers> numbers_of(const TableSource& source) {
  constexpr std::size_t counted_values = 100'000;
  std::vector<Numbers> all(source.columns.size());
  source.for_each([&](std::span<const std::string_view> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (sweep::is_missing(cells[i])) continue;
      const std::optional<double> number = sweep::read_number(cells[i]);
      if (!number)
        all[i].has_others |= !sweep::is_not_finite(cells[i]);
      else if (all[i].different.size() < counted_values)
        all[i].different.insert(*number);
    }
    return true;
  });
  return all;
}

/// The column of that role with numbers only, and the most different ones; the first of several.
std::size_t best_column(const TableSource& source, const std::vector<Numbers>& numbers, Role role) {
  std::size_t best = row_number;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (source.columns[i].role != role || numbers[i].has_others || numbers[i].different.empty()) continue;
    if (best == row_number || (role == Role::parameter && numbers[i].different.size() > numbers[best].different.size()))
      best = i;
  }
  return best;
}

std::expected<std::size_t, std::string> column_named(const TableSource& source, const std::vector<Numbers>& numbers,
                                                     const std::string& name) {
  for (std::size_t i = 0; i < source.columns.size(); ++i) {
    if (source.columns[i].name != name) continue;
    if (numbers[i].different.empty())
      return std::unexpected(fmt::format("there is no number in the column `{}`", name));
    return i;
  }
  std::vector<std::string> names;
  for (const report::TableColumn& column : source.columns) names.push_back(column.name);
  const std::string nearest = nearest_name(name, names);
  return std::unexpected(nearest.empty()
                             ? fmt::format("there is no column `{}`; there are {}", name, fmt::join(names, ", "))
                             : fmt::format("there is no column `{}`; did you mean `{}`?", name, nearest));
}

/// Rows without one of the numbers have no point.
std::vector<PlotPoint> points_of(const TableSource& source, std::size_t x, std::size_t y, const PlotWords& words) {
  std::vector<PlotPoint> points;
  double row = 0;
  source.for_each([&](std::span<const std::string_view> cells) {
    const std::optional<double> across = x == row_number ? ++row : sweep::read_number(cells[x]);
    const std::optional<double> up = sweep::read_number(cells[y]);
    if (across && up)
      points.push_back({words.log_x ? std::log10(*across) : *across, words.log_y ? std::log10(*up) : *up});
    return true;
  });
  std::erase_if(points, [](const PlotPoint& each) { return !std::isfinite(each.x) || !std::isfinite(each.y); });
  std::ranges::stable_sort(points, {}, &PlotPoint::x);
  return points;
}

std::string axis(const std::string& name, bool is_log) { return is_log ? fmt::format("log10({})", name) : name; }

std::expected<std::string, std::string> drawn(const TableSource& source, const PlotWords& words) {
  const std::vector<Numbers> numbers = numbers_of(source);
  std::size_t x = best_column(source, numbers, Role::parameter), y = best_column(source, numbers, Role::result);
  if (y == row_number) y = best_column(source, numbers, Role::duration);
  for (const auto& [name, column] : {std::pair(&words.x, &x), std::pair(&words.y, &y)}) {
    if (name->empty()) continue;
    const auto found = column_named(source, numbers, *name);
    if (!found) return std::unexpected(found.error());
    *column = *found;
  }
  if (y == row_number) return std::unexpected("the run has no number to draw");
  const std::vector<PlotPoint> points = points_of(source, x, y, words);
  if (points.empty())
    return std::unexpected(fmt::format("no point has numbers in both columns{}",
                                       words.log_x || words.log_y ? " whose logarithms can be drawn" : ""));
  const std::string across = axis(x == row_number ? "row" : source.columns[x].name, words.log_x);
  const terminal::Size size = terminal::size_of_terminal(STDOUT_FILENO);
  constexpr std::size_t most_columns = 100, most_rows = 24, lines_around = 3;
  // more points than dots lie close enough as they are
  const bool is_curve = points.size() <= 2 * std::min(size.columns, most_columns) &&
                        std::ranges::adjacent_find(points, {}, &PlotPoint::x) == points.end();
  return fmt::format(
      "{} against {}, {}\n{}\n", axis(source.columns[y].name, words.log_y), across,
      sweep::counted(points.size(), "point"),
      plot(points, is_curve, {fmt::format("{:.4g}", points.front().x), fmt::format("{:.4g}", points.back().x)},
           {std::min(size.columns, most_columns),
            std::max(std::min(size.rows, most_rows), lines_around) - lines_around}));
}

int plot_run(const PlotWords& words) {
  const std::expected<vm::RunRow, int> run = find_run(words.run);
  if (!run) return run.error();
  vm::RunRecord record = *vm::RunRecord::open();
  std::expected<std::string, std::string> text;
  record.read_together([&] {
    const RunTable table(record, *run);
    if (!table.note().empty()) vm::print_stderr("raddle: run {}: {}\n", run->id, table.note());
    text = drawn(table.source(), words);
    if (const std::string lost = table.lost_points(); text && !lost.empty())
      vm::print_stderr("raddle: run {}: {}\n", run->id, lost);
  });
  if (text) return write_output(*text) ? exit_ok : exit_failed;
  return usage_error(text.error(), "plot");
}

void add_plot_options(CLI::App& app, PlotWords& words) {
  app.description(
      "raddle plot: numbers of a recorded run against each other, drawn on the terminal; a curve, or dots where points "
      "are "
      "many or several have one x\n\nexamples:\n  raddle plot\n  raddle plot k7 -x r -y lyapunov\n"
      "  raddle plot -x tolerance -y duration_s --log-x\n");
  app.add_option("RUN", words.run, "A run's id, its beginning or its end; none: the latest")->type_name("");
  app.add_option("-x", words.x, "A column of the table; none: the parameter with the most values")->type_name("COLUMN");
  app.add_option("-y", words.y, "The same; none: the first result that is a number, else the duration")
      ->type_name("COLUMN");
  app.add_flag("--log-x", words.log_x, "Logarithms of x");
  app.add_flag("--log-y", words.log_y, "Logarithms of y");
}

int plot_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle plot");
  PlotWords read;
  add_plot_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "plot")) return *code;
  return with_record([&] { return plot_run(read); });
}

}  // namespace

const Verb plot_verb = {.name = "plot",
                        .about = "Numbers of a run against each other, on the terminal: plot RUN -x a -y b",
                        .run = plot_command,
                        .describe = [](CLI::App& app) { describe_with(app, add_plot_options); }};

}  // namespace raddle::tool
