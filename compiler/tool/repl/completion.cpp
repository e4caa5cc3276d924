#include "compiler/tool/repl/completion.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "compiler/tool/executable/library_pages.hpp"
#include "compiler/tool/repl/highlight.hpp"
#include "stdlib/builtins.hpp"
#include "vm/value/structure.hpp"

namespace raddle::tool::repl {

namespace {

using terminal::Completions;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Candidates that begin as `start`.
class Candidates {
 public:
  explicit Candidates(std::string_view start) : start_(start) {}
  void add(std::string_view text) {
    if (text.starts_with(start_)) all_.emplace(text);
  }
  std::vector<std::string> take() const { return {all_.begin(), all_.end()}; }

 private:
  std::string_view start_;
  std::set<std::string> all_;
};

std::vector<std::string> files_like(std::string_view path) {
  namespace fs = std::filesystem;
  const std::size_t slash = path.rfind('/');
  const std::string folder(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
  Candidates found(path);
  std::error_code code;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, code), end; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') && path.size() == folder.size()) continue;
    found.add(folder + name + (at->is_directory(code) ? "/" : ""));
  }
  return found.take();
}

std::vector<std::string> modules_like(std::string_view start) {
  Candidates found(start);
  for (const stdlib::Builtin& builtin : stdlib::builtins()) found.add(builtin.module);
  return found.take();
}

std::vector<std::string> fields_like(const LiveSession& session, std::string_view variable, std::string_view start) {
  const auto found = session.find(std::string(variable));
  if (!found || !found->value->is_resolved() || found->value->kind() != vm::ValueKind::structure) return {};
  const vm::Value value = found->value->get();
  Candidates fields(start);
  for (std::size_t i = 0; i < value.as_structure().field_count(); ++i) fields.add(value.as_structure().field_name(i));
  return fields.take();
}

std::vector<std::string> names_like(const LiveSession& session, std::string_view start) {
  Candidates found(start);
  if (start.empty()) return {};
  std::set<std::string_view> modules{""};
  for (const Definition& each : session.pieces().definitions()) {
    if (each.kind == DefinitionKind::import)
      modules.insert(each.name);
    else
      found.add(each.name);
  }
  for (const auto& variable : session.variables()) found.add(variable->name);
  static const std::vector<LibraryPage> pages = library_pages();
  for (const LibraryPage& page : pages)
    if (modules.contains(page.module)) found.add(page.name);
  for (const std::string_view word : keywords()) found.add(word);
  for (const std::string_view word : basic_types()) found.add(word);
  return found.take();
}

/// Where a string that is open at the end of the line begins, behind its mark.
std::size_t open_string(std::string_view line) {
  std::size_t begin = std::string_view::npos;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      begin = begin == std::string_view::npos ? i + 1 : std::string_view::npos;
  }
  return begin;
}

}  // namespace

Completions complete(const LiveSession& session, const std::vector<std::string>& commands, std::string_view text,
                     std::size_t cursor) {
  const std::string_view before = text.substr(0, cursor);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::string_view line = before.substr(line_begin);
  if (text.starts_with(':')) {
    const std::size_t blank = before.find(' ');
    if (blank == std::string_view::npos) {
      Candidates found(before);
      for (const std::string& command : commands) found.add(command);
      return {0, found.take()};
    }
    const std::string_view command = before.substr(0, blank);
    if (command == ":load" || command == ":save") return {blank + 1, files_like(before.substr(blank + 1))};
  }
  if (const std::size_t begin = open_string(line); begin != std::string_view::npos)
    return {line_begin + begin, files_like(line.substr(begin))};
  std::size_t begin = cursor;
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  const std::string_view word = text.substr(begin, cursor - begin);
  if (line.starts_with("import ")) return {begin, modules_like(word)};
  if (begin > 0 && text[begin - 1] == '.') {
    std::size_t owner = begin - 1;
    while (owner > 0 && is_name(text[owner - 1])) --owner;
    return {begin, fields_like(session, text.substr(owner, begin - 1 - owner), word)};
  }
  return {begin, names_like(session, word)};
}

}  // namespace raddle::tool::repl
