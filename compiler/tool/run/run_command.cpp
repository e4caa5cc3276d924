#include "compiler/tool/run/run_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/opt/pipeline.hpp"
#include "compiler/tool/command/script.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "compiler/tool/run/emit_script.hpp"
#include "compiler/tool/run/run_script.hpp"
#include "compiler/tool/settings/settings.hpp"
#include "gpu/open_devices.hpp"
#include "vm/place/policy.hpp"

namespace raddle::tool {

namespace {

/// What completions offer.
std::vector<std::string> gpu_choices() {
  std::vector<std::string> all = {"all",  "all:whole", "all:resident",   "all:whole:resident",
                                  "none", "simulated", "simulated:whole"};
  for (const std::string& model : gpu::model_names()) all.push_back("simulated:" + model);
  return all;
}

std::string fault_of_gpus(const std::string& text) {
  const std::optional<std::string> fault = gpu::fault_of_devices(text);
  if (!fault) return "";
  if (!fault->empty()) return fmt::format("`{}`: {}", text, *fault);
  return fmt::format(
      "`{}` is none of {}, and no number of GPUs from 1 to {} (with :memory=512M, :patience=60 or the like behind it; "
      "h200x4: four such GPUs)",
      text, fmt::join(gpu_choices(), ", "), gpu::most_gpus);
}

}  // namespace

void add_gpus_option(CLI::App& app, std::string& gpus, const std::string& group) {
  app.add_option(
         "--gpus", gpus,
         "GPUs that compute points of long loops over numbers beside the workers: all (default), none, how many; "
         "or simulated, one of threads; all:whole, simulated:whole: they get each such loop whole; "
         "all:resident, all:whole:resident: a kernel stays on each GPU that all points go to (experimental). With "
         ":memory=512M, say, behind it no more of a GPU's memory is used; with :patience=60, say, a GPU that has not "
         "answered for 60 s is started anew (default: 120, and sooner where it is known what it does). "
         "simulated:h200x4, say: the threads stand for 4 such GPUs "
         "(h100, h200), which get each such loop whole; `raddle run --stats` tells what these would take by a model, "
         "with :link=shared behind it if their copies share one bus, with :peers=nvlink if they copy from each other, "
         "with :ahead=0 if nothing is copied to them ahead "
         "of "
         "the calls that read it. "
         "Where there are fewer GPUs than "
         "are asked for, that is said, and the run goes on")
      ->check(CLI::Validator(fault_of_gpus, fmt::format("{{{}}}", fmt::join(gpu_choices(), ","))))
      ->type_name("WHICH")
      ->group(group);
}

void add_memory_options(CLI::App& app, Options& options, const std::string& group) {
  app.add_option_function<std::string>(
         "--memory", [&options](const std::string& text) { options.memory_bytes = read_bytes("--memory", text); },
         "Memory for the numbers of arrays: what does not fit goes to a file and comes back. 500M, 2G (default: no "
         "limit)")
      ->type_name("SIZE")
      ->group(group);
  app.add_option("--spill", options.spill_folder,
                 "Folder of that file, on a fast disk (default: that of temporary files)")
      ->type_name("FOLDER")
      ->group(group);
  std::vector<std::string> policies;
  for (const vm::PolicyName& policy : vm::policy_names()) policies.emplace_back(policy.name);
  app.add_option(
         "--place", options.place,
         fmt::format("Which of the calls that read large arrays is next, and what goes for it: with --memory of those "
                     "that workers make, with --gpus of calls of AppKernels, on which GPU: {} (default: {})",
                     fmt::join(policies, ", "), options.place))
      ->check(CLI::IsMember(policies))
      ->type_name("POLICY")
      ->group(group);
}

void add_machine_options(CLI::App& app, Options& options) {
  app.add_option("-r", options.package_folders,
                 "Folder with packages of functions in Tcl, also in folders in it (may be repeated). Programs that "
                 "Tcl code starts by `exec` end by themselves")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  app.add_option("-j,--workers", options.workers, "Worker threads (default: all cores)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  app.add_option("--processes", options.process_limit, "External programs at once (default: the number of workers)")
      ->check(CLI::Range(1, 100000))
      ->type_name("N");
  app.add_option(
         "--call-memory", options.call_memory_mib,
         "Memory that open calls and what waits in them may take, in MiB (default: half of what there is, and no more "
         "than 5,000,000 calls inside each other)")
      ->check(CLI::Range(1, 1 << 30))
      ->type_name("N");
  add_memory_options(app, options);
  add_gpus_option(app, options.gpus);
  app.add_option("--seed", options.seed, "Seed of random numbers (default 0)")
      ->check(is_whole_from(0))
      ->envname("TURBINE_SRAND")
      ->type_name("N");
  app.add_flag("--disable-asserts", options.disable_asserts, "Assertions always hold");
  app.add_flag("--interpret", options.interpret_only, "Do not compile leaf functions to machine code");
  app.add_flag_callback(
      "--no-jit-cache", [&options] { options.jit_cache = false; },
      "Compile leaf functions anew: take none from $XDG_CACHE_HOME/raddle, keep none there");
}

void add_run_options(CLI::App& app, RunWords& words) {
  Options& options = words.options;
  app.prefix_command();
  add_reading_options(app, options);
  add_profile_option(app, options.profile);
  add_compile_options(app, options);
  app.add_option("-e", words.code, "Run this text instead of a file")->type_name("CODE");
  add_machine_options(app, options);
  app.add_flag_callback(
         "--check-kernels", [&options] { options.checks_kernels = true, options.gpus = "none"; },
         "Make each call of an AppKernel by hand by 32 threads, too, as the lanes of a GPU's warp are, in two orders, "
         "and look at each index: a call fails whose lanes do something else than one lane does. No GPU is used")
      ->excludes("--gpus");
  app.add_flag_callback(
      "--no-cache", [&options] { options.takes_kept_calls = false; },
      "Run all calls of @memo functions anew: take nothing from the record of earlier runs");
  app.add_flag_callback(
      "--no-record", [&options] { options.records_tasks = false; },
      "Keep no record of the programs and calls of @memo functions of this run in ./.raddle");
  app.add_flag("-k,--keep-going", options.keep_going, "After a failure go on with all that does not depend on it");
  app.add_option_function<std::string>(
         "--timeout", [&options](const std::string& text) { options.timeout_s = read_time("--timeout", text); },
         "End the run when it takes longer, with exit code 124: seconds, or 90s, 5m, 2h")
      ->type_name("TIME");
  add_loudness_options(app, options,
                       "Tell each external program on standard error: as it starts, after `+` as it could be typed; as "
                       "it ends, after `-`, with its exit code and time");
  app.add_flag("--results", options.show_results, "Print the values marked @result at the end");
  app.add_flag(
      "--stats", options.statistics,
      "Print counters to stderr at the end, what devices have done, and the loops that can be no machine code as a "
      "whole, or stay on workers; COUNTERS of `raddle man` says what they mean");
  app.add_option("--trace", options.trace, "Write when each task ran, for https://ui.perfetto.dev")->type_name("FILE");
  app.add_option("--emit", options.emit,
                 fmt::format("Print a stage instead of running: {}", fmt::join(stage_names(), ", ")))
      ->check(CLI::IsMember(stage_names()))
      ->type_name("STAGE");
  app.add_flag("--json", options.as_json,
               "At the end, one line of JSON on standard output: exit code, results, findings, and what the script and "
               "its programs have printed there, in `output`: the last 16 MiB, if it is more with its size in "
               "`output_bytes`; the number of its form in `schema`")
      ->excludes("--emit");
  const auto passes = opt::pass_names();
  const std::set<std::string> pass_names(passes.begin(), passes.end());
  constexpr const char* debugging = "For debugging and tests";
  app.add_option("--print-after", options.print_after, "Print the IR to stderr after this optimisation pass")
      ->group(debugging)
      ->check(CLI::IsMember(pass_names))
      ->type_name("PASS");
  app.add_option("--disable-pass", options.disabled_passes, "Leave this optimisation pass out (may be repeated)")
      ->group(debugging)
      ->allow_extra_args(false)
      ->check(CLI::IsMember(pass_names))
      ->type_name("PASS");
  app.add_option("--fuse", options.fusion,
                 "Operations on whole arrays: off, those of an expression are a launch; tasks, launches over the same "
                 "points, of which one reads what the other one writes, are one, and all arrays are made; kernels "
                 "(default), what only they read is not made")
      ->group(debugging)
      ->check(CLI::IsMember({"off", "tasks", "kernels"}))
      ->type_name("WHICH");
  app.add_flag("--verify-each", options.verify_each, "Check the IR after every optimisation pass")->group(debugging);
  app.add_option(
         "--scheduler-seed", options.scheduler_seed,
         "Take the decisions that the language leaves open by chance: the order of tasks, what is queued or run "
         "at once, who is woken first (0: off)")
      ->check(is_whole_from(0))
      ->group(debugging)
      ->type_name("N");
  app.add_option("--inlining", options.inlining,
                 "Calls whose inputs are set run on their caller's stack while all workers have work: adaptive "
                 "(default); or each call that can be a task is one: never")
      ->group(debugging)
      ->check(CLI::IsMember({"adaptive", "never"}))
      ->type_name("WHEN");
  app.add_option(
         "--scheduler", options.scheduler,
         "Where ready tasks lie: stealing (default), a deque for each worker that idle ones steal from; tree, a "
         "tree of queues that mirrors the machine; tree-fifo, the same, oldest first")
      ->group(debugging)
      ->check(CLI::IsMember({"stealing", "tree", "tree-fifo"}))
      ->type_name("WHICH");
  app.add_option("--leaf-threshold", options.leaf_threshold,
                 "Calls of a leaf function without loops before it is compiled (default 1000; 0: calls wait for it)")
      ->check(is_whole_from(0))
      ->group(debugging)
      ->type_name("N");
}

namespace {

/// `run -p n=3 FILE`: as a parameter is given to `raddle sweep`.
bool mistakes_p(const RunWords& read, const std::vector<std::string>& rest) {
  if (read.options.preprocess || !read.code.empty() || rest.empty()) return false;
  const std::string& word = rest.front();
  std::error_code code;
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && sweep::is_name(std::string_view(word).substr(0, equals)) &&
         !std::filesystem::exists(word, code);
}

/// "; did you mean `raddle check`?" of a word that is nearly a verb
std::string verb_hint(const std::string& word) {
  std::vector<std::string> names;
  for (const Verb* verb : verbs()) names.emplace_back(verb->name);
  const std::string nearest = nearest_name(word, names);
  return nearest.empty() ? "" : fmt::format("; did you mean `raddle {}`?", nearest);
}

/// `run --days=5 FILE`. @param rest  begins with an option that is not raddle's
std::string hint_of_parameter(const std::vector<std::string>& rest) {
  const std::string& option = rest.front();
  if (!option.starts_with("--")) return "";
  const bool has_value = option.find('=') != std::string::npos;
  const auto script = std::ranges::find_if(rest, [](const std::string& word) { return word.ends_with(".df"); });
  return fmt::format("; a parameter of the script stands behind it: `raddle run {} {}{}`",
                     script == rest.end() ? "FILE" : *script, option, has_value ? "" : "=VALUE");
}

/// `--workers`, `-j`, ...
std::vector<std::string> option_names() {
  CLI::App app;
  RunWords words;
  add_run_options(app, words);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  std::erase(names, "--help");
  return names;
}

/// Takes the script's name out of `rest`.
std::expected<Script, int> take_script(const RunWords& read, std::vector<std::string>& rest, const std::string& verb) {
  if (!read.code.empty()) return typed_script(read.code);
  if (rest.empty()) return std::unexpected(usage_error("no script given", verb));
  const std::string path = rest.front();
  rest.erase(rest.begin());
  return read_script(path, verb, verb.empty() ? verb_hint(path) : "");
}

}  // namespace

int run_named_script(CLI::App& app, const RunWords& read, const std::vector<std::string>& words,
                     std::vector<std::string> rest, const std::string& verb) {
  if (!rest.empty() && read.code.empty() && rest.front().size() > 1 && rest.front().starts_with('-'))
    return unknown_option(app, rest.front(), verb, hint_of_parameter(rest));
  if (mistakes_p(read, rest))
    return usage_error(
        fmt::format("`-p {0}`: -p of `raddle run` is for no preprocessor; a parameter is set behind the script: "
                    "`raddle run {1} --{0}`",
                    rest.front(), rest.size() > 1 ? rest[1] : "FILE"),
        "run");
  if (const std::optional<int> code = apply_settings(app, "run", read.options.profile)) return *code;
  Session session;
  session.options = read.options;
  session.words = words;
  session.option_names = option_names();
  session.colour = wants_colour(STDERR_FILENO);
  warn_of_missing_folders(session.options);
  std::expected<Script, int> script = take_script(read, rest, verb);
  if (!script) return script.error();
  if (!session.options.emit.empty()) return emit_script(session, std::move(*script));
  return run_script(session, std::move(*script), std::move(rest));
}

namespace {

constexpr const char* usage = "run [OPTIONS] FILE [ARGUMENTS of the script]";
constexpr const char* about_run = "Compile and run a script: run [OPTIONS] FILE [ARGUMENTS of the script]";

void add_run_words(CLI::App& app, RunWords& words) {
  app.description(about_run);
  app.formatter(std::make_shared<ScriptUsage>(usage));
  add_run_options(app, words);
}

int run_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle run");
  RunWords read;
  add_run_words(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "run")) return *code;
  return run_named_script(app, read, words, app.remaining(), "run");
}

}  // namespace

const Verb run_verb = {
    .name = "run", .about = about_run, .takes_options_before = true, .run = run_command, .describe = [](CLI::App& app) {
      describe_with(app, add_run_words);
    }};

}  // namespace raddle::tool
