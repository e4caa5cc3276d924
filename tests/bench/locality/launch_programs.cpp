#include "tests/bench/locality/launch_programs.hpp"

#include <fmt/format.h>

#include "tests/bench/locality/named_window.hpp"
#include "tests/bench/locality/simulation.hpp"
#include "vm/transfer/fuse_transfers.hpp"

namespace raddle::locality {

namespace {

std::string numbered(const char* name, int number) { return name + std::to_string(number); }

vm::LaunchWindow worked_example() {
  std::vector<std::string> names;
  for (char name = 'A'; name <= 'M'; ++name) names.emplace_back(1, name);
  return window_of({{true, {"B", "A"}, {"D", "E"}},
                    {false, {"E", "B"}, {"F", "G"}},
                    {true, {"C", "F"}, {"H", "I"}},
                    {true, {"F", "H"}, {"J", "K"}},
                    {true, {"H", "E"}, {"L", "M"}}},
                   {}, names);
}

vm::LaunchWindow chain(int calls) {
  std::vector<NamedCall> made;
  for (int i = 0; i < calls; ++i) made.push_back({true, {numbered("v", i)}, {numbered("v", i + 1)}});
  return window_of(made);
}

/// Of the root's call outwards, two results each.
vm::LaunchWindow out_tree(int calls) {
  std::vector<NamedCall> made;
  for (int i = 0; i < calls; ++i)
    made.push_back({true, {numbered("e", i)}, {numbered("e", 2 * i + 1), numbered("e", 2 * i + 2)}});
  return window_of(made);
}

/// Leaves first.
vm::LaunchWindow in_tree(int calls) {
  std::vector<NamedCall> made;
  for (int i = 0; i < calls; ++i)
    made.push_back({true, {numbered("v", 2 * i), numbered("v", 2 * i + 1)}, {numbered("v", calls + 1 + i)}});
  return window_of(made);
}

vm::LaunchWindow horner(int degree) {
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
vm::LaunchWindow product_of_blocks() {
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
  vm::LaunchWindow window() {
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

vm::LaunchWindow conjugate_gradient() {
  return window_of({{false, {"p"}, {"q"}},
                    {true, {"p", "q"}, {"s1"}},
                    {true, {"q", "s1"}, {"aq"}},
                    {true, {"r", "aq"}, {"r1"}},
                    {true, {"r1"}, {"s2"}},
                    {true, {"p", "s2"}, {"bp"}},
                    {true, {"r1", "bp"}, {"p1"}}});
}

constexpr std::int64_t vector_bytes = 65'536;
constexpr vm::Links bus{.to_device = usual_links.to_device, .to_host = usual_links.to_host, .latency_ns = 10'000};

std::string time_of(std::size_t transfers, std::size_t messages) {
  const std::int64_t moved_ns =
      bus.transfer_ns(static_cast<std::int64_t>(transfers) * vector_bytes, bus.to_device) - bus.latency_ns;
  return fmt::format("{:.0f}",
                     static_cast<double>(moved_ns + static_cast<std::int64_t>(messages) * bus.latency_ns) / 1e3);
}

}  // namespace

std::vector<LaunchProgram> launch_programs() {
  return {{"worked example", worked_example()},
          {"chain of 20", chain(20)},
          {"out-bound tree of 15", out_tree(15)},
          {"in-bound tree of 15", in_tree(15)},
          {"in-bound tree of 31", in_tree(31)},
          {"Horner, degree 10", horner(10)},
          {"product, 2 x 2", product_of_blocks()},
          {"Cholesky, 4 x 4", BlockCholesky(false).window()},
          {"Cholesky, SYRK on host", BlockCholesky(true).window()},
          {"conjugate gradient", conjugate_gradient()}};
}

void print_transfers() {
  fmt::print("{:<23} {:>9} {:>9} {:>7} {:>7} {:>9} {:>7} {:>7} {:>7}\n", "transfers", "each", "greedy", "tight",
             "fewest", "us: each", "greedy", "tight", "fewest");
  for (const LaunchProgram& program : launch_programs()) {
    const auto [uploads, downloads] = vm::transfers_of(program.window);
    const std::size_t each = uploads.size() + downloads.size();
    const std::size_t greedy_downloads = vm::fuse_along_paths(downloads, vm::Emission::greedy).size();
    const std::size_t greedy = vm::fuse_along_paths(uploads, vm::Emission::greedy).size() + greedy_downloads;
    const std::size_t tight = vm::fuse_along_paths(uploads, vm::Emission::tight).size() + greedy_downloads;
    const std::size_t fewest = vm::fuse_transfers(uploads).size() + vm::fuse_transfers(downloads).size();
    fmt::print("{:<23} {:>9} {:>9} {:>7} {:>7} {:>9} {:>7} {:>7} {:>7}\n", program.name, each, greedy, tight, fewest,
               time_of(each, each), time_of(each, greedy), time_of(each, tight), time_of(each, fewest));
  }
}

}  // namespace raddle::locality
