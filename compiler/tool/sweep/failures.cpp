#include "compiler/tool/sweep/failures.hpp"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "compiler/tool/sweep/collector.hpp"
#include "compiler/tool/formats/scan.hpp"

namespace raddle::sweep {
namespace {

constexpr std::size_t most_groups = 1000;

bool is_digit(char sign) { return std::isdigit(static_cast<unsigned char>(sign)) != 0; }

/// Letters beyond ASCII are parts of words, too.
bool is_of_word(char sign) {
  return std::isalnum(static_cast<unsigned char>(sign)) != 0 || sign == '_' || static_cast<unsigned char>(sign) >= 0x80;
}

/// How much of `text` is a number, 0: it begins with none. In `-0.3e-5` the sign counts, in `a-3` it is a hyphen.
std::size_t number_size(std::string_view text, char before) {
  std::size_t size = 0;
  if ((text[0] == '-' || text[0] == '+') && !is_of_word(before) && before != ')') size = 1;
  const std::size_t digits = size;
  const auto skip = [&](auto is_wanted) {
    while (size < text.size() && is_wanted(text[size])) ++size;
  };
  skip([&](char sign) {
    return is_digit(sign) || (sign == '.' && size > digits && size + 1 < text.size() && is_digit(text[size + 1]));
  });
  if (size == digits) return 0;
  std::size_t exponent = size + 1;
  if (size < text.size() && (text[size] == 'e' || text[size] == 'E')) {
    if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
    if (exponent < text.size() && is_digit(text[exponent])) {
      size = exponent;
      skip(is_digit);
    }
  }
  return size;
}

/// `x = -0.3 is bad` and `x = 17 is bad` are alike.
std::string without_numbers(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t size = number_size(line.substr(i), i == 0 ? ' ' : line[i - 1]);
    text += size == 0 ? line[i] : '#';
    i += std::max<std::size_t>(size, 1);
  }
  return text;
}

/// With `mark` in place of `value` where that stands as a word.
std::string with_mark(const std::string& line, const std::string& value, std::string_view mark) {
  std::string text;
  std::size_t taken = 0;
  for (std::size_t at = line.find(value); at != std::string::npos; at = line.find(value, at + 1)) {
    const std::size_t end = at + value.size();
    const bool is_begun = at > taken && is_of_word(line[at - 1]) && is_of_word(value.front());
    const bool goes_on = end < line.size() && is_of_word(line[end]) && is_of_word(value.back());
    if (at < taken || is_begun || goes_on) continue;
    text.append(line, taken, at - taken) += mark;
    taken = end;
  }
  return text.append(line, taken);
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
    case vm::PointOutcome::timeout: return attempt.detail.empty() ? "ended by --timeout" : attempt.detail;
    case vm::PointOutcome::not_started: return fmt::format("not started: {}", attempt.detail);
    case vm::PointOutcome::no_result: return fmt::format("no result: {}", attempt.detail);
    case vm::PointOutcome::failed:
    case vm::PointOutcome::stuck:
    case vm::PointOutcome::interrupted: return attempt.detail;
  }
  return "";
}

std::string reason_of(const Attempt& attempt) {
  if (attempt.outcome == vm::PointOutcome::ok) return "";
  const std::string line = is_of_script(attempt) ? "" : last_line(attempt.stderr_end);
  return failure_text(attempt) + (line.empty() ? "" : "; " + line);
}

// A value that is a number is one of the numbers: the same one may stand there for something else.
std::string message_form(std::string_view message, std::span<const std::string> values) {
  std::vector<std::string> words;
  for (const std::string& value : values)
    if (!value.empty() && !read_number(value)) words.push_back(value);
  std::ranges::sort(words, std::greater<>(), &std::string::size);  // of `iron-b` and `iron` the longer one first
  std::string text(message);
  for (const std::string& word : words) text = with_mark(text, word, "{}");
  return without_numbers(text);
}

void Failures::add(const Point& point, const Attempt& attempt) {
  std::string line = is_of_script(attempt) ? "" : last_line(attempt.stderr_end);
  std::string what = failure_text(attempt);
  auto key = std::pair(message_form(attempt.detail, point.values) + what.substr(0, what.find(':')),
                       message_form(line, point.values));
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
