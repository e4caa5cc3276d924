#include "compiler/sweep/failures.hpp"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <cctype>

#include "compiler/sweep/collector.hpp"

namespace raddle::sweep {
namespace {

constexpr std::size_t most_groups = 1000;

// Numbers differ from run to run: `x = 0.3 is bad` and `x = 17 is bad` are alike.
std::string without_numbers(const std::string& line) {
  std::string text;
  for (const char sign : line) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(sign)) != 0;
    if (is_digit && text.ends_with('#')) continue;
    if (sign == '.' && text.ends_with('#')) continue;
    text += is_digit ? '#' : sign;
  }
  return text;
}

bool is_of_script(const Attempt& attempt) {
  return attempt.outcome == vm::PointOutcome::failed || attempt.outcome == vm::PointOutcome::stuck;
}

}  // namespace

std::string failure_text(const Attempt& attempt) {
  switch (attempt.outcome) {
    case vm::PointOutcome::ok: return "ok";
    case vm::PointOutcome::exit_code: return fmt::format("exit code {}", attempt.exit_code);
    case vm::PointOutcome::signal: return fmt::format("signal {} ({})", attempt.signal, strsignal(attempt.signal));
    case vm::PointOutcome::timeout: return "ended by --timeout";
    case vm::PointOutcome::not_started: return fmt::format("not started: {}", attempt.detail);
    case vm::PointOutcome::no_result: return fmt::format("no result: {}", attempt.detail);
    case vm::PointOutcome::failed:
    case vm::PointOutcome::stuck: return attempt.detail;
  }
  return "";
}

std::string reason_of(const Attempt& attempt) {
  if (attempt.outcome == vm::PointOutcome::ok) return "";
  const std::string line = is_of_script(attempt) ? "" : last_line(attempt.stderr_end);
  return failure_text(attempt) + (line.empty() ? "" : "; " + line);
}

void Failures::add(const Point& point, const Attempt& attempt) {
  std::string line = is_of_script(attempt) ? "" : last_line(attempt.stderr_end);
  std::string what = failure_text(attempt);
  auto key = std::pair(without_numbers(attempt.detail) + what.substr(0, what.find(':')), without_numbers(line));
  if (is_of_script(attempt)) key.second = attempt.detail.substr(0, attempt.detail.find(' '));  // the place
  if (groups_.size() >= most_groups && !groups_.contains(key)) return;
  FailureGroup& group = groups_[key];
  if (group.count++ != 0 && group.first.number < point.number) return;
  group.what = std::move(what);
  group.line = std::move(line);
  group.first = point;
}

std::vector<FailureGroup> Failures::groups() const {
  std::vector<FailureGroup> all;
  for (const auto& [key, group] : groups_) all.push_back(group);
  std::ranges::stable_sort(all, std::greater<>(), &FailureGroup::count);
  return all;
}

}  // namespace raddle::sweep
