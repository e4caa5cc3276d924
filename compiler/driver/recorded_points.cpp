#include "compiler/driver/recorded_points.hpp"

#include <algorithm>

#include "compiler/driver/sweep_request.hpp"
#include "compiler/sweep/json_text.hpp"
#include "compiler/sweep/point_key.hpp"
#include "compiler/sweep/results.hpp"

namespace raddle::driver {

namespace {

/// Points that were done together, as if each had been done by itself: with parameters as the command line says them.
void for_each_batched(vm::RunRecord& record, const vm::RunRow& run, std::optional<std::uint64_t> point,
                      const std::function<bool(const vm::PointRow&)>& visit) {
  const std::vector<vm::BatchHead> heads = record.batches_of(run.id);
  if (heads.empty()) return;
  const std::expected<SweepRequest, int> request = read_sweep_request(run.words());
  if (!request) return;
  const auto space = sweep::Space::make(request->space);
  if (!space) return static_cast<void>(option_error(space.error()));
  std::vector<sweep::ResultColumn> columns;
  for (const std::string& word : run.column_words()) columns.push_back(sweep::column_of(word));
  for (const vm::BatchHead& head : heads) {
    if (point && (*point < head.first || *point > head.last)) continue;
    const vm::BatchRow batch = record.batch(head.row);
    for (std::size_t i = 0; i < batch.keys.size(); ++i) {
      if ((point && batch.number(i) != *point) || batch.number(i) > space->size()) continue;
      vm::PointRow row{.number = batch.number(i), .key = {}, .parameters = "", .attempt = {}};
      row.parameters = parameters_json(space->parameters(), space->point(row.number));
      row.attempt.started = batch.started;
      row.attempt.duration_s = batch.duration_s / static_cast<double>(batch.keys.size());
      sweep::JsonObject results;
      for (std::size_t k = 0; k < std::min(columns.size(), batch.columns.size()); ++k)
        results.add_text(columns[k].name, text_of(batch.columns[k][i], columns[k].type));
      row.attempt.results = results.text();
      if (!visit(row)) return;
    }
  }
}

}  // namespace

void for_each_recorded_point(vm::RunRecord& record, const vm::RunRow& run, std::optional<std::uint64_t> point,
                             const std::function<bool(const vm::PointRow&)>& visit) {
  bool goes_on = true;
  record.for_each_point(run.id, [&](const vm::PointRow& row) {
    if (point && row.number != *point) return true;
    goes_on = visit(row);
    return goes_on;
  });
  if (goes_on) for_each_batched(record, run, point, visit);
}

}  // namespace raddle::driver
