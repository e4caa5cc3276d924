#include "compiler/tool/executable/load_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "compiler/diagnostics/foreign_names.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/preprocess/preprocess.hpp"
#include "compiler/source/read_file.hpp"
#include "compiler/tool/executable/named_library.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::tool {

namespace {

class Loader {
 public:
  Loader(Session& session, std::uint32_t main_file, unsigned most_axes) : session_(session), named_library_(most_axes) {
    loaded_.insert(same_file(session.sources.at(main_file).path()));
    folders_ = session.options.include_folders;
    folders_.push_back(".");
    const std::filesystem::path parent = std::filesystem::path(session.sources.at(main_file).path()).parent_path();
    if (!parent.empty()) folders_.push_back(parent.string());
  }

  void load_script(std::uint32_t file, const ExpandedText* text) {
    if (text != nullptr) return load(file, text, imports_of_options());
    const std::optional<ExpandedText> expanded = preprocess_script(session_, file);
    if (!session_.diagnostics.has_errors()) load(file, expanded ? &*expanded : nullptr, imports_of_options());
  }

  void load_library_module(const std::string& name) {
    seen_.insert(name);
    const std::string_view source = stdlib::module_source(name);
    if (source.empty()) return;
    const std::string path = std::string(library_folder) + name + ".df";
    const std::uint32_t file = is_read(path) ? session_.module_files[path] : keep(path, std::string(source));
    for (const std::string& import : named_library_.add(file, session_.sources.at(file).text()))
      if (seen_.insert(import).second) load_library_module(import);
    library_modules_.emplace(modules_.size(), file);
    modules_.emplace_back();  // parsed when all names are known
  }

  LoadedModules take() {
    for (const auto& [index, file] : library_modules_) {
      const ExpandedText text = named_library_.text_of(file);
      modules_[index] = parse(file, session_.sources, session_.diagnostics, &text);
    }
    return {std::move(modules_), missing_ != 0, session_.diagnostics.error_count() == missing_};
  }

 private:
  /// @param more  what it imports before its own imports
  void load(std::uint32_t file, const ExpandedText* expanded, const std::vector<ast::Import>& more = {}) {
    std::unique_ptr<ast::Module> module = parse(file, session_.sources, session_.diagnostics, expanded);
    module->imports.insert(module->imports.begin(), more.begin(), more.end());
    named_library_.note_script(expanded != nullptr ? expanded->text() : session_.sources.at(file).text());
    for (const ast::Import& import : module->imports) load_import(import);
    modules_.push_back(std::move(module));
  }

  /// Of `-i NAME`.
  std::vector<ast::Import> imports_of_options() {
    const std::string option = "-i ";
    std::vector<ast::Import> imports;
    for (const std::string& name : session_.options.imports) {
      const std::uint32_t file = session_.sources.add("(command line)", option + name + "\n");
      const auto begin = static_cast<std::uint32_t>(option.size());
      imports.push_back({.module = name, .span = {file, begin, begin + static_cast<std::uint32_t>(name.size())}});
    }
    return imports;
  }

  void load_import(const ast::Import& import) {
    if (!seen_.insert(import.module).second) return;
    if (stdlib::is_module(import.module)) {
      return load_library_module(import.module);
    }
    for (const std::string& folder : folders_) {
      for (const std::string_view suffix : suffixes) {
        const std::string file_name = fmt::format("{}{}", import.module, suffix);
        const std::string path = folder == "." ? file_name : folder + "/" + file_name;
        std::string text, error;
        std::error_code code;
        if (!std::filesystem::is_regular_file(path, code)) continue;
        if (!loaded_.insert(same_file(path)).second) return;
        if (is_read(path)) return load(session_.module_files[path], nullptr);
        if (!read_file(path, text, error)) {
          session_.diagnostics.report(DiagnosticKind::unreadable_module, import.span, path, error);
          ++missing_;
          return;
        }
        const std::uint32_t file = keep(path, std::move(text));
        warn_of_directives(file, session_.sources, session_.diagnostics);
        load(file, nullptr);
        return;
      }
    }
    report_unknown(import);
  }

  bool is_read(const std::string& path) const { return session_.module_files.contains(path); }
  std::uint32_t keep(const std::string& path, std::string text) {
    return session_.module_files[path] = session_.sources.add(path, std::move(text));
  }

  /// One name for all paths of a file.
  static std::string same_file(const std::string& path) {
    std::error_code code;
    const std::filesystem::path one = std::filesystem::canonical(path, code);
    return code ? path : one.string();
  }

  void report_unknown(const ast::Import& import) {
    ++missing_;
    Diagnostic& diagnostic = session_.diagnostics.report(DiagnosticKind::unknown_module, import.span, import.module);
    std::vector<std::string> names;
    for (const stdlib::Builtin& builtin : stdlib::builtins()) names.emplace_back(builtin.module);
    for (const std::string& folder : folders_) add_modules_of(folder, names);
    if (const std::string nearest = nearest_name(import.module, names); !nearest.empty())
      diagnostic.note("did you mean `" + nearest + "`?");
    for (const std::string_view suffix : suffixes)
      if (import.module.ends_with(suffix)) diagnostic.note("a module is named without its suffix");
    if (const std::string_view help = help_for_foreign_name(import.module, NameUse::module); !help.empty())
      diagnostic.note(std::string(help));
    std::string path = "looked in the library";
    for (const std::string& folder : folders_) path += ", " + (folder == "." ? "the current folder" : folder);
    diagnostic.note(path);
  }

  /// The scripts in a folder: each of them could be imported.
  static void add_modules_of(const std::string& folder, std::vector<std::string>& names) {
    std::error_code code;
    for (std::filesystem::directory_iterator file(folder, code), end; !code && file != end; file.increment(code))
      if (std::ranges::find(suffixes, file->path().extension().string()) != suffixes.end())
        names.push_back(file->path().stem().string());
  }

  static constexpr std::array<std::string_view, 2> suffixes = {".df", ".swift"};

  Session& session_;
  std::vector<std::string> folders_;
  std::set<std::string> seen_;    ///< modules, by the names that they were imported by
  std::set<std::string> loaded_;  ///< files
  std::vector<std::unique_ptr<ast::Module>> modules_;
  NamedLibrary named_library_;
  std::map<std::size_t, std::uint32_t> library_modules_;  ///< index in modules_ -> file
  std::size_t missing_ = 0;                               ///< modules: an error each
};

}  // namespace

std::optional<ExpandedText> preprocess_script(Session& session, std::uint32_t file) {
  if (!session.options.preprocess) return std::nullopt;
  return preprocess(file, session.sources, {session.options.macros, session.options.include_folders},
                    session.diagnostics);
}

LoadedModules load_modules(Session& session, std::uint32_t file, const ExpandedText* text, unsigned most_axes) {
  Loader loader(session, file, most_axes);
  loader.load_library_module("builtins");
  loader.load_script(file, text);
  return loader.take();
}

}  // namespace raddle::tool
