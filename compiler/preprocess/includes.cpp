// `#include`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/preprocess/directives.hpp"
#include "compiler/source/read_file.hpp"

namespace raddle::preprocessor {

namespace {

constexpr std::size_t deepest_include = 100;
constexpr std::size_t most_files = 10'000;
constexpr std::size_t most_included_bytes = std::size_t{64} << 20;

}  // namespace

void Reader::include(const Line& line) {
  std::string text;
  std::vector<Token> words = line.tokens;
  if (!words.empty() && words[0].kind == TokenKind::name) words = expander_.expand(words);  // `#include NAME`
  for (const Token& word : words) text += word.text;
  const bool quoted = text.size() > 2 && text.front() == '"' && text.back() == '"';
  const bool angled = text.size() > 2 && text.front() == '<' && text.back() == '>';
  if (!quoted && !angled) {
    fail(line.span(), "expected a file name in quotes after `#include`").note("write `#include \"file.swift\"`");
    return;
  }
  const std::string name = text.substr(1, text.size() - 2);
  const std::optional<std::string> path = find_include(name, quoted);
  if (path) return open_include(line, *path);
  constexpr std::string_view suffix = ".swift";
  if (angled && name.ends_with(suffix)) {  // a module
    const std::string module = name.substr(0, name.size() - suffix.size());
    return read(sources_.add(text, fmt::format("import \"{}\";\n", module), line.at));
  }
  std::string searched;
  const std::string parent = std::filesystem::path(open_files_.back()).parent_path();
  if (quoted && !parent.empty()) searched += parent + ", ";
  for (const std::string& folder : options_.include_folders) searched += folder + ", ";
  diagnostics_.report(DiagnosticKind::missing_include, line.span(), "find", name, "")
      .note(fmt::format("looked in {}the current folder", searched));
}

std::optional<std::string> Reader::find_include(const std::string& name, bool quoted) const {
  namespace fs = std::filesystem;
  std::error_code code;
  if (fs::path(name).is_absolute()) return fs::is_regular_file(name, code) ? std::optional(name) : std::nullopt;
  std::vector<std::string> folders;
  if (quoted) folders.push_back(fs::path(open_files_.back()).parent_path());
  folders.insert(folders.end(), options_.include_folders.begin(), options_.include_folders.end());
  folders.emplace_back();
  for (const std::string& folder : folders) {
    const std::string path = folder.empty() ? name : (fs::path(folder) / name).string();
    if (fs::is_regular_file(path, code)) return path;
  }
  return std::nullopt;
}

void Reader::open_include(const Line& line, const std::string& path) {
  if (read_once_.contains(path)) return;
  if (open_files_.size() > deepest_include) {
    diagnostics_.report(DiagnosticKind::endless_include, line.span(), path)
        .note("`#pragma once` at its beginning makes it be read once only");
    throw TooMuchExpansion{};
  }
  std::string text, error;
  if (!read_file(path, text, error)) {
    diagnostics_.report(DiagnosticKind::missing_include, line.span(), "read", path, ": " + error);
    return;
  }
  included_bytes_ += text.size();
  if (++included_files_ > most_files || included_bytes_ > most_included_bytes) {
    const bool by_count = included_files_ > most_files;
    diagnostics_
        .report(DiagnosticKind::too_much_included, line.span(),
                by_count ? fmt::format("{} files", most_files) : fmt::format("{} MiB", most_included_bytes >> 20), path)
        .note("`#pragma once` at the beginning of a file makes it be read once only");
    throw TooMuchExpansion{};
  }
  read(sources_.add(path, std::move(text), line.at));
}

}  // namespace raddle::preprocessor
