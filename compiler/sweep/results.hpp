#pragma once
// The table of a sweep: a row for each of its points with what the record has of it.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/sweep/collector.hpp"
#include "compiler/sweep/cursor.hpp"
#include "compiler/sweep/point_key.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::sweep {

/// What earlier runs have of points, as this sweep wants it.
class EarlierResults {
 public:
  /// @param collect  how this sweep's results are made: those of runs that made them otherwise are made anew from what
  ///                 they have printed, if that was kept whole
  /// @param own_run  its results go before those of others; "": none
  EarlierResults(vm::RunRecord& record, const PointKeys& keys, const std::vector<Collector>& collectors,
                 std::string collect, std::string own_run)
      : record_(record),
        keys_(keys),
        collectors_(collectors),
        collect_(std::move(collect)),
        own_run_(std::move(own_run)) {}
  bool is_done(const Point& point);
  /// The last attempt, with the results in this sweep's form.
  std::optional<vm::EarlierResult> find(const Point& point);

 private:
  bool adapt(const Point& point, vm::EarlierResult& result) const;
  vm::RunRecord& record_;
  const PointKeys& keys_;
  const std::vector<Collector>& collectors_;
  std::string collect_, own_run_;
};

struct ResultRow {
  Point point;
  std::string outcome = "not run";  ///< "ok", "exit code", ...
  std::string duration_s;
  std::vector<std::pair<std::string, std::string>> results;
};

/// Rows in the order of the points' numbers, as often as they are asked for.
class ResultRows {
 public:
  ResultRows(const Space& space, CursorOptions options, EarlierResults& earlier);
  /// @param visit  returns false to end it
  void for_each(const std::function<bool(ResultRow)>& visit) const;
  const std::vector<Parameter>& parameters() const { return space_.parameters(); }

 private:
  const Space& space_;
  CursorOptions options_;
  EarlierResults& earlier_;
};

}  // namespace raddle::sweep
