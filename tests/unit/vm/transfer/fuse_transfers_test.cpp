#include "vm/transfer/fuse_transfers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "tests/bench/locality/launch_programs.hpp"
#include "tests/bench/locality/named_window.hpp"
#include "tests/unit/vm/transfer/reference_random.hpp"

namespace raddle::vm {
namespace {

/// Transfers, and how many messages fewer each way needs.
struct Counts {
  std::size_t transfers = 0, greedy = 0, tight = 0, optimum = 0;
  bool operator==(const Counts&) const = default;
};

Counts counts_of(const LaunchWindow& window) {
  const auto [uploads, downloads] = transfers_of(window);
  Counts counts{.transfers = uploads.size() + downloads.size()};
  const std::size_t greedy_downloads = fuse_along_paths(downloads, Emission::greedy).size();
  counts.greedy = counts.transfers - fuse_along_paths(uploads, Emission::greedy).size() - greedy_downloads;
  counts.tight = counts.transfers - fuse_along_paths(uploads, Emission::tight).size() - greedy_downloads;
  counts.optimum = counts.transfers - fuse_transfers(uploads).size() - fuse_transfers(downloads).size();
  return counts;
}

/// Every datum is in one message, in a slot that it may have.
bool moves_all(const std::vector<Message>& messages, const std::vector<Transfer>& transfers) {
  std::size_t moved = 0;
  for (const Message& message : messages)
    for (const DataId data : message.data) {
      const auto found = std::ranges::find(transfers, data, &Transfer::data);
      if (found == transfers.end() || message.slot < found->earliest || message.slot > found->latest) return false;
      ++moved;
    }
  return moved == transfers.size();
}

struct Range {
  std::uint32_t least, most;
};
/// Programs of the table's random rows, 400 seeds each, and what the reference planner makes of all of them.
struct RandomRow {
  std::uint32_t calls, inputs;
  Range reads, writes;
  double on_device;  ///< part of the calls, about
  Counts sums;
  std::uint32_t checksum;  ///< of the counts of each program, in order
};

LaunchWindow random_window(const RandomRow& row, std::uint32_t seed) {
  ReferenceRandom random(seed);
  std::vector<std::uint32_t> known(row.inputs);
  std::iota(known.begin(), known.end(), 0);
  std::vector<locality::NamedCall> calls;
  for (std::uint32_t i = 0; i < row.calls; ++i) {
    locality::NamedCall& call = calls.emplace_back();
    const std::size_t reads = std::min<std::size_t>(random.between(row.reads.least, row.reads.most), known.size());
    for (const std::uint32_t data : random.sample(known, reads)) call.reads.push_back(std::to_string(data));
    const std::uint32_t writes = random.between(row.writes.least, row.writes.most);
    call.is_on_device = random.fraction() < row.on_device;
    for (std::uint32_t k = 0; k < writes; ++k) {
      known.push_back(static_cast<std::uint32_t>(known.size()));
      call.writes.push_back(std::to_string(known.back()));
    }
  }
  return locality::window_of(calls);
}

/// FNV-1a over the counts as text.
void add_to(std::uint32_t& checksum, const Counts& counts) {
  for (const std::size_t count : {counts.transfers, counts.greedy, counts.tight, counts.optimum})
    for (const char c : std::to_string(count) + " ") checksum = (checksum ^ static_cast<unsigned char>(c)) * 16777619u;
}

constexpr RandomRow random_rows[] = {
#include "tests/unit/vm/transfer/random_rows.def"
};

}  // namespace

TEST_CASE("the published programs have the counts of the reference planner") {
  const Counts expected[] = {{11, 7, 7, 7},    {2, 0, 0, 0},     {17, 15, 15, 15}, {17, 15, 8, 15}, {33, 31, 16, 31},
                             {13, 11, 11, 11}, {16, 11, 11, 11}, {21, 15, 15, 15}, {15, 9, 9, 9},   {4, 2, 2, 2}};
  const std::vector<locality::LaunchProgram> programs = locality::launch_programs();
  REQUIRE(programs.size() == std::size(expected));
  for (std::size_t i = 0; i < programs.size(); ++i) {
    CAPTURE(programs[i].name);
    CHECK(counts_of(programs[i].window) == expected[i]);
  }
}

TEST_CASE("10,400 random programs have the counts of the reference planner, and none saves more than the optimum") {
  for (const RandomRow& row : random_rows) {
    CAPTURE(row.calls);
    CAPTURE(row.on_device);
    Counts sums;
    std::uint32_t checksum = 2166136261;
    bool is_below_optimum = true;
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
      const Counts counts = counts_of(random_window(row, seed));
      is_below_optimum &= counts.tight <= counts.optimum && counts.greedy <= counts.optimum;
      sums.transfers += counts.transfers;
      sums.greedy += counts.greedy;
      sums.tight += counts.tight;
      sums.optimum += counts.optimum;
      add_to(checksum, counts);
    }
    CHECK(is_below_optimum);
    CHECK(sums == row.sums);
    CHECK(checksum == row.checksum);
  }
}

TEST_CASE("every datum is moved once, in a slot that it may have") {
  for (std::uint32_t seed = 0; seed < 100; ++seed)
    for (const RandomRow& row : {random_rows[4], random_rows[7], random_rows[18]}) {
      const auto [uploads, downloads] = transfers_of(random_window(row, seed));
      for (const std::vector<Transfer>& transfers : {uploads, downloads}) {
        CHECK(moves_all(fuse_transfers(transfers), transfers));
        CHECK(moves_all(fuse_along_paths(transfers, Emission::greedy), transfers));
        CHECK(moves_all(fuse_along_paths(transfers, Emission::tight), transfers));
      }
    }
}

TEST_CASE("no way needs fewer messages than the optimum: a few intervals, all sets of slots tried") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    ReferenceRandom random(seed);
    std::vector<Transfer> transfers;
    for (DataId data = 0; data < 8; ++data) {
      const std::uint32_t earliest = random.below(10);
      transfers.push_back({.data = data, .earliest = earliest, .latest = std::min(9u, earliest + random.below(5))});
    }
    std::size_t fewest = 10;
    for (std::uint32_t slots = 0; slots < 1024; ++slots) {
      const auto is_met = [&](const Transfer& transfer) {
        for (std::uint32_t slot = transfer.earliest; slot <= transfer.latest; ++slot)
          if ((slots >> slot & 1) != 0) return true;
        return false;
      };
      if (std::ranges::all_of(transfers, is_met))
        fewest = std::min(fewest, static_cast<std::size_t>(std::popcount(slots)));
    }
    CHECK(fuse_transfers(transfers).size() == fewest);
  }
}

TEST_CASE("nothing to move needs no message") {
  CHECK(fuse_transfers({}).empty());
  CHECK(fuse_along_paths({}, Emission::tight).empty());
  CHECK(transfers_of({}).uploads.empty());
}

}  // namespace raddle::vm
