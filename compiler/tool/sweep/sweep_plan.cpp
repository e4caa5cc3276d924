#include "compiler/tool/sweep/sweep_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "compiler/tool/sweep/where.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "compiler/tool/terminal/text_width.hpp"
#include "vm/value/file_place.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

namespace fs = std::filesystem;

sweep::OptionError bad_option(std::string option, const std::string& word, std::string message, std::string help = "") {
  return {std::move(option), word, {std::move(message), 0, word.size(), std::move(help)}};
}

using OptionResult = std::expected<void, sweep::OptionError>;

OptionResult read_shard(const std::string& word, sweep::CursorOptions& cursor) {
  if (word.empty()) return {};
  const std::size_t slash = word.find('/');
  const std::uint64_t shard = sweep::read_count(word.substr(0, slash)).value_or(0);
  const std::uint64_t count = slash == std::string::npos ? 0 : sweep::read_count(word.substr(slash + 1)).value_or(0);
  const std::string help = shard == 0 || count == 0 ? "--shard 3/20"
                                                    : fmt::format("of {} the last is {}/{}; --shard {}/{} is one of {}",
                                                                  count, count, count, count, shard, shard);
  if (shard == 0 || shard > count)
    return std::unexpected(bad_option("--shard", word, "a shard is i/n with i from 1 to n", help));
  cursor.shard = shard;
  cursor.shard_count = count;
  return {};
}

OptionResult read_limit(std::string word, std::optional<sweep::FailureLimit>& limit) {
  if (word.empty()) return {};
  const bool is_percent = word.ends_with('%');
  const auto number = sweep::read_number(std::string_view(word).substr(0, word.size() - (is_percent ? 1 : 0)));
  if (!number || *number < 0 || (is_percent && *number > 100))
    return std::unexpected(
        bad_option("--max-fails", word, "it is a number, or a percentage", "--max-fails 20, --max-fails 5%"));
  limit = sweep::FailureLimit{*number, is_percent};
  return {};
}

/// Why the table can not be grouped by this name.
sweep::OptionError no_group(const SweepPlan& plan, const std::string& name) {
  std::vector<std::string> names;
  for (const sweep::Parameter& each : plan.space.parameters()) names.push_back(each.name);
  if (plan.script)
    for (const FixedParameter& fixed : plan.script->fixed_parameters())
      if (fixed.name == name)
        return bad_option("--group-by", name, fmt::format("all points have one `{}`, its default", name),
                          fmt::format("-p {}=VALUES gives it others", name));
  const std::string nearest = nearest_name(name, names);
  return bad_option("--group-by", name, fmt::format("there is no parameter `{}`", name),
                    nearest.empty() ? "" : fmt::format("did you mean `{}`?", nearest));
}

OptionResult read_grouping(const SweepRequest& request, SweepPlan& plan) {
  const std::vector<sweep::Parameter>& parameters = plan.space.parameters();
  sweep::Grouping& grouping = plan.grouping;
  for (const std::string& name : request.group_by) {
    const auto found = std::ranges::find(parameters, name, &sweep::Parameter::name);
    if (found == parameters.end()) return std::unexpected(no_group(plan, name));
    grouping.parameters.push_back(static_cast<std::size_t>(found - parameters.begin()));
  }
  for (const std::string& name : request.aggregate) grouping.statistics.push_back(*sweep::statistic_named(name));
  if (!grouping.parameters.empty() && grouping.statistics.empty())
    grouping.statistics = {sweep::Statistic::mean, sweep::Statistic::std_, sweep::Statistic::n};
  return {};
}

OptionResult read_output(const std::string& path, sweep::TableForm& form) {
  if (path.empty() || path == "-") return {};
  if (const std::string fault = sweep::fault_of_output(path); !fault.empty())
    return std::unexpected(bad_option("-o", path, fault));
  if (path.ends_with(".csv")) return {};
  form = sweep::TableForm::json_lines;
  if (path.ends_with(".jsonl")) return {};
  form = sweep::TableForm::parquet;
  if (path.ends_with(".parquet")) return {};
  return std::unexpected(bad_option("-o", path, "a table is .csv, .jsonl or .parquet"));
}

/// Two points whose results are read from one file.
struct SharedFile {
  std::size_t collector = 0;  ///< of the second; an index
  std::string path;           ///< as the second has it
  std::uint64_t first = 0, second = 0;
};

/// file_place() of many files in few folders.
class FilePlaces {
 public:
  /// "": any number may write there
  std::string of(const std::string& path) {
    const fs::path name(path);
    struct stat status;
    const bool is_there = lstat(path.c_str(), &status) == 0;
    if (is_there && (!S_ISREG(status.st_mode) || status.st_nlink > 1)) return vm::file_place(path);
    const auto [folder, is_new] = folders_.try_emplace(name.parent_path().string());
    std::error_code failed;
    if (is_new) folder->second = fs::weakly_canonical(fs::absolute(name.parent_path() / ".", failed), failed);
    return (folder->second / name.filename()).lexically_normal().string();
  }

