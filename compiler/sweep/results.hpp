#pragma once
// The table of a sweep: a row for each of its points with what the record has of it.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/sweep/collector.hpp"
#include "compiler/sweep/cursor.hpp"
#include "compiler/sweep/earlier_batches.hpp"
#include "compiler/sweep/point_columns.hpp"
#include "compiler/sweep/point_key.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::sweep {

/// A result that batches have: what its words are.
struct ResultColumn {
  std::string name;
  ValueType type = ValueType::float_;
};

/// A word of a batch as text.
std::string text_of(std::int64_t word, ValueType type);
/// `float energy`, as it is recorded, and back.
std::string column_word(const ResultColumn& column);
ResultColumn column_of(const std::string& word);

/// How results of a sweep are made and found.
struct ResultForm {
  const Space& space;
  const PointKeys& keys;
  const std::vector<Collector>& collectors;
  std::string collect;                     ///< the collectors as one text
  std::vector<std::string> assigned = {};  ///< results that a script assigns: no collector makes them
  std::vector<ResultColumn> columns = {};  ///< of batches; none: there are no batches
  const PointColumns* points = nullptr;    ///< where there may be batches
};

/// What earlier runs have of points, as this sweep wants it: results of runs that made them otherwise are made anew
/// from what they have printed, if that was kept whole.
class EarlierResults {
 public:
  /// @param own_run  its results go before those of others; "": none
  EarlierResults(vm::RunRecord& record, const ResultForm& form, std::string own_run)
      : record_(record),
        form_(form),
        own_run_(std::move(own_run)),
        batches_(record, form.points == nullptr ? 0 : form.keys.work().low, own_run_) {}
  std::vector<bool> are_done(std::span<const std::uint64_t> numbers);
  /// The last attempt at a point, with the results in this sweep's form.
  struct Found {
    vm::PointOutcome outcome = vm::PointOutcome::ok;
    double duration_s = 0;
    std::vector<std::pair<std::string, std::string>> results;
  };
  BatchValues find_in_batches(std::span<const std::uint64_t> numbers);
  /// Of a point that no batch has.
  std::optional<Found> find_single(const Point& point);

 private:
  bool is_done(const Point& point);
  bool adapt(const Point& point, vm::EarlierResult& result) const;
  vm::RunRecord& record_;
  const ResultForm& form_;
  std::string own_run_;
  EarlierBatches batches_;
  std::optional<std::vector<std::uint64_t>> single_keys_;  // sorted: what may be done point by point. With batches
};

/// Valid until the next row.
struct ResultRow {
  using Result = std::pair<std::string_view, std::string_view>;
  std::vector<std::string_view> values;  ///< of the parameters
  std::string_view outcome;              ///< "ok", "exit code", ..., "not run"
  std::string_view duration_s;
  std::vector<Result> results;
};

/// Rows in the order of the points' numbers, as often as they are asked for.
class ResultRows {
 public:
  ResultRows(const ResultForm& form, CursorOptions options, EarlierResults& earlier);
  /// @param visit  returns false to end it
  void for_each(const std::function<bool(const ResultRow&)>& visit) const;
  const std::vector<Parameter>& parameters() const { return form_.space.parameters(); }
  /// The names of all results, if they are known without a look at the rows.
  std::vector<std::string> known_results() const;

 private:
  const ResultForm& form_;
  CursorOptions options_;
  EarlierResults& earlier_;
};

}  // namespace raddle::sweep
