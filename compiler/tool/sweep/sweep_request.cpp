#include "compiler/tool/sweep/sweep_request.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/process/machine.hpp"
#include "compiler/tool/run/run_command.hpp"
#include "compiler/tool/settings/settings.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/formats/scan.hpp"

namespace raddle::tool {

namespace {

constexpr const char* usage = R"(raddle sweep: runs a script or a program at each point of a space of parameters

examples:
  raddle sweep model.df -p a=1,2,3 -p b=0:1:0.1 -o table.csv
  raddle sweep -p a=1,2,3 -p b=0:1:0.1 -- ./model --a {a} --b {b}
  raddle sweep --lhs 1000 -p 'x~U(0,1)' -p 'y~N(0,2)' --where 'x*y < 0.5' --collect regex:'E=(\S+)' -o x.csv -- ./model {x} {y}
  raddle sweep --resume
)";

constexpr const char* footer =
    R"(A script's parameters are its `@param`s, its results its `@result`s, or what --collect finds in what it prints. All
points run in this process; if the script only computes numbers, thousands at a time: --dry-run says so, or why not.

Behind `--` stands the command, which no shell sees. In its words {NAME} is a parameter's value, {#} the
point's number, {rep} and {seed} what --repeats makes; {{ and }} are braces. {x:.3f} and {n:04d} are formatted as in
C++. {run.dir} is a new folder for each run, {%} a number from 1 to -j that no other run of this sweep has at the
time; each shard counts for itself.

-p NAME=VALUES, with commas between them:
  1,2,3    small,large              one by one, as they are written; blanks around them do not count
  0:10     0:1:0.1    5:1:-1        FROM:TO:STEP; both ends are values. Exact: 64-bit ints, or 15 decimals
  lin(0,1,5)    log(1e-4,1e-1,7)    so many from one end to the other, as floats with the digits that they need
  "a,b"    "1:3"    "007"    ""     texts in quotes, as in CSV: with commas or colons, or empty; "" for one quote
  a\,b     1\:3                     the same without quotes
So -p 'name="a,b",c' has two values. One that stands there twice is told, and run twice.

-p NAME~DIST     U(LOW,HIGH)  logU(LOW,HIGH)  intU(LOW,HIGH) (whole numbers)  N(MEAN,DEVIATION), with --random, --lhs
                 or --sobol

What was run is recorded in .raddle/runs.db. A point that an earlier sweep of the same command has done is not run
again: so a sweep that was stopped is resumed, and one with a larger grid runs the new points only. What another sweep
in this folder is running right now is waited for, not run here, too. A point is run again if a file has changed that
a word of the command, or of a script's programs, names, the program among them, that a script reads, names by input()
or finds by glob(), or that --input names; what the runs themselves change does not count. So is a point if a file is
not there any more that the script has written at it, or that --collect has read of it under a name of the point's own.
Programs that are looked up in PATH are the system's: they are not looked at.

Ctrl-C, as SIGTERM, SIGHUP and SIGUSR1, starts no new runs; programs that run go on to their end, points of a script do so at
SIGUSR1 only. A second one ends the programs, too. A signal that is ignored at the start stays so, as SIGHUP under nohup.

A point is recorded when it ends; those that end soon after another one are gathered for 50 ms at most before they are
written.
Points of a script that only computes numbers are computed and recorded by thousands. SIGKILL loses what is not recorded
by then, and nothing else.

exit codes: 0 all is well, 2 the command line is wrong, 4 some runs failed, 75 stopped early, 130 ended by Ctrl-C
)";