 private:
  std::unordered_map<std::string, fs::path> folders_;  // by how they are written
};

/// Points so far apart do not run at once.
constexpr std::size_t most_compared = 100'000;

/// The first two points with one file. Those of other shards count, too. @param collectors  indices
std::optional<SharedFile> find_shared_file(const SweepPlan& plan, const std::vector<std::size_t>& collectors) {
  std::unordered_map<std::string, std::uint64_t> numbers;
  FilePlaces places;
  sweep::CursorOptions all_shards = plan.cursor;
  all_shards.shard = all_shards.shard_count = 1;
  sweep::Cursor cursor(plan.space, all_shards);
  while (numbers.size() < most_compared) {
    const std::optional<std::uint64_t> number = cursor.next_number();
    if (!number) break;
    const sweep::Point point = plan.space.point(*number);
    for (const std::size_t index : collectors) {
      std::string path = plan.collectors[index].file_for(point, {});
      const std::string place = places.of(path);
      if (place.empty()) continue;
      const auto [known, is_new] = numbers.try_emplace(place, *number);
      if (!is_new && known->second != *number) return SharedFile{index, std::move(path), known->second, *number};
    }
  }
  return std::nullopt;
}

/// What a point's key is made of.
sweep::PointKeys keys_of(const sweep::Space& space, const ScriptSubject* script,
                         const sweep::CommandTemplate& command) {
  if (script != nullptr) return {script->work(), space.parameters(), script->uses_seed()};
  return {command.words(), space.parameters(), command.uses_run_seed()};
}

OptionResult read_options(const SweepRequest& request, SweepPlan& plan) {
  for (const std::string& word : request.collect) {
    auto collector = sweep::Collector::parse(word, plan.space.parameters());
    if (!collector) return std::unexpected(collector.error());
    if (plan.script && collector->needs_place())
      return std::unexpected(bad_option("--collect", word, "a script has no {run.dir}, no {%} and no formats"));
    plan.collectors.push_back(std::move(*collector));
    (plan.collect += word) += '\0';
  }
  plan.run = request.run;
  OptionResult result = read_shard(request.shard, plan.cursor);
  if (result) result = read_limit(request.max_fails, plan.run.max_fails);
  if (result) result = read_grouping(request, plan);
  if (result) result = read_output(request.output, plan.form);
  if (request.order == "random") plan.cursor.order_seed = request.space.seed;
  return result;
}

}  // namespace

int option_error(const sweep::OptionError& error) {
  const std::string lead = error.option.empty() ? "  " : fmt::format("  {} ", error.option);
  using terminal::text_width;
  const std::string_view word = error.word;
  const std::string_view before = word.substr(0, error.error.begin);
  const std::size_t marked = text_width(word.substr(before.size(), error.error.end - error.error.begin));
  vm::print_stderr("raddle: {}{}\n", error.option.empty() ? "" : error.option + ": ", error.error.message);
  if (!word.empty())
    vm::print_stderr("{}{}\n{}{}\n", lead, word, std::string(text_width(lead) + text_width(before), ' '),
                     std::string(std::max<std::size_t>(marked, 1), '^'));
  if (!error.error.help.empty()) vm::print_stderr("  = help: {}\n", error.error.help);
  return exit_usage;
}

SweepPlan::SweepPlan(sweep::Space space_of_points, std::unique_ptr<ScriptSubject> subject, sweep::CommandTemplate words)
    : space(std::move(space_of_points)),
      script(std::move(subject)),
      command(std::move(words)),
      keys(keys_of(space, script.get(), command)),
      known(space) {
  if (script) columns.emplace(space, keys, known);
}

sweep::ResultForm SweepPlan::result_form() const {
  // what a point of a block has printed, or read, is not known
  const bool has_blocks = script && collectors.empty() && !inputs->has_declared();
  return {.space = space,
          .known = known,
          .keys = keys,
          .collectors = collectors,
          .collect = collect,
          .assigned = script ? script->result_names() : std::vector<std::string>(),
          .texts = script ? script->names_of_strings() : std::vector<std::string>(),
          .columns = has_blocks ? script->columns() : std::vector<sweep::ResultColumn>(),
          .inputs = inputs.get(),
          .points = has_blocks ? &*columns : nullptr,
          .earlier_works = earlier_works};
}

