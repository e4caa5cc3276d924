// `raddle man`: the manual page, in the form that man reads.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "compiler/tool/help/command_tree.hpp"
#include "compiler/tool/command/version.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/settings/setting_files.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"

namespace raddle::tool {

namespace {

struct Meaning {
  std::string_view name, meaning;
};

constexpr Meaning exit_codes[] = {
#define RADDLE_EXIT_CODE(name, code, meaning) {#code, meaning},
#include "compiler/tool/command/exit_codes.def"
};

constexpr Meaning counters[] = {
#define RADDLE_COUNTER(name, value, meaning) {name, meaning},
#include "compiler/tool/run/counters.def"
    {"points on device N, NAME", "of loops, and in how many batches: each is a launch, or a part of one"},
    {"calls on device N, NAME", "of AppKernels, and of functions that only compute"},
    {"points of the loop at PLACE, calls of `NAME`", "which of them, and how many by which device"},
    {"bytes to device N, NAME",
     "copied there, back from it, read there without a copy as they were there already; evictions: "
     "arrays that it has forgotten for want of room"},
    {"bytes on device N, NAME, at most", "of its memory that were taken at one time"},
    {"array `NAME` at PLACE, on devices",
     "of what was declared there: how often an array, or a part of one, was copied to a device, from the host or "
     "another device, back to the host, and forgotten there for want of room. What is too small to go by itself does "
     "not count"},
    {"array `NAME` at PLACE, in memory, by the MiB",
     "the same where --memory limits it, piece by piece: from the spill file, to it, and gone from memory; arrays "
     "without a name are those that no placed call has made or read"},
    {"bytes to device N, NAME, from other devices", "that have them, where a model's copy from each other"},
    {"bytes to device N, NAME, ahead of the calls that read them",
     "of all these: copied there while it computed other calls of AppKernels"},
    {"predicted by a model", "what GPUs would take that simulated:h200x4 stands for, and the run with them"},
    {"not on devices", "loops, AppKernels and calls that stayed on workers, and what is in the way"},
};

constexpr Meaning files[] = {
    {"raddle.toml, ~/.config/raddle/config.toml, /etc/raddle/config.toml", "settings, see there"},
    {".raddle/runs.db", "what was run in this folder: sweeps and their points"},
    {".raddle/memo.db, .raddle/memo", "results of @memo functions; may be removed at any time"},
    {"$XDG_CACHE_HOME/raddle/jit, ~/.cache/raddle/jit", "machine code of leaf functions; may be removed at any time"},
    {"$XDG_CACHE_HOME/raddle/cubins",
     "the same for GPUs, where CUDA_CACHE_PATH and CUDA_CACHE_DISABLE say nothing else"},
};

constexpr Meaning variables[] = {
    {"NO_COLOR, TERM=dumb", "no colours, as where TERM is not set"},
    {"SWIFT_TMP, TMP, TMPDIR", "where files without a name lie: the first that is set; else /tmp"},
    {"SWIFT_TMP_AUTODELETE=0", "they are not removed at the end"},
    {"RADDLE_<OPTION>, RADDLE_PROFILE", "settings, see there"},
    {"TURBINE_SRAND", "the seed of random numbers, where --seed does not give it"},
    {"TURBINE_APP_RETRIES_LOCAL, TURBINE_APP_RETRIES_REPUT", "how often an external program that fails is tried again"},
    {"TURBINE_APP_BACKOFF, TURBINE_APP_DELAY", "how long is waited before, in seconds"},
    {"TURBINE_APP_DEBUG", "tell each external program on standard error"},
};

/// Signs that roff reads as its own.
std::string roff(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (text[i] == '.' || text[i] == '\'')) escaped += "\\&";
    switch (text[i]) {
      case '\\': escaped += "\\e"; break;
      case '-': escaped += "\\-"; break;
      case '\'': escaped += "\\(aq"; break;
      case '`': escaped += "\\(ga"; break;
      case '^': escaped += "\\(ha"; break;
      case '~': escaped += "\\(ti"; break;
      default: escaped += text[i];
    }
  }
  return escaped;
}

/// Lines as they stand.
std::string as_it_is(std::string_view text) { return fmt::format(".nf\n{}\n.fi\n", roff(text)); }

std::string_view trimmed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \n");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

