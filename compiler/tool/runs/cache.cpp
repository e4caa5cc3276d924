// `raddle cache`: what is kept of calls of `@memo` functions.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <expected>
#include <optional>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "vm/record/call_record.hpp"
#include "vm/value/standard_error.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::tool {

namespace {

int list_functions(bool as_json) {
  const std::vector<vm::KeptFunction> functions = vm::CallRecord::functions();
  std::string text;
  for (const vm::KeptFunction& function : functions) {
    if (as_json) {
      sweep::JsonObject json;
      json.add("function", sweep::json_string(function.name));
      json.add("calls", std::to_string(function.calls));
      json.add("bytes", std::to_string(function.bytes));
      json.add("used", fmt::format("{:.3f}", function.used));
      text += (text.empty() ? "" : ",") + json.text();
    } else {
      text += fmt::format("{:<24} {:>9} {} {:>11}  used {} ago\n", function.name, sweep::with_commas(function.calls),
                          function.calls == 1 ? "call " : "calls", sweep::size_text(function.bytes),
                          sweep::duration_text(std::max(0.0, vm::unix_time() - function.used)));
    }
  }
  if (as_json) text = json_line(fmt::format("\"functions\":[{}]", text));
  if (functions.empty() && !as_json) vm::print_stderr("raddle: nothing is kept of `@memo` functions in this folder\n");
  return write_output(text) ? exit_ok : exit_failed;
}

int collect_garbage(const vm::CallLimits& limits, bool as_json) {
  const std::uint64_t removed = vm::CallRecord::gc(limits);
  if (as_json) return write_output(json_line(fmt::format("\"removed\":{}", removed))) ? exit_ok : exit_failed;
  vm::print_stderr("raddle: removed {} {}\n", sweep::with_commas(removed), removed == 1 ? "call" : "calls");
  return exit_ok;
}

struct CacheWords {
  bool as_json = false, all = false;
  std::string age, size;
  CLI::App* gc = nullptr;
};

void add_cache_options(CLI::App& app, CacheWords& words) {
  app.description(
      "raddle cache: results of `@memo` functions that are kept in this folder\n\nexamples:\n  raddle cache\n"
      "  raddle cache gc --older-than 30d\n  raddle cache gc --keep 2G\n");
  app.require_subcommand(0, 1);
  CLI::App* list = app.add_subcommand("list", "A line for each function; so does `raddle cache` alone");
  words.gc = app.add_subcommand("gc", "Remove results, and files that no result needs");
  for (CLI::App* verb : {list, words.gc})
    verb->add_flag("--json", words.as_json, "As JSON, with the number of its form in `schema`");
  words.gc->add_option("--older-than", words.age, "What was not used for so long: 12h, 30d, 4w")->type_name("TIME");
  words.gc->add_option("--keep", words.size, "What was not used for longest, until no more than this is left: 500M, 2G")
      ->type_name("SIZE");
  words.gc->add_flag("--all", words.all, "Everything");
}

/// @return an exit code if there is something wrong with the words
std::expected<vm::CallLimits, int> read_limits(const CacheWords& words) {
  const auto refuse = [](const std::string& message) { return std::unexpected(usage_error(message, "cache gc")); };
  if (words.age.empty() && words.size.empty() && !words.all) return refuse("gc needs --older-than, --keep or --all");
  vm::CallLimits limits;
  if (!words.age.empty()) limits.age_s = sweep::read_duration(words.age);
  if (!words.age.empty() && !limits.age_s) return refuse(fmt::format("`{}` is no time; 12h, 30d or 4w are", words.age));
  const std::optional<double> bytes = sweep::read_size(words.size);
  if (!words.size.empty() && !bytes) return refuse(fmt::format("`{}` is no size; 500M or 2G are", words.size));
  if (bytes) limits.bytes = static_cast<std::uint64_t>(*bytes);
  if (words.all) limits.age_s = 0;
  return limits;
}

int cache_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle cache");
  CacheWords read;
  add_cache_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "cache")) return *code;
  if (!*read.gc) return with_record([&] { return list_functions(read.as_json); });
  const std::expected<vm::CallLimits, int> limits = read_limits(read);
  if (!limits) return limits.error();
  return with_record([&] { return collect_garbage(*limits, read.as_json); });
}

}  // namespace

const Verb cache_verb = {.name = "cache",
                         .about = "Results of @memo functions that are kept in this folder: cache list, cache gc",
                         .run = cache_command,
                         .describe = [](CLI::App& app) { describe_with(app, add_cache_options); }};

}  // namespace raddle::tool