std::optional<sweep::OptionError> fault_of_shared_file(const SweepRequest& request, const SweepPlan& plan) {
  const bool has_shards = plan.cursor.shard_count > 1;  // each has its own runs at a time, and numbers for {%}
  if (plan.run.jobs == 1 && !has_shards) return std::nullopt;
  std::vector<std::size_t> collectors;
  for (std::size_t i = 0; i < plan.collectors.size(); ++i)
    if (plan.collectors[i].reads_file() && (has_shards || !plan.collectors[i].is_by_slot())) collectors.push_back(i);
  const std::optional<SharedFile> shared = collectors.empty() ? std::nullopt : find_shared_file(plan, collectors);
  if (!shared) return std::nullopt;
  const auto& [collector, path, first, second] = *shared;
  return bad_option("--collect", request.collect[collector],
                    fmt::format("points {} and {} {}run at once, and would both write `{}`", first, second,
                                has_shards ? "of several shards may " : "", path),
                    fmt::format("a parameter in its name, as in out_{{{}}}.txt, makes one for each{}{}",
                                plan.space.parameters().front().name,
                                plan.script ? "" : ", and so does {run.dir}/ before it, in the command, too",
                                has_shards ? "" : "; or -j 1"));
}

/// `-p 'f=in/*.txt'`: no shell expands a value, and here nothing does: programs may take the pattern itself.
static void warn_of_patterns(const SweepPlan& plan) {
  constexpr std::uint64_t most_looked_at = 100;
  const std::vector<std::vector<std::string>> values = plan.space.all_values(most_looked_at);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const std::string& value : values[i]) {
      if (value.find_first_of("*?[") == std::string::npos) continue;
      glob_t found{};
      const bool has_files = glob(value.c_str(), GLOB_NOSORT, nullptr, &found) == 0;
      const std::string& name = plan.space.parameters()[i].name;
      if (has_files)
        warn(
            fmt::format("{0} = {1} is one value, not a point for each of the {2}: `(echo {0}; ls {1}) > files.csv` "
                        "writes a table of them, for `--from files.csv`",
                        name, value, sweep::counted(found.gl_pathc, "file")));
      globfree(&found);
    }
}

void warn_of_unused(const SweepRequest& request, const SweepPlan& plan) {
  if (request.script_options.is_quiet) return;
  warn_of_patterns(plan);
  constexpr std::uint64_t most_looked_at = 100'000;
  for (const sweep::Space::Repeated& each : plan.space.repeated(most_looked_at, plan.script == nullptr))
    warn(fmt::format("{} = {} is there {} times{}", fmt::join(each.names, ", "),
                     sweep::shortened(fmt::format("{}", fmt::join(each.values, ", "))), each.count,
                     each.are_spelled_alike || plan.script
                         ? ": these points are the same; --repeats N runs each point N times"
                         : ", spelled in different ways: for a command, these are different points"));
  if (plan.script == nullptr) {
    constexpr std::size_t most_told = 20;
    std::vector<std::string> unused = plan.command.unused(plan.space.parameters());
    if (plan.space.has_repeats())
      std::erase_if(unused, [](const auto& name) { return name == "rep" || name == "seed"; });
    for (std::size_t i = 0; i < std::min(unused.size(), most_told); ++i)
      warn(fmt::format("no word of the command names the parameter `{}`", unused[i]));
    if (unused.size() > most_told)
      warn(fmt::format("and {} more that no word names", sweep::with_commas(unused.size() - most_told)));
    return;
  }
  if (request.space.repeats > 1 && !plan.command.uses("rep") && !plan.command.uses("seed") &&
      !plan.command.uses_run_seed())
    warn(
        "the repeats of a point are all the same: the script draws no random numbers and has no parameter `rep` or "
        "`seed`");
}

std::expected<std::unique_ptr<SweepPlan>, int> make_plan(const SweepRequest& request) {
  auto space = sweep::Space::make(request.space);
  if (!space) return std::unexpected(option_error(space.error()));
  std::unique_ptr<ScriptSubject> script;
  std::vector<std::string> words = request.command;
  if (!request.script.empty()) {
    auto subject = ScriptSubject::make(request.script, request.script_options, *space, request.space);
    if (!subject) return std::unexpected(subject.error());
    script = std::move(*subject);
    space->read_values_as(script->read_as(*space));
    space->keep_as_texts(script->names_of_strings());
    words = script->command();
  }
  auto command = sweep::CommandTemplate::parse(words, space->parameters());
  if (!command) return std::unexpected(option_error(command.error()));
  auto inputs = sweep::InputFiles::parse(request.inputs, space->parameters());
  if (!inputs) return std::unexpected(option_error(inputs.error()));
  auto plan = std::make_unique<SweepPlan>(std::move(*space), std::move(script), std::move(*command));
  plan->inputs = std::make_unique<sweep::InputFiles>(std::move(*inputs));
  const OptionResult result = read_options(request, *plan);
  if (!result) return std::unexpected(option_error(result.error()));
  if (!request.where.empty()) {
    auto filter = make_filter(request.where, plan->space.parameters(),
                              plan->script ? plan->script->fixed_parameters() : std::vector<FixedParameter>());
    if (!filter) return std::unexpected(filter.error());
    plan->cursor.filter = std::move(*filter);
  }
  return plan;
}

}  // namespace raddle::tool
