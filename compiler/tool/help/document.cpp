// `raddle doc`: the functions of the library.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <set>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/foreign_names.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/executable/library_pages.hpp"
#include "compiler/tool/formats/json_text.hpp"

namespace raddle::tool {

namespace {

using Pages = std::vector<LibraryPage>;

std::string list_module(const Pages& pages, const std::string& module) {
  constexpr std::size_t width = 58;
  std::string text = module.empty() ? "always there:\n" : fmt::format("import {};\n", module);
  for (const LibraryPage& page : pages) {
    if (page.module != module) continue;
    for (const std::string& signature : page.signatures) {
      const std::string_view summary = &signature == &page.signatures.front() ? page.summary : std::string_view();
      if (summary.empty())
        text += fmt::format("  {}\n", signature);
      else if (signature.size() <= width)
        text += fmt::format("  {:<{}}  {}\n", signature, width, summary);
      else
        text += fmt::format("  {}\n  {:<{}}  {}\n", signature, "", width, summary);
    }
  }
  return text;
}

/// Modules whose functions a text calls.
std::set<std::string> imports_of(const Pages& pages, const std::string& text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::set<std::string> modules;
  for (std::size_t open = text.find('('); open != std::string::npos; open = text.find('(', open + 1)) {
    std::size_t begin = open;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    const std::string name = text.substr(begin, open - begin);
    const auto page = std::ranges::find(pages, name, &LibraryPage::name);  // what is always there comes first
    if (page != pages.end() && !page->module.empty()) modules.insert(page->module);
  }
  return modules;
}

std::string example_of(const Pages& pages, const LibraryPage& page) {
  if (page.example.empty()) return "";
  std::set<std::string> modules = imports_of(pages, page.example);
  if (!page.module.empty()) modules.insert(page.module);
  std::string text = "\n";
  for (const std::string& module : modules) text += fmt::format("    import {};\n", module);
  const std::size_t arrow = page.example.rfind(" -> ");
  const bool is_statement = page.example.ends_with(';') || page.example.ends_with('}');
  if (is_statement && arrow == std::string::npos) return text + fmt::format("    {}\n", page.example);
  text += fmt::format("    trace({});", page.example.substr(0, arrow));
  if (arrow != std::string::npos) text += fmt::format("  // trace: {}", page.example.substr(arrow + 4));
  return text + "\n";
}

std::string whole_page(const Pages& pages, const LibraryPage& page) {
  std::string text = page.module.empty() ? "" : fmt::format("import {};\n", page.module);
  for (const std::string& signature : page.signatures) text += signature + "\n";
  if (!page.summary.empty()) text += fmt::format("\n{}\n", page.summary);
  return text + example_of(pages, page);
}

std::set<std::string> modules_of(const Pages& pages) {
  std::set<std::string> modules;
  for (const LibraryPage& page : pages) modules.insert(page.module);
  return modules;
}

/// All pages of a name and, if it is a module, its functions. @return  "" if it is nothing
std::string text_of(const Pages& pages, const std::string& name) {
  std::string text;
  for (const LibraryPage& page : pages)
    if (page.name == name) text += (text.empty() ? "" : "\n") + whole_page(pages, page);
  if (!name.empty() && modules_of(pages).contains(name)) text += (text.empty() ? "" : "\n") + list_module(pages, name);
  return text;
}

std::string as_json_text(const LibraryPage& page) {
  std::vector<std::string> signatures;
  for (const std::string& signature : page.signatures) signatures.push_back(sweep::json_string(signature));
  sweep::JsonObject json;
  json.add("module", sweep::json_string(page.module));
  json.add("name", sweep::json_string(page.name));
  json.add("signatures", fmt::format("[{}]", fmt::join(signatures, ",")));
  json.add("summary", sweep::json_string(page.summary));
  json.add("example", sweep::json_string(page.example));
  return json.text();
}

/// The pages of these functions and modules; none: all.
std::string as_json_text(const Pages& pages, const std::vector<std::string>& names) {
  std::vector<std::string> items;
  const auto is_asked = [&](const std::string& name) {
    return !name.empty() && std::ranges::find(names, name) != names.end();
  };
  for (const LibraryPage& page : pages)
    if (names.empty() || is_asked(page.name) || is_asked(page.module)) items.push_back(as_json_text(page));
  return json_line(fmt::format("\"pages\":[{}]", fmt::join(items, ",")));
}

/// What is said of a name that is nothing in the library.
std::string text_of_unknown(const Pages& pages, const std::string& name) {
  const std::string none = fmt::format("the library has no function or module `{}`", name);
  if (const std::string_view help = help_for_foreign_name(name, NameUse::function); !help.empty())
    return fmt::format("{}: {}", none, help);
  std::vector<std::string> known;
  for (const LibraryPage& page : pages) known.push_back(page.name);
  for (const std::string& module : modules_of(pages)) known.push_back(module);
  const std::string nearest = nearest_name(name, known);
  return fmt::format("{}{}; `raddle doc` lists all", none,
                     nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest));
}

/// @param names  functions or modules; none: all, a line each
int document(const std::vector<std::string>& names, bool as_json) {
  const Pages pages = library_pages();
  std::string text;
  std::vector<std::string> unknown;
  if (names.empty())
    for (const std::string& module : modules_of(pages)) text += (text.empty() ? "" : "\n") + list_module(pages, module);
  for (const std::string& name : names) {
    const std::string found = text_of(pages, name);
    if (found.empty())
      unknown.push_back(text_of_unknown(pages, name));
    else
      text += (text.empty() ? "" : "\n") + found;
  }
  if (as_json && (names.empty() || unknown.size() < names.size())) text = as_json_text(pages, names);
  if (!text.empty() && !write_output(text)) return exit_failed;
  return unknown.empty() ? exit_ok : usage_error(fmt::format("{}", fmt::join(unknown, "\nraddle: ")), "doc");
}

struct DocWords {
  bool as_json = false;
  std::vector<std::string> names;
};

constexpr const char* about_doc = "Say what the library has, and how to call it: doc [NAME..]";

void add_doc_options(CLI::App& app, DocWords& words) {
  app.description(about_doc);
  app.add_flag("--json", words.as_json, "As JSON, one line with the number of its form in `schema`");
  app.add_option("NAME", words.names, "Function or module; none: list all")->type_name("");
}

int document_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle doc");
  DocWords read;
  add_doc_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "doc")) return *code;
  return document(read.names, read.as_json);
}

}  // namespace

const Verb doc_verb = {.name = "doc", .about = about_doc, .run = document_command, .describe = [](CLI::App& app) {
                         describe_with(app, add_doc_options);
                       }};

}  // namespace raddle::tool
