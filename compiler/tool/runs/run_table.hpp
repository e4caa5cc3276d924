#pragma once
// The table of a recorded run, as `raddle sweep -o` would write it, and when its points ran.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tool/sweep/sweep_plan.hpp"
#include "compiler/tool/runs/value_difference.hpp"
#include "compiler/tool/report/spans.hpp"
#include "compiler/tool/report/table_source.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

/// A column of a script's run.
inline constexpr const char* number_of_task = "number";

/// With what earlier runs have of its points, if the run is through, and its points can still be enumerated: the script
/// has the parameters that it had. Else with those points only that it has run itself.
class RunTable {
 public:
  /// @param record  outlives it
  RunTable(vm::RunRecord& record, const vm::RunRow& run);
  RunTable(const RunTable&) = delete;
  RunTable& operator=(const RunTable&) = delete;
  /// Refers to this table.
  report::TableSource source() const;
  /// After all rows of source() were visited: how many points the run had, by itself or from another run, that no run
  /// has any more, and why. "": it is whole
  std::string lost_points() const;
  /// What is missing, and why; "": nothing.
  const std::string& note() const { return note_; }
  /// What its points have read, as vm::Attempt::inputs. Those that have read nothing are left out.
  void for_each_inputs(const std::function<void(NamedValues parameters, const std::string& inputs)>& visit) const;
  /// A command that does a point once more, or shows it.
  std::string again(std::uint64_t number) const;

 private:
  /// @return why not all points can be shown; "": they can
  std::string ask_for_all();
  void go_back_to_script();
  bool has_any_row() const;
  bool is_of_other_points(const SweepPlan& plan) const;
  bool has_strange_row() const;
  report::TableSource own_points() const;

  vm::RunRecord& record_;
  const vm::RunRow& run_;
  std::string note_;
  std::string changed_table_;        ///< of --from: its points are not those of the run any more; "": they are
  std::unique_ptr<SweepPlan> plan_;  ///< null: the points can not be enumerated
  bool is_of_earlier_script_ = false;
  std::optional<sweep::ResultForm> form_;
  std::optional<sweep::EarlierResults> earlier_;
  std::optional<sweep::ResultRows> rows_;
  std::optional<sweep::Table> table_;
  mutable std::uint64_t found_points_ = 0;  ///< when the rows were visited last
};

/// All attempts and blocks of a run.
std::vector<report::Span> spans_of(vm::RunRecord& record, const vm::RunRow& run);
/// All attempts at tasks of a sweep's points; `first` is the point.
std::vector<report::Span> task_spans_of(vm::RunRecord& record, const vm::RunRow& run);

}  // namespace raddle::tool
