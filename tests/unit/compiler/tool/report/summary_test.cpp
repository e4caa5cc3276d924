#include "compiler/tool/report/summary.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/tool/report/page.hpp"

using namespace raddle::report;

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Columns a, y, outcome, duration_s; `missing` is not there.
TableSource table_of(Rows rows) {
  return {{{"a", Role::parameter}, {"y", Role::result}, {"outcome", Role::outcome}, {"duration_s", Role::duration}},
          [rows = std::move(rows)](const TableSource::Visit& visit) {
            for (const auto& row : rows) {
              std::vector<std::string_view> cells;
              for (const std::string& cell : row) cells.push_back(cell == "missing" ? std::string_view() : cell);
              if (!visit(cells)) return;
            }
          }};
}

}  // namespace

TEST_CASE("each column is measured over all rows") {
  const TableSummary summary = summarise(table_of({{"1", "2.5", "ok", "0.1"},
                                                   {"2", "missing", "failed", "0.2"},
                                                   {"1", "inf", "ok", "0.1"},
                                                   {"2", "0.5", "ok", "10"}}));
  CHECK(summary.rows == 4);
  CHECK(summary.sample.size() == 4);
  const ColumnSummary& y = summary.columns[1];
  CHECK(y.kind == ColumnKind::number);
  CHECK(y.filled == 3);
  CHECK(y.not_finite == 1);
  CHECK(y.mean == doctest::Approx(1.5));
  CHECK(y.deviation == doctest::Approx(std::sqrt(2.0)));
  CHECK(y.least.value == 0.5);
  CHECK(y.least.parameters == std::vector<std::string>{"2"});
  CHECK(y.greatest.parameters == std::vector<std::string>{"1"});
  CHECK(summary.columns[0].values == std::vector<double>{1, 2});
  CHECK(summary.columns[2].kind == ColumnKind::category);
  CHECK(summary.columns[2].categories[1].name == "failed");
  REQUIRE(summary.marginals.size() == 1);
  CHECK(summary.marginals[0].bins.size() == 2);
  CHECK(summary.marginals[0].bins[1].mean == 0.5);
  std::uint64_t timed = 0;
  for (const DurationBin& bin : summary.durations) timed += bin.count;
  CHECK(timed == 4);
  CHECK(summary.durations.front().from_s == doctest::Approx(0.1));
}

TEST_CASE("an empty string is a value, what is not there is none") {
  const TableSummary summary =
      summarise(table_of({{"", "missing", "ok", "1"}, {"x", "missing", "ok", "1"}, {"", "2", "ok", "1"}}));
  REQUIRE(summary.columns[0].categories.size() == 2);
  CHECK(summary.columns[0].filled == 3);
  CHECK(summary.columns[0].categories[0].name.empty());
  CHECK(summary.columns[0].categories[0].count == 2);
  CHECK(summary.columns[1].kind == ColumnKind::number);
  CHECK(summary.columns[1].filled == 1);
  CHECK(summary.sample[0][0] == "");
  CHECK_FALSE(summary.sample[0][1].has_value());
}

TEST_CASE("many rows are sampled in their order, the same ones each time; averages are of all of them") {
  Rows rows;
  for (int i = 0; i < 10'000; ++i) rows.push_back({fmt::format("{}", i), fmt::format("{}", i % 10), "ok", "1"});
  const TableSummary summary = summarise(table_of(rows), {.sample_rows = 100});
  CHECK(summary.sample.size() == 100);
  CHECK(std::ranges::is_sorted(summary.sample, {}, [](const auto& row) { return std::stoi(*row[0]); }));
  CHECK(summary.sample == summarise(table_of(rows), {.sample_rows = 100}).sample);
  CHECK(summary.columns[1].mean == doctest::Approx(4.5));
  CHECK(summary.marginals[0].bins.size() == 48);
}

TEST_CASE("values over powers of ten are on a logarithmic axis if they lie evenly there") {
  Rows even, powers;
  for (int i = 1; i <= 2000; ++i) even.push_back({fmt::format("{}", i), "1", "ok", "1"});
  for (int i = 0; i <= 6; ++i) powers.push_back({fmt::format("1e-{}", i), "1", "ok", "1"});
  CHECK_FALSE(is_logarithmic(summarise(table_of(even)).columns[0]));
  CHECK(is_logarithmic(summarise(table_of(powers)).columns[0]));
}

TEST_CASE("a page of hostile texts has no other elements than its own") {
  const std::string hostile = "</script><script>alert('x')</script>&\"";
  Report report{.name = hostile,
                .command = hostile,
                .facts = {{hostile, hostile}},
                .notes = {hostile},
                .table = {},
                .failures = {{1, hostile, hostile, hostile}},
                .spans = {}};
  report.table = summarise(table_of({{hostile, hostile, "ok", "1"}, {"x", "y", "ok", "1"}}));
  const std::string page = make_page(std::move(report));
  CHECK(page.find("alert('x')</script>") == std::string::npos);
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(page.find("&lt;/script&gt;") != std::string::npos);
  CHECK(page.find("\\u003c/script>") != std::string::npos);
}
