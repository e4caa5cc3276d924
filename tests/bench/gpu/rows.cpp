#include "tests/bench/gpu/rows.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace raddle::gpu::bench {

namespace {

void print(const Row& row) {
  std::puts(row.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

void print_row(const std::string& row, const std::string& what, double value, const std::string& unit,
               const Row& more) {
  Row line = {{"row", row}, {"what", what}, {"value", value}, {"unit", unit}};
  line.update(more);
  print(line);
}

void print_text(const std::string& row, const std::string& what, const std::string& text) {
  print({{"row", row}, {"what", what}, {"value", text}, {"unit", ""}});
}

void print_spread(const std::string& row, const std::string& what, std::vector<double> us) {
  std::ranges::sort(us);
  const auto at = [&](double share) {
    return us[static_cast<std::size_t>(share * static_cast<double>(us.size() - 1))];
  };
  print_row(row + "_p50", what + ", p50", at(0.5), "us");
  print_row(row + "_p99", what + ", p99", at(0.99), "us");
  print_row(row + "_least", what + ", least", us.front(), "us");
}

void give_up(const std::string& why) {
  print({{"row", "failed"}, {"what", why}, {"failed", true}});
  std::_Exit(1);
}

}  // namespace raddle::gpu::bench