void add_space_options(CLI::App& app, SweepRequest& request) {
  sweep::SpaceOptions& space = request.space;
  constexpr const char* group = "Points";
  app.add_option("-p,--param", space.parameters,
                 "A parameter and its values (repeat it; the last one varies fastest); files that fit a pattern: "
                 "--from a list of them")
      ->type_name("NAME=VALUES")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--zip", space.zips, "These parameters step together, not each with each (may be repeated)")
      ->type_name("NAME,NAME..")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--from", space.table, "Parameters from a table: the columns by their names, a point for each row")
      ->type_name("FILE.csv")
      ->group(group);
  app.add_option("--where", request.where, "Only the points for which this holds: an expression of the language")
      ->type_name("EXPR")
      ->check(is_expression)
      ->group(group);
  const auto add_method = [&](const char* name, sweep::SampleMethod method, const char* about) {
    app.add_option_function<std::uint64_t>(
           name,
           [&space, method, name](std::uint64_t count) {
             if (space.method && *space.method != method)
               throw CLI::ValidationError(name, "--random, --lhs and --sobol exclude each other");
             space.method = method;
             space.sample_count = count;
           },
           about)
        ->check([name](const std::string& text) {
          const std::string fault = is_whole_from(1)(text);
          return fault.empty()
                     ? fault
                     : fault +
                           fmt::format(
                               ", how many points to draw; from what is said for each parameter: -p 'a~U(0,1)' {} 100",
                               name);
        })
        ->type_name("N")
        ->group(group);
  };
  add_method("--random", sweep::SampleMethod::random, "Draw N points from the distributions");
  add_method("--lhs", sweep::SampleMethod::latin_hypercube, "The same, spread evenly: a Latin hypercube");
  add_method("--sobol", sweep::SampleMethod::sobol, "The same, spread evenly: Sobol's sequence (N: best a power of 2)");
  app.add_option("--repeats", space.repeats, "Each point so many times; makes {rep} and {seed}")
      ->check(is_whole_from(1))
      ->type_name("N")
      ->group(group);
  app.add_option("--seed", space.seed,
                 "Another one draws other points, gives other {seed}s and another order (default 0)")
      ->check(is_whole_from(0))
      ->type_name("N")
      ->group(group);
  app.add_option("--shard", request.shard, "Only every n-th point, from the i-th on: for one of n machines")
      ->type_name("i/n")
      ->group(group);
  app.add_option("--order", request.order, "`random`: mixed, so that a part says something of the whole")
      ->check(CLI::IsMember({"random", "given"}))
      ->type_name("ORDER")
      ->group(group);
}

void add_script_options(CLI::App& app, Options& options) {
  constexpr const char* group = "The script";
  app.add_option("-I,--include", options.include_folders, "Folder in which imports are looked for (may be repeated)")
      ->type_name("FOLDER")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("-D", options.macros, "Define a macro of the preprocessor (may be repeated)")
      ->type_name("NAME[=TEXT]")
      ->allow_extra_args(false)
      ->group(group);
  add_memory_options(app, options, group);
  add_gpus_option(app, options.gpus, group);
  app.add_flag_callback(
         "--no-jit-cache", [&options] { options.jit_cache = false; }, "Compile leaf functions anew, keep none")
      ->group(group);
}

bool is_script(const std::string& word) { return word.ends_with(".df") || word.ends_with(".swift"); }

std::optional<int> parse(CLI::App& app, SweepRequest& request, std::vector<std::string> words) {
  const auto separator = std::ranges::find(words, "--");
  if (separator != words.end()) request.command.assign(separator + 1, words.end());
  words.erase(separator, words.end());
  std::ranges::reverse(words);  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return write_output(app.help()) ? exit_ok : exit_failed;
    return usage_error(error.what(), "sweep");
  }
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return std::nullopt;
  const std::string& extra = extras.front();
  if (extra.starts_with("-")) return unknown_option(app, extra, "sweep");
  if (extras.size() == 1 && request.command.empty() && is_script(extra)) {
    request.script = extra;
    return std::nullopt;
  }
  if (is_script(extra) && request.command.empty() && extras[1].starts_with("-") &&
      (!verb_with(extras[1]).empty() || !nearest_option(app, extras[1]).empty()))
    return unknown_option(app, extras[1], "sweep");
  if (is_script(extra))
    return usage_error(request.command.empty()
                           ? fmt::format("a sweep has one script, and no arguments behind it: `{}`; "
                                         "a parameter is set by -p NAME=VALUE",
                                         extras[1])
                           : fmt::format("a sweep has a script, `{}`, or a command, not both", extra),
                       "sweep");
  return usage_error(
      fmt::format("`{}` is no option and no script; a command stands behind `--`: raddle sweep .. -- {} ..", extra,
                  extra),
      "sweep");
}

// Without `--resume`, `--resume=RUN`, `--resume RUN`.
std::vector<std::string> without_resume(const std::vector<std::string>& words, const std::string& run) {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--resume"))
      left.push_back(words[i]);
    else if (words[i] == "--resume" && !run.empty() && i + 1 < words.size() && words[i + 1] == run)
      ++i;
  }
  return left;
}

}  // namespace

