#include "vm/record/record_rows.hpp"

#include <algorithm>

#include "vm/record/process_identity.hpp"

namespace raddle::vm {
namespace {

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::running: return "running";
    case RunState::done: return "done";
    case RunState::failed: return "failed";
    case RunState::stopped: return "stopped";
    case RunState::interrupted: return "interrupted";
    case RunState::killed: return "killed";
  }
  return "";
}

std::string_view name_of(PointOutcome outcome) {
  switch (outcome) {
    case PointOutcome::ok: return "ok";
    case PointOutcome::exit_code: return "exit code";
    case PointOutcome::signal: return "signal";
    case PointOutcome::timeout: return "timeout";
    case PointOutcome::not_started: return "not started";
    case PointOutcome::no_result: return "no result";
    case PointOutcome::failed: return "failed";
    case PointOutcome::stuck: return "stuck";
    case PointOutcome::interrupted: return "interrupted";
  }
  return "";
}

bool has_failed(PointOutcome outcome) { return outcome != PointOutcome::ok && outcome != PointOutcome::interrupted; }

std::vector<std::string> RunRow::words() const { return parts_of(command); }
std::vector<std::string> RunRow::column_words() const { return parts_of(columns); }

RunRow run_row(const Statement& found) {
  RunRow run{.id = found.text(0),
             .kind = found.text(1),
             .command = found.text(2),
             .started = found.real(3),
             .ended = found.real(4),
             .state = static_cast<RunState>(found.integer(5)),
             .points = static_cast<std::uint64_t>(found.integer(6)),
             .taken = static_cast<std::uint64_t>(found.integer(7)),
             .ok = static_cast<std::uint64_t>(found.integer(8)),
             .failed = static_cast<std::uint64_t>(found.integer(9)),
             .resumes = found.text(10),
             .collect = found.text(11),
             .columns = found.text(16),
             .work = static_cast<std::uint64_t>(found.integer(15))};
  const ProcessIdentity process{found.integer(12), found.integer(13), found.text(14)};
  if (run.state == RunState::running && !is_alive(process)) run.state = RunState::killed;
  return run;
}

Attempt take_attempt(const Statement& found, int begin) {
  return {.outcome = static_cast<PointOutcome>(found.integer(begin)),
          .started = found.real(begin + 1),
          .duration_s = found.real(begin + 2),
          .exit_code = static_cast<int>(found.integer(begin + 3)),
          .signal = static_cast<int>(found.integer(begin + 4)),
          .worker = static_cast<std::uint32_t>(found.integer(begin + 11)),
          .inputs = found.text(begin + 12),
          .detail = found.text(begin + 5),
          .results = found.text(begin + 6),
          .stdout_end = found.text(begin + 7),
          .stderr_end = found.text(begin + 8),
          .stdout_size = static_cast<std::uint64_t>(found.integer(begin + 9)),
          .stderr_size = static_cast<std::uint64_t>(found.integer(begin + 10)),
          .row_digest = found.integer(begin + 13)};
}

PointRow row_of(const Statement& found) {
  return {.number = static_cast<std::uint64_t>(found.integer(0)),
          .key = PointKey::of_bytes(found.text(4)),
          .attempt_number = static_cast<std::uint32_t>(found.integer(1)),
          .is_last = found.integer(2) != 0,
          .parameters = found.text(3),
          .attempt = take_attempt(found, 5)};
}

PointRow take_point(const Statement& found) {
  return {.number = static_cast<std::uint64_t>(found.integer(0)),
          .key = PointKey::of_bytes(found.text(1)),
          .parameters = found.text(2),
          .attempt = {}};
}

std::vector<BlockHead> take_heads(Statement& query) {
  std::vector<BlockHead> heads;
  while (query.step())
    heads.push_back({.row = query.integer(0),
                     .first = static_cast<std::uint64_t>(query.integer(1)),
                     .last = static_cast<std::uint64_t>(query.integer(2)),
                     .is_of_first_run = query.integer(3) != 0});
  return heads;
}

}  // namespace raddle::vm
