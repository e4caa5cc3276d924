// `raddle why`: why a point of a sweep was run, or where its result comes from.
//
// A point's key is the sum of a hash of the work and of hashes of its values. So a point with the same values under
// other work has a key that differs by the works alone, and is found without a look at any text.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "compiler/driver/commands.hpp"
#include "compiler/driver/recorded_points.hpp"
#include "compiler/driver/runs.hpp"
#include "compiler/driver/sweep_request.hpp"
#include "compiler/driver/usage.hpp"
#include "compiler/driver/verbs.hpp"
#include "compiler/sweep/command_template.hpp"
#include "compiler/sweep/json_text.hpp"
#include "compiler/sweep/point_key.hpp"
#include "compiler/sweep/quantities.hpp"
#include "compiler/sweep/scan.hpp"

namespace raddle::driver {

namespace {

constexpr int json_schema = 1;
constexpr std::size_t shown_points = 10;
constexpr std::size_t compared_points = 20'000;  // earlier ones among which the nearest is looked for

struct Difference {
  std::string name, now, before;  ///< "": not there
};

struct Reason {
  std::uint64_t point = 0;
  std::string parameters;          ///< JSON object
  std::string_view state = "run";  ///< `from the record`, `waits`, `not run`
  std::string because;
  std::string earlier_run;  ///< "": none
  std::uint64_t earlier_point = 0;
  std::vector<Difference> differences;
};

using Members = std::vector<std::pair<std::string, std::string>>;

bool is_same_value(const std::string& one, const std::string& other) {
  const std::optional<double> number = sweep::read_number(one), second = sweep::read_number(other);
  return one == other || (number && second && *number == *second);
}

std::vector<Difference> differences_of(const Members& now, const Members& before) {
  std::vector<Difference> found;
  const auto value_in = [](const Members& members, const std::string& name) {
    const auto at = std::ranges::find(members, name, &Members::value_type::first);
    return at == members.end() ? std::string() : at->second;
  };
  for (const auto& [name, value] : now)
    if (const std::string other = value_in(before, name); !is_same_value(other, value))
      found.push_back({name, value, other});
  for (const auto& [name, value] : before)
    if (std::ranges::find(now, name, &Members::value_type::first) == now.end()) found.push_back({name, "", value});
  return found;
}

std::string text_of(const std::vector<Difference>& differences) {
  std::string text;
  for (const Difference& each : differences)
    text += fmt::format("{}`{}` was {}, and is {}", text.empty() ? "" : "; ", each.name,
                        each.before.empty() ? "not there" : each.before, each.now.empty() ? "not there" : each.now);
  return text;
}

bool has_word(const vm::RunRow& run, std::string_view word) {
  const std::vector<std::string> words = run.words();
  const auto command = std::ranges::find(words, "--");
  return std::find(words.begin(), command, word) != command;
}

std::string command_of(const vm::RunRow& run) {
  const std::vector<std::string> words = run.words();
  const auto command = std::ranges::find(words, "--");
  return command == words.end() ? "" : sweep::shell_line({command + 1, words.end()});
}

/// The values are the same, and yet it is other work.
std::string what_changed(const vm::RunRow& run, const vm::RunRow& before) {
  const std::string now = command_of(run), then = command_of(before);
  if (now.empty() && then.empty())
    return fmt::format("the script, a module of it or a macro is not as it was in run {}", before.id);
  if (!now.empty() && !then.empty()) return fmt::format("run {} did it with another command: {}", before.id, then);
  return fmt::format("run {} did it with {}", before.id, now.empty() ? "a command: " + then : "a script");
}

struct EarlierPoint {
  std::uint64_t number = 0;
  vm::PointOutcome outcome = vm::PointOutcome::ok;
};

/// @param key_low  PointKey::low
std::optional<EarlierPoint> find_key(vm::RunRecord& record, const vm::RunRow& run, std::uint64_t key_low) {
  std::optional<EarlierPoint> found;
  for (const vm::PointHead& head : record.point_heads(run.id))
    if (head.key.low == key_low && (!found || head.outcome == vm::PointOutcome::ok))
      found = {head.number, head.outcome};
  if (found) return found;
  for (const vm::BatchHead& head : record.batches_of(run.id)) {
    const std::vector<std::uint64_t> keys = record.batch_keys(head.row);
    const auto at = std::ranges::find(keys, key_low);
    if (at != keys.end()) return EarlierPoint{record.batch(head.row).number(at - keys.begin()), vm::PointOutcome::ok};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> key_of(vm::RunRecord& record, const vm::RunRow& run, std::uint64_t number) {
  for (const vm::PointHead& head : record.point_heads(run.id))
    if (head.number == number) return head.key.low;
  for (const vm::BatchHead& head : record.batches_of(run.id)) {
    if (number < head.first || number > head.last) continue;
    const vm::BatchRow batch = record.batch(head.row);
    for (std::size_t i = 0; i < batch.keys.size(); ++i)
      if (batch.number(i) == number) return batch.keys[i];
  }
  return std::nullopt;
}

/// Tells of the points of one run.
class Explainer {
 public:
  Explainer(vm::RunRecord& record, const vm::RunRow& run) : record_(record), run_(run), earlier_(record.runs()) {
    const auto own = std::ranges::find(earlier_, run.id, &vm::RunRow::id);
    earlier_.erase(own, earlier_.end());
    std::ranges::reverse(earlier_);  // the latest first
  }

  /// @return nothing if the sweep has no such point
  std::optional<Reason> explain(std::uint64_t number) {
    Reason reason;
    reason.point = number;
    reason.parameters = "{}";
    if (const std::optional<std::uint64_t> key = key_of(record_, run_, number)) {
      for_each_recorded_point(record_, run_, number, [&](const vm::PointRow& row) {
        reason.parameters = row.parameters;
        return false;
      });
      explain_run(*key, reason);
      return reason;
    }
    const std::expected<SweepRequest, int> request = read_sweep_request(run_.words());
    if (!request) return std::nullopt;
    const auto space = sweep::Space::make(request->space);
    if (!space || number == 0 || number > space->size()) return std::nullopt;
    reason.parameters = parameters_json(space->parameters(), space->point(number));
    explain_absent(reason);
    return reason;
  }

 private:
  /// It was run: nothing that ended well was there, or was to be taken.
  void explain_run(std::uint64_t key_low, Reason& reason) {
    const vm::RunRow* changed = nullptr;
    for (const vm::RunRow& each : earlier_) {
      const std::optional<EarlierPoint> found = find_key(record_, each, key_low - run_.work + each.work);
      if (found && each.work == run_.work) {
        refer(reason, each, found->number);
        reason.because = why_not_taken(each, *found);
        return;
      }
      if (found && changed == nullptr) {
        changed = &each;
        refer(reason, each, found->number);
      }
    }
    if (changed != nullptr)
      reason.because = what_changed(run_, *changed);
    else
      explain_by_nearest(reason);
  }

  std::string why_not_taken(const vm::RunRow& before, const EarlierPoint& found) const {
    if (found.outcome != vm::PointOutcome::ok)
      return fmt::format("in run {} it failed ({}), and only what has ended well is taken", before.id,
                         name_of(found.outcome));
    if (has_word(run_, "--no-cache")) return fmt::format("run {} has it, but --no-cache runs all anew", before.id);
    return fmt::format("run {} has it, but this one was to run it once more, or for results that were not kept",
                       before.id);
  }

  void explain_by_nearest(Reason& reason) {
    const Members own = sweep::json_members(reason.parameters);
    const vm::RunRow* nearest = nullptr;
    std::size_t compared = 0;
    for (const vm::RunRow& each : earlier_) {
      for_each_recorded_point(record_, each, std::nullopt, [&](const vm::PointRow& row) {
        std::vector<Difference> differences = differences_of(own, sweep::json_members(row.parameters));
        if (nearest == nullptr || differences.size() < reason.differences.size()) {
          nearest = &each;
          refer(reason, each, row.number);
          reason.differences = std::move(differences);
        }
        return ++compared < compared_points;
      });
      if (compared >= compared_points) break;
    }
    if (nearest == nullptr)
      reason.because = "no run before this one has points in the record";
    else if (reason.differences.empty())
      reason.because = nearest->work == run_.work ? fmt::format("run {} did it with another seed", nearest->id)
                                                  : what_changed(run_, *nearest);
    else
      reason.because = fmt::format("no earlier run has these values; most like it is point {} of run {}: {}",
                                   reason.earlier_point, nearest->id, text_of(reason.differences));
  }

  /// The point is in the sweep, but the run has no row of it.
  void explain_absent(Reason& reason) {
    const Members own = sweep::json_members(reason.parameters);
    for (const vm::RunRow& each : earlier_) {
      if (each.work != run_.work || !reason.earlier_run.empty()) continue;
      for_each_recorded_point(record_, each, std::nullopt, [&](const vm::PointRow& row) {
        const bool is_it = row.attempt.outcome == vm::PointOutcome::ok &&
                           differences_of(own, sweep::json_members(row.parameters)).empty();
        if (is_it) refer(reason, each, row.number);
        return !is_it;
      });
    }
    if (!reason.earlier_run.empty() && run_.taken != 0) {
      reason.state = "from the record";
      reason.because = fmt::format("run {} did the same, as point {}", reason.earlier_run, reason.earlier_point);
    } else if (run_.state == vm::RunState::running) {
      reason.state = "waits";
      reason.because = "the run is under way, and has not ended it yet";
    } else {
      reason.state = "not run";
      reason.because = has_word(run_, "--where") || has_word(run_, "--shard") || run_.points < reason.point
                           ? "the run leaves it out, or did not get to it"
                           : fmt::format("the run did not get to it, it is {}", name_of(run_.state));
    }
  }

  static void refer(Reason& reason, const vm::RunRow& run, std::uint64_t point) {
    reason.earlier_run = run.id;
    reason.earlier_point = point;
  }

  vm::RunRecord& record_;
  const vm::RunRow& run_;
  std::vector<vm::RunRow> earlier_;
};

std::string reason_json(const Reason& reason) {
  sweep::JsonObject json;
  json.add("point", std::to_string(reason.point));
  json.add("parameters", reason.parameters);
  json.add("state", sweep::json_string(reason.state));
  json.add("because", sweep::json_string(reason.because));
  if (!reason.earlier_run.empty()) {
    json.add("earlier_run", sweep::json_string(reason.earlier_run));
    json.add("earlier_point", std::to_string(reason.earlier_point));
  }
  std::string differences;
  for (const Difference& each : reason.differences) {
    sweep::JsonObject difference;
    difference.add("parameter", sweep::json_string(each.name));
    difference.add_text("now", each.now);
    difference.add_text("before", each.before);
    differences += (differences.empty() ? "" : ",") + difference.text();
  }
  json.add("differences", "[" + differences + "]");
  return json.text();
}

/// `RUN`, `RUN/POINT`. @return nothing if what follows the slash is no number
std::optional<std::pair<std::string, std::optional<std::uint64_t>>> split(const std::string& word) {
  const std::size_t slash = word.find('/');
  if (slash == std::string::npos) return std::pair(word, std::optional<std::uint64_t>());
  const std::optional<std::uint64_t> number = sweep::read_count(word.substr(slash + 1));
  if (!number) return std::nullopt;
  return std::pair(word.substr(0, slash), number);
}

int tell(const vm::RunRow& run, const std::vector<Reason>& reasons, bool as_json, bool is_whole) {
  std::string text, list;
  for (const Reason& reason : reasons) {
    list += (list.empty() ? "" : ",") + reason_json(reason);
    text += fmt::format("{}point {} {}: {}: {}\n", is_whole ? "  " : "", reason.point, reason.parameters, reason.state,
                        reason.because);
  }
  if (as_json)
    return write_output(fmt::format("{{\"schema\":{},\"run\":{},\"points\":[{}]}}\n", json_schema,
                                    sweep::json_string(run.id), list))
               ? exit_ok
               : exit_failed;
  std::string head = fmt::format("run {}: {}\n", run.id, command_text(run));
  if (is_whole)
    head += fmt::format("  {} points: {} from the record of earlier runs, {} run\n", sweep::with_commas(run.points),
                        sweep::with_commas(run.taken), sweep::with_commas(run.ok + run.failed));
  if (is_whole && run.ok + run.failed > reasons.size())
    text += fmt::format("  .. `raddle why {}/POINT` tells of any other\n", run.id);
  return write_output(head + text) ? exit_ok : exit_failed;
}

int explain(const std::string& word, bool as_json) {
  const auto asked = split(word);
  if (!asked) return usage_error(fmt::format("`{}` is no RUN or RUN/POINT", word), "why");
  const std::expected<vm::RunRow, int> run = find_run(asked->first);
  if (!run) return run.error();
  vm::RunRecord record = *vm::RunRecord::open();
  std::vector<std::uint64_t> numbers;
  if (asked->second)
    numbers.push_back(*asked->second);
  else
    for_each_recorded_point(record, *run, std::nullopt, [&](const vm::PointRow& row) {
      if (row.is_last) numbers.push_back(row.number);
      return numbers.size() < shown_points;
    });
  std::ranges::sort(numbers);
  Explainer explainer(record, *run);
  std::vector<Reason> reasons;
  for (const std::uint64_t number : numbers) {
    std::optional<Reason> reason = explainer.explain(number);
    if (!reason) return usage_error(fmt::format("run {} has no point {}", run->id, number), "why");
    reasons.push_back(std::move(*reason));
  }
  return tell(*run, reasons, as_json, !asked->second);
}

struct WhyWords {
  std::string run;
  bool as_json = false;
};

void add_why_options(CLI::App& app, WhyWords& words) {
  app.description(
      "raddle why: why points of a sweep were run, or where their results come from\n\nexamples:\n  raddle why\n"
      "  raddle why 261121-150412-k7\n  raddle why k7/17\n");
  app.add_option("RUN", words.run,
                 "A run's id, its beginning or its end, and perhaps `/` and a point; none: the latest")
      ->type_name("");
  app.add_flag("--json", words.as_json, "As JSON, with the number of its form in `schema`");
}

int why_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle why");
  WhyWords read;
  add_why_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "why")) return *code;
  return with_record([&] { return explain(read.run, read.as_json); });
}

}  // namespace

const Verb why_verb = {.name = "why",
                       .about = "Why points of a sweep were run, or where their results come from: why RUN/POINT",
                       .run = why_command,
                       .describe = [](CLI::App& app) { describe_with(app, add_why_options); }};

}  // namespace raddle::driver