void add_run_options(CLI::App& app, SweepRequest& request) {
  constexpr const char* group = "Running";
  app.add_option("-j,--jobs", request.run.jobs,
                 "Runs at once (default: as many as cores, or workers). Runs of a script share the workers")
      ->check(CLI::Range(1, 100000))
      ->type_name("N")
      ->group(group);
  app.add_option("--workers", request.script_options.workers,
                 "Threads that compute a script's points, all together (default: all cores)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N")
      ->group(group);
  app.add_flag("-k,--keep-going", request.run.keep_going,
               "Go on even if the first 10 runs all fail, which ends the sweep else")
      ->group(group);
  app.add_option("--max-fails", request.max_fails, "End the sweep when more have failed; P%: of those that have ended")
      ->type_name("N|P%")
      ->group(group);
  app.add_option("--retries", request.run.retries, "Run what fails up to N times more")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->group(group);
  app.add_option_function<std::string>(
         "--timeout", [&request](const std::string& text) { request.timeout_s = read_time("--timeout", text); },
         "End a run that takes longer, which counts as failed: seconds, or 90s, 5m, 2h")
      ->type_name("TIME")
      ->group(group);
  app.add_option_function<std::string>(
         "--time-limit",
         [&request](const std::string& text) { request.time_limit_s = read_time("--time-limit", text); },
         "After this time start no new runs, let those that run end, and end with exit code 75, to be resumed")
      ->type_name("TIME")
      ->group(group);
  app.add_flag("--yes", request.is_meant, "Run also more than 100,000,000 points")->group(group);
  app.add_flag("-n,--dry-run", request.dry_run, "Say how many would be run, and the first ones; run nothing")
      ->group(group);
  app.add_flag("--print-script", request.print_script, "Print a script that runs the same programs; run nothing")
      ->group(group);
  app.add_flag_callback(
         "--no-cache", [&request] { request.use_record = request.script_options.takes_kept_calls = false; },
         "Run all anew, also what the record has")
      ->group(group);
  app.add_option("--progress", request.progress, "auto (a bar on a terminal), plain, none")
      ->check(CLI::IsMember({"auto", "plain", "none"}))
      ->type_name("STYLE")
      ->group(group);
  add_profile_option(app, request.profile);
  add_loudness_options(app, request.script_options,
                       "A line on standard error for each point that ends, with its parameters, outcome and time; of "
                       "points that are computed together one for all of them",
                       group);
}

void add_result_options(CLI::App& app, SweepRequest& request) {
  constexpr const char* group = "Results";
  app.add_option(
         "--collect", request.collect,
         "Take results out of the standard output: json: (each member of the object, of objects in it as outer.inner; "
         "strings stay strings), csv: (of the last line "
         "each column of the head), regex:EXPRESSION (POSIX extended: what stands in parentheses). Columns have the "
         "names of the members, those in the head, and for an expression the word before `=` or `:` before the "
         "parentheses, as E in 'regex:E=(.*)', else `value`; two results of one name are an error. Or of a file that "
         "each run writes, not one that was there before: json:FILE, csv:FILE, "
         "regex(FILE):EXPRESSION, where points that run at once need files of different names (may be repeated; "
         "default: the last line). An empty text is no result, but for a string of JSON or of a script")
      ->type_name("WHAT")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("-o,--output", request.output,
                 "Write the table of parameters and results: .csv, .jsonl, .parquet; `-`: CSV to stdout. Numbers that "
                 "JSON has not, NaN and infinities, are null in .jsonl")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--json", request.as_json,
               "At the end, the run and its failures as JSON on standard output, with the number of its form in "
               "`schema`; a table is written only to the FILE of -o")
      ->group(group);
  app.add_option("--group-by", request.group_by, "A row for each value of these parameters")
      ->type_name("NAME,..")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_option(
         "--agg", request.aggregate,
         "What of each result stands in such a row: mean, std (of a sample: the divisor is n - 1; that of "
         "`std` in a script is n), n, min, max, sum. Infinities and NaN are numbers and counted: with a NaN all but "
         "n are nan. Texts are left out, which is told")
      ->type_name("NAME,..")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](const std::string& name) -> std::string {
            const std::vector<std::string> known = sweep::statistic_names();
            if (std::ranges::find(known, name) != known.end()) return {};
            const std::size_t colon = name.find(':');
            const std::string help = colon == std::string::npos
                                         ? ""
                                         : "; it is computed of each result: `--agg " + name.substr(colon + 1) + "`";
            return fmt::format("`{}` is none of {}{}", name, fmt::join(known, ", "), help);
          },
          ""))
      ->group(group);
}

