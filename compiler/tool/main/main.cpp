// The `raddle` tool: reads the command line and calls one command.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>

#include "compiler/tool/main/command_line.hpp"
#include "compiler/tool/main/command_tree.hpp"
#include "compiler/tool/main/commands.hpp"
#include "compiler/tool/main/out_of_memory.hpp"
#include "compiler/tool/settings/settings.hpp"
#include "compiler/tool/main/stack_room.hpp"
#include "compiler/tool/main/usage.hpp"
#include "compiler/tool/main/verbs.hpp"
#include "compiler/source/read_file.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "vm/value/standard_error.hpp"
#include "vm/value/temporaries.hpp"

namespace raddle::tool {
namespace {

/// `run -p n=3 FILE`: as a parameter is given to `raddle sweep`.
bool mistakes_p(const CommandLine& line, const Options& options) {
  if (options.preprocess || !line.code.empty() || line.rest.empty()) return false;
  const std::string& word = line.rest.front();
  std::error_code code;
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && sweep::is_name(std::string_view(word).substr(0, equals)) &&
         !std::filesystem::exists(word, code);
}

/// The script that the command line names. @return an exit code if there is none
int find_script(const CommandLine& line, const std::vector<std::string>& verbs, Script& script,
                std::vector<std::string>& arguments) {
  arguments = line.rest;
  if (!line.code.empty()) {
    script = {"<command line>", line.code};
    return exit_ok;
  }
  if (arguments.empty()) return usage_error("no script given");
  const std::string path = arguments.front();
  arguments.erase(arguments.begin());
  if (path == "-") {
    script = {"<stdin>", std::string(std::istreambuf_iterator<char>(std::cin), {})};
    return exit_ok;
  }
  if (path.starts_with("-")) return usage_error(fmt::format("unknown option `{}`", path));
  std::string text, error;
  if (!read_file(path, text, error)) {
    const std::string verb = line.verb_given ? "" : nearest_name(path, verbs);
    return usage_error(fmt::format("can not read `{}`: {}{}", path, error,
                                   verb.empty() ? "" : fmt::format("; did you mean `raddle {}`?", verb)));
  }
  script = {path, std::move(text)};
  return exit_ok;
}

/// Each script by itself. @return the worst exit code
int check_scripts(Session& session, CommandLine line, Script first) {
  std::vector<std::string>& rest = line.rest;  // the others
  if (line.code.empty()) rest.erase(rest.begin());
  if (!line.code.empty() && !rest.empty())
    return usage_error(fmt::format("check -e takes no script; found `{}`", rest.front()));
  for (const std::string& path : rest)
    if (path.starts_with("-")) return usage_error(fmt::format("options of check stand before the scripts: `{}`", path));
  int code = check_script(session, std::move(first), line.as_json);
  while (!rest.empty()) {
    Session own;
    own.options = session.options;
    own.colour = session.colour;
    Script script;
    std::vector<std::string> others;
    if (const int problem = find_script(line, {}, script, others); problem != exit_ok) return problem;
    code = std::max(code, check_script(own, std::move(script), line.as_json));
    rest = std::move(others);
  }
  return code;
}

void warn_of_missing_folders(const Options& options) {
  if (options.is_quiet) return;
  for (const std::string& folder : options.include_folders) {
    std::error_code code;
    if (!std::filesystem::is_directory(folder, code))
      warn(fmt::format("there is no folder `{}` to look for imports in", folder));
  }
}

/// @param verb  may have been left out
std::optional<int> take_settings(CommandLineReader& reader, CLI::App& verb, const Session& session) {
  CLI::App* const apps[] = {&reader.app, &verb};  // options may stand before the verb, too
  return apply_settings(apps, verb.get_name(), session.options.profile);
}

/// "raddle 0.1.0": "0.1.0"
std::string_view number_of(std::string_view name) { return name.substr(name.find(' ') + 1); }

int run_tool(int argc, char** argv);

/// `raddle help sweep` is `raddle sweep --help`.
int print_help(char* tool, std::vector<std::string> verbs) {
  const CommandInfo tree = command_tree();
  const CommandInfo* command = &tree;
  for (const std::string& verb : verbs) {
    const auto found = std::ranges::find(command->commands, verb, &CommandInfo::name);
    if (found == command->commands.end()) {
      std::vector<std::string> names;
      for (const CommandInfo& known : command->commands) names.push_back(known.name);
      const std::string nearest = nearest_name(verb, names);
      return usage_error(fmt::format("no verb is named `{}`{}", verb,
                                     nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest)));
    }
    command = &*found;
  }
  verbs.emplace_back("--help");
  std::vector<char*> words = {tool};
  for (std::string& word : verbs) words.push_back(word.data());
  return run_tool(static_cast<int>(words.size()), words.data());
}

int run_tool(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.size() > 1 && words.front() == "help") return print_help(*argv, {words.begin() + 1, words.end()});
  if (!words.empty())
    if (const Verb* verb = find_verb(words.front())) return verb->run({words.begin() + 1, words.end()});
  Session session;
  session.words = words;
  session.colour = wants_colour(STDERR_FILENO);
  CommandLineReader reader(session);
  CommandLine& line = reader.line;
  CLI::App& app = reader.app;
  const std::string overview = app.help();  // later it is that of the verb that was given

