#pragma once
// All that the command line says of a sweep, checked.
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tool/sweep/script_subject.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"
#include "compiler/tool/sweep/collector.hpp"
#include "compiler/tool/sweep/command_template.hpp"
#include "compiler/tool/space/cursor.hpp"
#include "compiler/tool/space/point_columns.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "compiler/tool/sweep/table.hpp"

namespace raddle::tool {

struct SweepPlan {
  sweep::Space space;
  std::unique_ptr<ScriptSubject> script;  ///< null: the subject is the command
  sweep::CommandTemplate command;         ///< does by itself what is done at a point
  std::vector<sweep::Collector> collectors;
  std::string collect;  ///< the collectors as one text
  sweep::CursorOptions cursor;
  sweep::SweepOptions run;
  sweep::Grouping grouping;
  sweep::TableForm form = sweep::TableForm::csv;
  sweep::PointKeys keys;
  std::unique_ptr<sweep::InputFiles> inputs;  ///< what the command reads, or a script's programs
  sweep::KnownValues known;
  std::optional<sweep::PointColumns> columns;          ///< of a script
  std::vector<sweep::EarlierWork> earlier_works = {};  ///< whose results the table may have, too

  SweepPlan(sweep::Space space_of_points, std::unique_ptr<ScriptSubject> subject, sweep::CommandTemplate words);
  SweepPlan(const SweepPlan&) = delete;
  SweepPlan& operator=(const SweepPlan&) = delete;
  /// Refers to this plan.
  sweep::ResultForm result_form() const;
};

/// @return or an exit code, all said
std::expected<std::unique_ptr<SweepPlan>, int> make_plan(const SweepRequest& request);

/// Why points must not run at once as they would: of what one has written, nobody could say whose it is.
/// @return nothing if they may
std::optional<sweep::OptionError> fault_of_shared_file(const SweepRequest& request, const SweepPlan& plan);

/// Parameters and repeats that make no difference: for where it is run, not where only its record is read.
void warn_of_unused(const SweepRequest& request, const SweepPlan& plan);

/// @return exit code
int run_plan(const SweepRequest& request, const SweepPlan& plan);

}  // namespace raddle::tool
