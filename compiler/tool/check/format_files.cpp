// `raddle fmt`: scripts in the one style of compiler/format.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/formats/line_difference.hpp"
#include "compiler/tool/executable/load_modules.hpp"
#include "compiler/format/format.hpp"
#include "compiler/parse/lexemes.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/source/read_file.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "vm/value/file_beside.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

/// All or nothing: who reads the file sees the old text or the new one. @return 0, or an errno
int write_text(const std::string& target, std::string_view text) {
  if (const int fault = vm::fault_of_replacing(target); fault != 0) return fault;
  std::expected<vm::FileBeside, int> beside = vm::FileBeside::make(target, 0666);
  if (!beside) return beside.error();
  if (const int error = vm::write_all(beside->descriptor(), text); error != 0) return error;
  return fsync(beside->descriptor()) == 0 ? beside->place(target) : errno;
}

/// Texts of all lexemes in order; blanks within comments count nothing, as comments move.
std::string substance_of(std::string_view text) {
  std::string out;
  for (const Lexeme& lexeme : lexemes_of(text)) {
    for (const char c : text.substr(lexeme.begin, lexeme.end - lexeme.begin)) {
      const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
      const bool comment = lexeme.kind == LexemeKind::line_comment || lexeme.kind == LexemeKind::block_comment;
      if (!(comment && blank) && !(lexeme.kind == LexemeKind::hash_line && c == '\r')) out += c;
    }
    out += '\0';
  }
  return out;
}

/// What is done with the formatted text.
struct FormatOptions {
  bool check = false;      ///< name the files that would change, exit_failed if there are any; write nothing
  bool show_diff = false;  ///< print what would change; write nothing
  bool to_stdout = false;  ///< print the whole text; write nothing
  bool as_json = false;    ///< which files change
};

class Formatter {
 public:
  Formatter(const Options& reading, const FormatOptions& options) : reading_(reading), options_(options) {}

  /// @return the worst exit code so far
  int file(const std::string& path) {
    const bool from_stdin = path == "-";
    std::string text, error;
    if (from_stdin)
      text.assign(std::istreambuf_iterator<char>(std::cin), {});
    else if (!read_file(path, text, error))
      return fail(usage_error(fmt::format("can not read `{}`: {}", path, error)));
    const std::expected<std::string, int> formatted = format(from_stdin ? "<stdin>" : path, text);
    note(path, formatted ? (text == *formatted ? "false" : "true") : "null");
    if (!formatted) return fail(formatted.error());
    return hand_out(path, text, *formatted);
  }

  /// Of all files so far: each with whether it changes; null: it has errors.
  std::string json() const {
    return json_line(fmt::format("\"files\":[{}],\"exit_code\":{}", fmt::join(files_, ","), worst_));
  }

 private:
  void note(const std::string& path, std::string_view changes) {
    sweep::JsonObject json;
    json.add("file", sweep::json_string(path));
    json.add("changes", changes);
    files_.push_back(json.text());
  }

  int fail(int code) { return worst_ = std::max(worst_, code); }

  /// Says on stderr what stands in the way. Warnings are not this command's business.
  std::expected<std::string, int> format(const std::string& name, const std::string& text) const {
    Session session;
    session.options = reading_;
    session.colour = wants_colour(STDERR_FILENO);
    Diagnostics& diagnostics = session.diagnostics;
    const std::uint32_t file = session.sources.add(name, text);
    const std::optional<ExpandedText> expanded = preprocess_script(session, file);
    if (!diagnostics.has_errors())
      static_cast<void>(parse(file, session.sources, diagnostics, expanded ? &*expanded : nullptr));
    std::expected<std::string, format::Fault> result = std::unexpected(format::Fault{});
    if (!diagnostics.has_errors()) {
      result = format::format_script(text);
      if (!result)
        diagnostics.report(DiagnosticKind::not_supported, {file, result.error().begin, result.error().end},
                           result.error().message);
    }
    if (diagnostics.has_errors()) {
      session.print_diagnostics();
      return std::unexpected(exit_compile_error);
    }
    if (substance_of(text) != substance_of(*result)) {
      vm::print_stderr("raddle: internal error: formatting changes more than blanks in `{}`; it is left as it is\n",
                       name);
      return std::unexpected(exit_internal);
    }
    return std::move(*result);
  }

  int hand_out(const std::string& path, const std::string& text, const std::string& formatted) {
    const bool changes = text != formatted;
    if (options_.show_diff) fmt::print("{}", line_difference(path, text, formatted));
    if (options_.check && changes) {
      if (!options_.show_diff && !options_.as_json) fmt::print("{}\n", path);
      return fail(exit_failed);
    }
    if (options_.check || options_.show_diff) return worst_;
    if (options_.to_stdout || path == "-") {
      std::fwrite(formatted.data(), 1, formatted.size(), stdout);
      return worst_;
    }
    if (changes) replace(path, formatted);
    return worst_;
  }

  void replace(const std::string& path, const std::string& text) {
    std::error_code code;
    const std::filesystem::path target = std::filesystem::canonical(path, code);  // a link stays a link
    const int error = code ? code.value() : write_text(target.string(), text);
    if (error == 0) return;
    vm::print_stderr("raddle: can not write `{}`: {}\n", path, vm::error_text(error));
    fail(exit_failed);
  }

  const Options& reading_;
  const FormatOptions& options_;
  int worst_ = exit_ok;
  std::vector<std::string> files_;  ///< as JSON
};

/// @param paths  `-`: standard input to standard output
int format_files(const Options& reading, const std::vector<std::string>& paths, const FormatOptions& options) {
  if (options.as_json && (options.show_diff || options.to_stdout || std::ranges::count(paths, "-") != 0))
    return usage_error("--json: standard output is that of --diff, --stdout or `-`", "fmt");
  Formatter formatter(reading, options);
  int worst = exit_ok;
  for (const std::string& path : paths) worst = formatter.file(path);
  if (options.as_json && !write_output(formatter.json())) return exit_failed;
  return worst;
}

struct FormatWords {
  Options reading;
  FormatOptions format;
  std::vector<std::string> files;
};

constexpr const char* about_fmt = "Format scripts: one style, no options of style";

void add_fmt_options(CLI::App& app, FormatWords& words) {
  app.description(about_fmt);
  app.add_flag("--check", words.format.check, "Name the files that are not formatted, exit 1 if any; write nothing");
  app.add_flag("--diff", words.format.show_diff, "Show what would change; write nothing");
  app.add_flag("--json", words.format.as_json,
               "Which files change, or would with --check, as JSON on standard output, one line with the number of "
               "its form in `schema`");
  app.add_flag("--stdout", words.format.to_stdout, "Print the formatted text; write nothing");
  add_reading_options(app, words.reading);
  app.add_option("FILE", words.files, "Scripts, rewritten in place; `-`: standard input to standard output")
      ->type_name("")
      ->required();
}

int format_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle fmt");
  FormatWords read;
  add_fmt_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "fmt")) return *code;
  return format_files(read.reading, read.files, read.format);
}

}  // namespace

const Verb fmt_verb = {.name = "fmt",
                       .about = about_fmt,
                       .takes_options_before = true,
                       .run = format_command,
                       .describe = [](CLI::App& app) { describe_with(app, add_fmt_options); }};

}  // namespace raddle::tool
