#pragma once
// The table of a sweep: a row for each of its points with what the record has of it.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tool/space/cells.hpp"
#include "compiler/tool/sweep/collector.hpp"
#include "compiler/tool/space/cursor.hpp"
#include "compiler/tool/sweep/earlier_blocks.hpp"
#include "compiler/tool/sweep/input_files.hpp"
#include "compiler/tool/space/point_columns.hpp"
#include "compiler/tool/space/point_key.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::sweep {

/// What the words of a block's column are.
enum class ResultType : std::uint8_t { int_, float_, boolean };

struct ResultColumn {
  std::string name;
  ResultType type = ResultType::float_;
};

/// Adds a word of a block as text.
void append_result(std::string& text, std::int64_t word, ResultType type);

/// What a run's record says of its blocks: the results that they have, and as what the parameters are read.
struct BlockForm {
  std::vector<ResultColumn> results;
  std::vector<std::pair<std::string, ValueType>> parameters;
};
/// `float energy`, `parameter int n`, each ended by a zero byte.
std::string text_of(const BlockForm& form);
BlockForm block_form(const std::vector<std::string>& words);

/// What was done at the points before the script was changed. Its results stand where there are no newer ones.
struct EarlierWork {
  std::uint64_t work = 0;             ///< vm::RunRow::work
  std::vector<ResultColumn> columns;  ///< of its blocks
};

/// How results of a sweep are made and found.
struct ResultForm {
  const Space& space;
  const KnownValues& known;
  const PointKeys& keys;
  const std::vector<Collector>& collectors;
  std::string collect;                          ///< the collectors as one text
  std::vector<std::string> assigned = {};       ///< results that a script assigns: no collector makes them
  std::vector<std::string> texts = {};          ///< results that a script declares as strings
  std::vector<ResultColumn> columns = {};       ///< of blocks; none: there are no blocks
  InputFiles* inputs = nullptr;                 ///< what has read other ones is not taken
  const PointColumns* points = nullptr;         ///< where there may be blocks
  std::vector<EarlierWork> earlier_works = {};  ///< the latest first
  bool is_of_earlier_works = false;             ///< and not of what is done now
};

/// What earlier runs have of points, as this sweep wants it: results of runs that made them otherwise are made anew
/// from what they have printed, if that was kept whole.
class EarlierResults {
 public:
  /// @param own_run  its results go before those of others; "": none
  /// @param since    what was done in runs before this one need be done again; "": nothing need
  EarlierResults(vm::RunRecord& record, const ResultForm& form, std::string own_run, std::string since = "");
  /// @param numbers  of points   @return for each whether there is a result that is wanted, so that it need not be run
  std::vector<bool> are_done(std::span<const std::uint64_t> numbers);
  /// The same of what other runs have done since, in this order of points. @param is_block  where blocks may have them
  std::vector<bool> are_done_by_now(std::span<const std::uint64_t> numbers, bool is_block);
  /// vm::Attempt::row_digest of each point by itself that was found to be done.
  const std::vector<std::int64_t>& taken() const { return taken_; }
  /// A file that was another one when a point was run, or there, for which this is not taken: the first that are_done()
  /// has met.
  const std::optional<InputFiles::Change>& changed_file() const { return changed_file_; }
  /// The number of a point that a row was wanted of and no run has; 0: there was none.
  std::uint64_t missing_point() const { return missing_point_; }
  void note_missing(std::uint64_t number) { missing_point_ = number; }
  /// Has a row been found, of a point by itself, that the run `own_run` has neither done nor taken?
  bool has_strange_points() const { return has_strange_points_; }
  /// The last attempt at a point, with the results in this sweep's form.
  struct Found {
    vm::PointOutcome outcome = vm::PointOutcome::ok;
    double duration_s = 0;
    std::string reason;  ///< of a failure
    std::string inputs;  ///< vm::Attempt::inputs
    std::vector<JsonMember> results;
  };
  /// What was done at each point, now or earlier, the latest first.
  std::size_t work_count() const { return works_.size(); }
  const std::vector<ResultColumn>& columns_of(std::size_t work) const { return works_[work].columns; }
  /// @return for each point whether a block has it, and what it has: words of columns_of(work)
  BlockValues find_in_blocks(std::size_t work, std::span<const std::uint64_t> numbers);
  /// Of a point that no block has.
  std::optional<Found> find_single(std::size_t work, const Point& point);

 private:
  struct Work {
    std::uint64_t work = 0;
    std::vector<ResultColumn> columns;
    EarlierBlocks blocks;
    std::vector<vm::PointKey> keys = {};  // of its single points, sorted by their lower halves. Of earlier works
  };
  void add_work(std::uint64_t work, std::vector<ResultColumn> columns);
  std::vector<std::uint64_t> keys_of(const Work& work, std::span<const std::uint64_t> numbers) const;
  std::optional<vm::PointKey> key_of(const Work& work, const Point& point) const;
  bool is_done(const Point& point);
  std::optional<InputFiles::Change> changed_file_of(const vm::Attempt& attempt, const Point& point) const;
  bool adapt(const Point& point, vm::EarlierResult& result) const;
  vm::RunRecord& record_;
  const ResultForm& form_;
  std::string own_run_, since_;
  std::optional<InputFiles::Change> changed_file_;
  vm::StandsOn stands_on_;  ///< of own_run_
  std::vector<std::int64_t> taken_;
  bool has_strange_points_ = false;
  std::uint64_t missing_point_ = 0;
  std::vector<Work> works_;
  std::optional<std::vector<std::uint64_t>> single_keys_;  // sorted: what may be done point by point. With blocks
};

inline constexpr std::string_view not_run = "not run";

/// Valid until the next row.
struct ResultRow {
  struct Result {
    std::string_view name, text;       ///< is_missing(): null
    CellType type = CellType::string;  ///< by itself; string: also of what looks like a number, but was none
  };
  std::vector<std::string_view> values;  ///< of the parameters
  std::string_view outcome;              ///< "ok", "exit code", ..., not_run
  std::string_view duration_s;           ///< missing: it was not run
  std::string_view reason;               ///< of a failure; else missing
  std::string_view inputs;               ///< vm::Attempt::inputs
  std::vector<Result> results;
};

/// The names of results as far as they are known without a look at the rows, in the order of the columns.
struct ResultNames {
  std::vector<std::string> names;
  bool are_all = true;  ///< there are no others
};

/// Rows in the order of the points' numbers, as often as they are asked for.
class ResultRows {
 public:
  ResultRows(const ResultForm& form, CursorOptions options, EarlierResults& earlier);
  /// @param visit  returns false to end it
  void for_each(const std::function<bool(const ResultRow&)>& visit) const;
  const std::vector<Parameter>& parameters() const { return form_.space.parameters(); }
  ResultNames known_results() const;
  /// What all values of a result are, if that is known without a look at the rows.
  std::optional<CellType> known_type(std::string_view result) const;

 private:
  bool is_text(std::string_view name) const;
  const ResultForm& form_;
  CursorOptions options_;
  EarlierResults& earlier_;
};

}  // namespace raddle::sweep