void add_sweep_options(CLI::App& app, SweepRequest& request) {
  app.description(usage);
  app.formatter(std::make_shared<ScriptUsage>(
      "sweep [OPTIONS] SCRIPT.df\n       raddle sweep [OPTIONS] -- COMMAND [WORDS of the command]"));
  app.option_defaults()->take_last();
  app.footer(footer);
  app.allow_extras();
  add_space_options(app, request);
  add_run_options(app, request);
  add_result_options(app, request);
  add_script_options(app, request.script_options);
  app.add_option("--input", request.inputs,
                 "A file that is read though no word of the command or of a script's programs names it: if it has "
                 "changed, points are run again. {NAME} as in the command (may be repeated)")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Running");
  app.add_option("--resume", request.resume, "The command line of that run again, or of the latest: runs what is left")
      ->expected(0, 1)
      ->default_str("")
      ->type_name("[RUN]")
      ->group("Running");
}

namespace {

enum class With : std::uint8_t { words_only, settings };

std::expected<SweepRequest, int> read(const std::vector<std::string>& words, With with) {
  SweepRequest request;
  CLI::App app("", "raddle sweep");
  add_sweep_options(app, request);
  request.run.jobs = 0;  // not said
  if (const std::optional<int> code = parse(app, request, words)) return std::unexpected(*code);
  request.output_count = app.get_option("--output")->count();
  request.words = words;
  const auto command = std::ranges::find(request.words, "--");
  const auto is_of_this_time = [](const std::string& word) {
    return word == "--json" || word == "-q" || word == "--quiet" || word == "-v" || word == "--verbose";
  };
  request.words.erase(std::remove_if(request.words.begin(), command, is_of_this_time), command);
  if (!request.resume && with == With::settings) {
    const bool is_said = !request.use_record;
    if (const std::optional<int> code = apply_settings(app, "sweep", request.profile)) return std::unexpected(*code);
    // which results a run has is recorded with it, whoever has said so
    if (!request.use_record && !is_said) request.words.insert(std::ranges::find(request.words, "--"), "--no-cache");
  }
  const unsigned workers = request.script_options.workers;
  if (request.run.jobs == 0) request.run.jobs = workers != 0 ? workers : core_count();
  if (!request.resume) return request;

  if (!request.command.empty() || !request.script.empty() || !request.space.parameters.empty())
    return std::unexpected(usage_error("--resume takes parameters and script or command from the record", "sweep"));
  const std::expected<vm::RunRow, int> earlier = find_sweep(*request.resume);
  if (!earlier) return std::unexpected(earlier.error());
  std::vector<std::string> again = earlier->words();
  const std::vector<std::string> own = without_resume(words, *request.resume);
  again.insert(std::ranges::find(again, "--"), own.begin(), own.end());
  std::expected<SweepRequest, int> resumed = read(again, with);
  if (!resumed) return resumed;
  resumed->resumes = earlier->id;
  resumed->output_count = request.output_count;
  if (!request.use_record) return resumed;  // said with --resume
  resumed->kind = run_kind::resume;
  resumed->use_record = true;  // also of a run that was to take nothing: what it has done itself
  resumed->since = taken_since(*earlier);
  return resumed;
}

}  // namespace

std::expected<SweepRequest, int> read_sweep_request(const std::vector<std::string>& words) {
  return read(words, With::settings);
}

std::expected<SweepRequest, int> read_typed_sweep(const std::vector<std::string>& words) {
  std::expected<SweepRequest, int> request = read_sweep_request(words);
  if (request && request->output_count > 1) return std::unexpected(usage_error(one_output, "sweep"));
  return request;
}

std::string taken_since(const vm::RunRow& run) {
  std::optional<vm::RunRow> next = run;
  for (std::set<std::string> seen; next && seen.insert(next->id).second;) {
    if (next->kind == run_kind::rerun_all) return next->id;
    if (next->kind == run_kind::sweep)
      if (const auto request = read(next->words(), With::words_only); request && !request->use_record) return next->id;
    const std::vector<vm::RunRow> found = vm::RunRecord::open()->find(next->resumes);
    next = next->resumes.empty() || found.size() != 1 ? std::nullopt : std::optional(found.front());
  }
  return "";
}

}  // namespace raddle::tool
