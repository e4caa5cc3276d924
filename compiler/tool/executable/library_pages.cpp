#include "compiler/tool/executable/library_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "stdlib/builtins.hpp"
#include "stdlib/module_sources.hpp"

namespace raddle::tool {

namespace {

/// A signature of builtins.def without the marks that are for the VM, the name before its inputs.
std::string readable(const stdlib::Builtin& builtin) {
  std::string text;
  for (const char c : builtin.signature) {
    if (c == ' ' && text.ends_with(' ')) continue;
    if (c != '&' && c != '!') text += c;
    if (c == ',') text += ' ';
  }
  const std::size_t open = text.find('(', 1);  // outputs may stand in parentheses
  std::string inputs = text.substr(open);
  std::string before;
  if (stdlib::takes_process_count(builtin)) {
    inputs = inputs.substr(0, inputs.rfind(", int par=1")) + ")";
    before = "@par=n ";
  }
  return fmt::format("{}{} {}{}", before, text.substr(0, open), builtin.name, inputs);
}

LibraryPage& page_of(std::vector<LibraryPage>& pages, std::string_view module, std::string_view name) {
  const auto same = [&](const LibraryPage& page) { return page.module == module && page.name == name; };
  const auto known = std::ranges::find_if(pages, same);
  if (known != pages.end()) return *known;
  return pages.emplace_back(std::string(module), std::string(name));
}

/// Modules in the language itself: each definition begins in the first column, its summary is the comment above. Names
/// that end in `_` are the module's own.
void add_definition(std::vector<LibraryPage>& pages, std::string_view module, std::string_view line,
                    const std::string& comment) {
  if (line.starts_with("global const ")) {
    const std::size_t equals = line.find(" =");
    const std::string_view name =
        line.substr(line.rfind(' ', equals - 1) + 1, equals - line.rfind(' ', equals - 1) - 1);
    page_of(pages, module, name).signatures.emplace_back(line.substr(0, line.find(';')));
    return;
  }
  const std::size_t body = line.find(" {");
  if (body == std::string_view::npos) return;
  const std::string_view head = line.substr(0, body);
  const bool is_type = head.starts_with("type ");
  const std::size_t end = is_type ? head.size() : head.rfind('(');
  const std::size_t begin = head.find_last_of(" )", end - 1) + 1;
  const std::string_view name = head.substr(begin, end - begin);
  if (name.ends_with('_')) return;
  LibraryPage& page = page_of(pages, module, name);
  page.signatures.emplace_back(head);
  page.summary = comment;
}

void add_module_source(std::vector<LibraryPage>& pages, const stdlib::ModuleSource& source) {
  const std::string_view module = source.module == "builtins" ? "" : source.module;
  std::string comment;
  for (std::string_view rest = source.text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("// ")) {
      comment += (comment.empty() ? "" : " ") + std::string(line.substr(3));
      continue;
    }
    const bool is_definition =
        !line.empty() && !line.starts_with(' ') && !line.starts_with('}') && !line.starts_with("import");
    if (is_definition) add_definition(pages, module, line, comment);
    comment.clear();
  }
}

}  // namespace

std::vector<LibraryPage> library_pages() {
  std::vector<LibraryPage> pages;
  for (const stdlib::Builtin& builtin : stdlib::builtins()) {
    if (builtin.name.starts_with('@')) continue;  // the compiler's own
    LibraryPage& page = page_of(pages, builtin.module, builtin.name);
    page.signatures.push_back(readable(builtin));
    if (builtin.summary.empty()) continue;
    page.summary = builtin.summary;
    page.example = builtin.example;
  }
  for (const stdlib::ModuleSource& source : stdlib::module_sources()) add_module_source(pages, source);
  std::ranges::stable_sort(pages, {}, &LibraryPage::module);
  return pages;
}

}  // namespace raddle::tool