  // a script's arguments are its own, `--help` and `--version` among them: the tool reads up to the script's name only
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return write_output(app.help()) ? exit_ok : exit_failed;
    return usage_error(error.what());
  }
  if (const std::vector<CLI::App*> verbs = app.get_subcommands(); !verbs.empty()) {
    for (const std::string& word : app.remaining())  // what stands before the verb
      if (word.starts_with("-")) return unknown_option(app, word);
    const std::string name = verbs.front()->get_name();
    if (find_verb(name) != nullptr)  // reads its words itself, but only if it is the first one
      return usage_error(fmt::format("options of `raddle {}` stand behind `{}`; found `{}`", name, name, words.front()),
                         name);
  }
  if (line.show_version || *reader.show_version)
    return write_output(line.as_json ? json_line(fmt::format("\"version\":\"{}\"", number_of(version)))
                                     : fmt::format("{}\n", version))
               ? exit_ok
               : exit_failed;
  if (*reader.help) return write_output(overview) ? exit_ok : exit_failed;
  for (const CLI::App* tool : {reader.explanation, reader.documentation, reader.format, reader.repl})
    if (*tool && !tool->remaining().empty()) return unknown_option(*tool, tool->remaining().front());
  if (*reader.explanation) return explain(line.codes, line.as_json);
  if (*reader.documentation) return document(line.names, line.as_json);
  if (*reader.format) return format_files(session, line.files, line.format);
  CLI::App& used = *reader.run ? *reader.run : *reader.check ? *reader.check : app;
  line.rest = used.remaining();
  const bool has_script =
      *reader.run || *reader.check || !line.rest.empty() || !line.code.empty() || !session.options.emit.empty();
  if (*reader.repl || !has_script) {
    if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0) {
      if (!can_redraw(STDOUT_FILENO))
        return usage_error(
            "an interactive session draws lines anew, which a terminal with TERM=dumb can not; `raddle FILE`, `raddle "
            "-e "
            "CODE` and `raddle < FILE` need no such",
            "repl");
      if (const std::optional<int> code = take_settings(reader, *reader.repl, session)) return *code;
      return run_repl(session, line.script_to_load);
    }
    if (*reader.repl || isatty(STDIN_FILENO) == 0) {  // from a pipe: a script
      line.rest = {"-"};
      session.words = line.rest;
    }
  }
  if (!line.rest.empty() && line.code.empty() && line.rest.front().size() > 1 && line.rest.front().starts_with("-"))
    return unknown_option(used, line.rest.front());
  if (argc <= 1 && line.rest.empty()) {
    fmt::print("{}", app.help());
    return exit_usage;
  }

  line.verb_given = *reader.run || *reader.check;
  if (*reader.run) session.words.erase(std::ranges::find(session.words, "run"));
  session.option_names = reader.run_option_names();
  Script script;
  std::vector<std::string> arguments;
  if (!*reader.check && mistakes_p(line, session.options))
    return usage_error(
        fmt::format("`-p {0}`: -p of `raddle run` is for no preprocessor; a parameter is set behind the script: "
                    "`raddle run {1} --{0}`",
                    line.rest.front(), line.rest.size() > 1 ? line.rest[1] : "FILE"),
        "run");
  if (const std::optional<int> code = take_settings(reader, *reader.check ? *reader.check : *reader.run, session))
    return *code;
  warn_of_missing_folders(session.options);
  if (const int code = find_script(line, reader.verb_names(), script, arguments); code != exit_ok) return code;
  if (*reader.check) return check_scripts(session, line, std::move(script));
  if (!session.options.emit.empty()) return emit_script(session, std::move(script));
  return run_script(session, std::move(script), std::move(arguments));
}

}  // namespace

}  // namespace raddle::tool

namespace {

/// @return whether it was a thread that could not be started
bool tell_of_threads(const std::system_error& error) {
  if (error.code() != std::errc::resource_unavailable_try_again) return false;
  raddle::vm::print_stderr("raddle: no thread could be started: the system allows no more (ulimit -u)\n");
  return true;
}

/// An exception that no thread catches: memory, or a fault of ours.
[[noreturn]] void end_by_exception() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    raddle::tool::end_out_of_memory();
  } catch (const std::exception& error) {
    raddle::vm::print_stderr("raddle: internal error: {}\n", error.what());
  }
  _exit(raddle::tool::exit_internal);
}

/// A standard stream that is closed is not to be the next file that is opened: as it is, standard input is empty,
/// standard output can not be written, and what goes to standard error is lost.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)  // the next file gets its number
      static_cast<void>(!open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  raddle::tool::end_where_memory_ends();
  std::set_terminate(end_by_exception);
  try {
    const int code = raddle::tool::with_stack_room([&] { return raddle::tool::run_tool(argc, argv); });
    raddle::vm::remove_temporaries();
    if (code == raddle::tool::exit_broken_pipe) return code;  // it is clear why nothing can be written
    const bool written = raddle::tool::write_output("");
    return code == raddle::tool::exit_ok && !written ? raddle::tool::exit_failed : code;
  } catch (const std::bad_alloc&) {
    raddle::tool::end_out_of_memory();
  } catch (const std::exception& error) {
    const auto* of_system = dynamic_cast<const std::system_error*>(&error);
    if (of_system != nullptr && tell_of_threads(*of_system)) return raddle::tool::exit_failed;
    if (std::ferror(stdout) != 0 && !raddle::tool::write_output("")) return raddle::tool::exit_failed;
    raddle::vm::print_stderr("raddle: internal error: {}\nplease report it with the script that shows it\n",
                             error.what());
    return raddle::tool::exit_internal;
  }
}
