#pragma once
// What was measured, as lines of JSON on standard output: {"row": NAME, "what": WORDS, "value": FIGURE, "unit": UNIT
// ..}.
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace raddle::gpu::bench {

using Clock = std::chrono::steady_clock;
using Row = nlohmann::ordered_json;

/// @param row  the name that it is known by: goals belong to it  @param more  further keys
void print_row(const std::string& row, const std::string& what, double value, const std::string& unit,
               const Row& more = Row::object());
void print_text(const std::string& row, const std::string& what, const std::string& text);
/// Three rows: NAME_p50, NAME_p99 and NAME_least, in us.
void print_spread(const std::string& row, const std::string& what, std::vector<double> us);

/// A row that says why, and the end. A kernel may be there still, for which the driver would wait.
[[noreturn]] void give_up(const std::string& why);

inline double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

}  // namespace raddle::gpu::bench
