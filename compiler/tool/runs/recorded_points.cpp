#include "compiler/tool/runs/recorded_points.hpp"

#include <algorithm>
#include <vector>

#include "compiler/tool/sweep/sweep_request.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/space/point_key.hpp"
#include "compiler/tool/sweep/results.hpp"

namespace raddle::tool {

namespace {

/// The points of a run that were done together, as if each had been done by itself: their results are in the record,
/// their parameters are made anew as the command line says them.
class BlockedPoints {
 public:
  BlockedPoints(vm::RunRecord& record, const vm::RunRow& run)
      : record_(record), run_(run), heads_(record.blocks_of(run.id)), form_(sweep::block_form(run.column_words())) {}

  /// @param visit  returns false to end it
  UnknownParameters for_each(std::optional<std::uint64_t> point,
                             const std::function<bool(const vm::PointRow&)>& visit) {
    if (heads_.empty()) return {};
    make_space();
    for (const vm::BlockHead& head : heads_) {
      if (point && (*point < head.first || *point > head.last)) continue;
      const vm::BlockRow block = record_.block(head.row);
      for (std::size_t i = 0; i < block.keys.size(); ++i)
        if ((!point || block.number(i) == *point) && !visit(row_of(block, i))) return {unknown_, table_};
    }
    return {unknown_, table_};
  }

 private:
  /// If that can not be, as a table is gone, no point has parameters.
  void make_space() {
    const std::expected<SweepRequest, int> request = read_sweep_request(run_.words());
    if (!request) return;
    table_ = request->space.table;
    auto made = sweep::Space::make(request->space);
    if (!made) return;
    space_ = std::move(*made);
    std::vector<sweep::ValueType> read_as;
    for (const sweep::Parameter& parameter : space_.parameters()) {
      const auto found =
          std::ranges::find(form_.parameters, parameter.name, [](const auto& each) { return each.first; });
      read_as.push_back(found == form_.parameters.end() ? sweep::ValueType::string : found->second);
    }
    space_.read_values_as(read_as);
    for (const bool uses_seed : {false, true})  // the record does not say which
      keys_.push_back(sweep::PointKeys({}, space_.parameters(), uses_seed).with_work({.high = 0, .low = run_.work}));
  }

  vm::PointRow row_of(const vm::BlockRow& block, std::size_t index) {
    vm::PointRow row{.number = block.number(index), .key = {0, block.keys[index]}, .parameters = "{}", .attempt = {}};
    if (const std::optional<sweep::Point> point = point_of(block, index))
      row.parameters = parameters_json(space_.parameters(), *point);
    else
      ++unknown_;
    row.attempt.worker = block.worker;
    row.attempt.started = block.started;
    row.attempt.duration_s = block.duration_s / static_cast<double>(block.keys.size());
    sweep::JsonObject results;
    for (std::size_t k = 0; k < std::min(form_.results.size(), block.columns.size()); ++k) {
      std::string text;
      append_result(text, block.columns[k][index], form_.results[k].type);
      results.add_text(form_.results[k].name, text);
    }
    row.attempt.results = results.text();
    return row;
  }

  /// @return nothing if the point of that number is another one by now: its key tells
  std::optional<sweep::Point> point_of(const vm::BlockRow& block, std::size_t index) const {
    const std::uint64_t number = block.number(index);
    if (keys_.empty() || number > space_.size()) return std::nullopt;
    sweep::Point point = space_.point(number);
    const auto is_its_key = [&](const sweep::PointKeys& keys) { return keys.of(point).low == block.keys[index]; };
    if (std::ranges::none_of(keys_, is_its_key)) return std::nullopt;
    return point;
  }

  vm::RunRecord& record_;
  const vm::RunRow& run_;
  const std::vector<vm::BlockHead> heads_;
  const sweep::BlockForm form_;
  sweep::Space space_;
  std::string table_;
  std::vector<sweep::PointKeys> keys_;  ///< one of them has its keys; none: the space could not be made
  std::uint64_t unknown_ = 0;
};

}  // namespace

UnknownParameters for_each_recorded_point(vm::RunRecord& record, const vm::RunRow& run,
                                          std::optional<std::uint64_t> point,
                                          const std::function<bool(const vm::PointRow&)>& visit) {
  bool goes_on = true;
  const auto visit_single = [&](const vm::PointRow& row) { return goes_on = visit(row); };
  if (point)
    record.for_each_attempt(run.id, *point, visit_single);
  else
    record.for_each_point(run.id, visit_single);
  return goes_on ? BlockedPoints(record, run).for_each(point, visit) : UnknownParameters();
}

}  // namespace raddle::tool
