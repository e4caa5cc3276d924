#include "compiler/tool/runs/earlier_works.hpp"

#include <set>

namespace raddle::tool {

namespace {

struct NumberedKey {
  std::uint64_t number = 0, key_low = 0;
};

/// Of any point that the run has run itself.
std::optional<NumberedKey> any_key(vm::RunRecord& record, const std::string& run) {
  if (const std::optional<vm::PointRow> row = record.any_point(run)) return NumberedKey{row->number, row->key.low};
  const std::vector<vm::BlockHead> blocks = record.blocks_of(run);
  if (blocks.empty()) return std::nullopt;
  const vm::BlockRow block = record.block(blocks.front().row);
  return block.keys.empty() ? std::nullopt : std::optional(NumberedKey{block.number(0), block.keys.front()});
}

/// Do the values give the same part of a key as they did? If the run has no point that could tell: perhaps.
bool are_keys_as_before(vm::RunRecord& record, const vm::RunRow& run, const SweepPlan& plan) {
  const std::optional<NumberedKey> known = any_key(record, run.id);
  if (!known) return true;
  if (known->number > plan.space.size()) return false;
  const std::uint64_t values = plan.keys.of(plan.space.point(known->number)).low - plan.keys.work().low;
  return known->key_low == run.work + values;
}

}  // namespace

std::vector<sweep::EarlierWork> earlier_works(vm::RunRecord& record, const vm::RunRow& run, const SweepPlan& plan) {
  std::vector<sweep::EarlierWork> works;
  std::set<std::uint64_t> known{plan.keys.work().low};
  std::optional<vm::RunRow> next = run;
  for (std::set<std::string> seen; next && seen.insert(next->id).second;) {
    if (known.insert(next->work).second) {
      if (!are_keys_as_before(record, *next, plan)) return works;
      works.push_back({next->work, sweep::block_form(next->column_words()).results});
    }
    std::vector<vm::RunRow> found = record.find(next->resumes);
    next = next->resumes.empty() || found.size() != 1 ? std::nullopt : std::optional(std::move(found.front()));
  }
  return works;
}

}  // namespace raddle::tool