/// A description: paragraphs; examples, and what is indented, as they stand.
std::string paragraphs(std::string_view text) {
  std::string page;
  for (std::string_view rest = trimmed(text); !rest.empty();) {
    const std::size_t end = std::min(rest.find("\n\n"), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    const bool has_layout = part.find("\n  ") != std::string_view::npos || part.find("   ") != std::string_view::npos;
    page += has_layout ? ".PP\n" + as_it_is(part) : fmt::format(".PP\n{}\n", roff(part));
  }
  return page;
}

std::string option_entry(const OptionInfo& option) {
  std::string head;
  for (const std::string& name : option.names)
    head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", roff(name));
  if (!option.value.empty()) head += fmt::format(" \\fI{}\\fR", roff(option.value));
  return fmt::format(".TP\n{}\n{}\n", head, roff(option.about));
}

std::string usage(const CommandInfo& command) {
  std::string lines;
  for (const std::string& line : command.usage) lines += fmt::format(".B {}\n.br\n", roff(line));
  return lines;
}

std::string command_section(const CommandInfo& command, const std::string& path) {
  const std::string name = path + " " + command.name;
  std::string page = fmt::format(".SS {}\n{}{}", roff(name), usage(command), paragraphs(command.description));
  for (const OptionInfo& option : command.options)
    if (option.names.back() != "--help") page += option_entry(option);
  page += paragraphs(command.footer);
  for (const CommandInfo& inner : command.commands) page += command_section(inner, name);
  return page;
}

std::string sentence(std::string_view text) {
  std::string made = fmt::format("{}.", text);
  made[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(made[0])));
  return made;
}

template <std::size_t count>
std::string list(const char* title, const Meaning (&meanings)[count]) {
  std::string page = fmt::format(".SH {}\n", title);
  for (const Meaning& each : meanings)
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(each.name), roff(sentence(each.meaning)));
  return page;
}

constexpr const char* settings_text =
    R"(These options are settings: what the command line does not say of them is taken from the first of

  RADDLE_<OPTION> of the environment, as RADDLE_JOBS=4, RADDLE_KEEP_GOING=1
  the profile that --profile or RADDLE_PROFILE names: a table [profile.NAME] in the files
  raddle.toml of this folder, else of the nearest one above that has one
  $XDG_CONFIG_HOME/raddle/config.toml, else ~/.config/raddle/config.toml
  /etc/raddle/config.toml

The files are TOML. A key is an option's long name, at the top for all verbs that have it, or in a table for one:

  workers = 8
  include = ["lib"]      # beside this file; those of all files and of -I are looked in

  [sweep]
  jobs = 4
  progress = "plain"

  [profile.slurm.sweep]  # raddle sweep --profile slurm ..
  jobs = 64
  max-fails = "5%"

A raddle.toml that another user has put into a folder where everybody may write is passed over. raddle rerun goes by the
settings of sweep. --seed is no setting: it changes results, and nothing would tell of it. raddle doctor says what is read.)";

std::string settings_section() {
  std::string page = fmt::format(".SH SETTINGS\n{}.PP\n", paragraphs(settings_text));
  for (const Setting& setting : settings()) {
    std::vector<std::string> verbs = CLI::detail::split(std::string(setting.verbs), ' ');
    page += fmt::format("\\fB{}\\fR: {}\n.br\n", roff(fmt::format("--{}", setting.name)), fmt::join(verbs, ", "));
  }
  return page;
}

std::string manual(const CommandInfo& tree) {
  std::string page = fmt::format(".TH RADDLE 1 \"\" \"{}\" \"User Commands\"\n", version);
  page += ".SH NAME\nraddle \\- an implicitly parallel dataflow language\n.SH SYNOPSIS\n";
  for (const CommandInfo& command : tree.commands) page += usage(command);
  page += ".SH DESCRIPTION\n" + paragraphs(tree.description) + paragraphs(tree.footer) + ".SH COMMANDS\n";
  for (const CommandInfo& command : tree.commands) page += command_section(command, "raddle");
  page += settings_section();
  page += list("EXIT STATUS", exit_codes) + list("COUNTERS", counters) + list("ENVIRONMENT", variables) +
          list("FILES", files);
  return page;
}

}  // namespace

const Verb man_verb = {.name = "man",
                       .about = "The manual page, for man: man > raddle.1",
                       .run = [](const std::vector<std::string>& words) -> int {
                         CLI::App app("raddle man: the manual page\n\nexamples:\n  raddle man | man -l -\n",
                                      "raddle man");
                         if (const std::optional<int> code = parse_verb(app, words, "man")) return *code;
                         return write_output(manual(command_tree())) ? exit_ok : exit_failed;
                       },
                       .describe = [](CLI::App& app) { app.description("The manual page that this is a part of."); }};

}  // namespace raddle::tool
