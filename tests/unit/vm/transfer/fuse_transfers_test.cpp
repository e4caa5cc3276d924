#include "vm/transfer/fuse_transfers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "tests/unit/vm/transfer/named_window.hpp"
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

std::string numbered(const char* name, int number) { return name + std::to_string(number); }

LaunchWindow worked_example() {
  std::vector<std::string> names;
  for (char name = 'A'; name <= 'M'; ++name) names.emplace_back(1, name);
  return window_of({{true, {"B", "A"}, {"D", "E"}},
                    {false, {"E", "B"}, {"F", "G"}},
                    {true, {"C", "F"}, {"H", "I"}},
                    {true, {"F", "H"}, {"J", "K"}},
                    {true, {"H", "E"}, {"L", "M"}}},
                   {}, names);
}

LaunchWindow chain(int calls) {
  std::vector<NamedCall> made;
  for (int i = 0; i < calls; ++i) made.push_back({true, {numbered("v", i)}, {numbered("v", i + 1)}});
  return window_of(made);
}

/// Of the root's call outwards, two results each.
LaunchWindow out_tree(int calls) {
  std::vector<NamedCall> made;
  for (int i = 0; i < calls; ++i)
    made.push_back({true, {numbered("e", i)}, {numbered("e", 2 * i + 1), numbered("e", 2 * i + 2)}});
  return window_of(made);
}

/// Leaves first.
LaunchWindow in_tree(int calls) {
  std::vector<NamedCall> made;
  for (int i = 0; i < calls; ++i)
    made.push_back({true, {numbered("v", 2 * i), numbered("v", 2 * i + 1)}, {numbered("v", calls + 1 + i)}});
  return window_of(made);
}

LaunchWindow horner(int degree) {
  std::vector<NamedCall> made;
  std::vector<std::string> names;
  for (int i = 0; i <= degree; ++i) names.push_back(numbered("a", i));
  names.emplace_back("x");
  std::string sum = numbered("a", degree);
  for (int i = degree - 1; i >= 0; --i) {
    made.push_back({true, {sum, "x"}, {numbered("m", i)}});
    made.push_back({true, {numbered("m", i), numbered("a", i)}, {numbered("p", i)}});
    sum = numbered("p", i);
    names.push_back(numbered("m", i));
    names.push_back(sum);
  }
  return window_of(made, {}, names);
}

/// Products on the device, sums of two of them on the host.
LaunchWindow product_of_blocks() {
  std::vector<NamedCall> made;
  std::vector<std::string> names, results;
  const auto block = [](const char* matrix, int i, int j) { return numbered(numbered(matrix, i).c_str(), j); };
  for (const char* matrix : {"A", "B"})
    for (int i = 1; i <= 2; ++i)
      for (int j = 1; j <= 2; ++j) names.push_back(block(matrix, i, j));
  for (int i = 1; i <= 2; ++i)
    for (int j = 1; j <= 2; ++j) {
      std::vector<std::string> products;
      for (int k = 1; k <= 2; ++k) {
        products.push_back(numbered(block("P", i, j).c_str(), k));
        made.push_back({true, {block("A", i, k), block("B", k, j)}, {products.back()}});
      }
      made.push_back({false, products, {block("C", i, j)}});
      names.insert(names.end(), {products[0], products[1], block("C", i, j)});
    }
  return window_of(made, {}, names);
}

/// Right-looking, of 4 x 4 blocks; all of L is wanted. Each version of a block is a datum of its own.
class BlockCholesky {
 public:
  explicit BlockCholesky(bool has_syrk_on_host) : has_syrk_on_host_(has_syrk_on_host) {}
  LaunchWindow window() {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j <= i; ++j) names_.push_back(block(i, j));
    for (int k = 0; k < 4; ++k) {
      call(false, {}, k, k);
      for (int m = k + 1; m < 4; ++m) call(true, {block(k, k)}, m, k);
      for (int c = k + 1; c < 4; ++c) {
        call(!has_syrk_on_host_, {block(c, k)}, c, c);
        for (int m = c + 1; m < 4; ++m) call(true, {block(m, k), block(c, k)}, m, c);
      }
    }
    std::vector<std::string> live;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j <= i; ++j) live.push_back(block(i, j));
    return window_of(calls_, live, names_);
  }

 private:
  std::string block(int i, int j) const {
    return "A" + std::to_string(i) + std::to_string(j) + "." + std::to_string(versions_[i][j]);
  }
  void call(bool is_on_device, std::vector<std::string> reads, int i, int j) {
    reads.push_back(block(i, j));
    ++versions_[i][j];
    names_.push_back(block(i, j));
    calls_.push_back({is_on_device, reads, {block(i, j)}});
  }
  const bool has_syrk_on_host_;
  int versions_[4][4] = {};
  std::vector<std::string> names_;
  std::vector<NamedCall> calls_;
};

LaunchWindow conjugate_gradient() {
  return window_of({{false, {"p"}, {"q"}},
                    {true, {"p", "q"}, {"s1"}},
                    {true, {"q", "s1"}, {"aq"}},
                    {true, {"r", "aq"}, {"r1"}},
                    {true, {"r1"}, {"s2"}},
                    {true, {"p", "s2"}, {"bp"}},
                    {true, {"r1", "bp"}, {"p1"}}});
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
  std::vector<NamedCall> calls;
  for (std::uint32_t i = 0; i < row.calls; ++i) {
    NamedCall& call = calls.emplace_back();
    const std::size_t reads = std::min<std::size_t>(random.between(row.reads.least, row.reads.most), known.size());
    for (const std::uint32_t data : random.sample(known, reads)) call.reads.push_back(std::to_string(data));
    const std::uint32_t writes = random.between(row.writes.least, row.writes.most);
    call.is_on_device = random.fraction() < row.on_device;
    for (std::uint32_t k = 0; k < writes; ++k) {
      known.push_back(static_cast<std::uint32_t>(known.size()));
      call.writes.push_back(std::to_string(known.back()));
    }
  }
  return window_of(calls);
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
  CHECK(counts_of(worked_example()) == Counts{11, 7, 7, 7});
  CHECK(counts_of(chain(20)) == Counts{2, 0, 0, 0});
  CHECK(counts_of(out_tree(15)) == Counts{17, 15, 15, 15});
  CHECK(counts_of(in_tree(15)) == Counts{17, 15, 8, 15});
  CHECK(counts_of(in_tree(31)) == Counts{33, 31, 16, 31});
  CHECK(counts_of(horner(10)) == Counts{13, 11, 11, 11});
  CHECK(counts_of(product_of_blocks()) == Counts{16, 11, 11, 11});
  CHECK(counts_of(BlockCholesky(false).window()) == Counts{21, 15, 15, 15});
  CHECK(counts_of(BlockCholesky(true).window()) == Counts{15, 9, 9, 9});
  CHECK(counts_of(conjugate_gradient()) == Counts{4, 2, 2, 2});
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
