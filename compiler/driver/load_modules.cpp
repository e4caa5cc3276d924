#include "compiler/driver/load_modules.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/parse/parse.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::driver {

namespace {

class Loader {
 public:
  Loader(Session& session, std::uint32_t main_file) : session_(session) {
    folders_ = session.options.include_folders;
    folders_.push_back(".");
    const std::filesystem::path parent = std::filesystem::path(session.sources.at(main_file).path()).parent_path();
    if (!parent.empty()) folders_.push_back(parent.string());
  }

  void load(std::uint32_t file) {
    std::unique_ptr<ast::Module> module = parse(file, session_.sources, session_.diagnostics);
    for (const ast::Import& import : module->imports) load_import(import);
    modules_.push_back(std::move(module));
  }

  std::vector<std::unique_ptr<ast::Module>> take() { return std::move(modules_); }

 private:
  void load_import(const ast::Import& import) {
    if (!seen_.insert(import.module).second) return;
    if (stdlib::is_module(import.module)) {
      const std::string_view source = stdlib::module_source(import.module);
      if (!source.empty()) load(session_.sources.add("<stdlib>/" + import.module + ".df", std::string(source)));
      return;
    }
    for (const std::string& folder : folders_) {
      for (const char* suffix : {".df", ".swift"}) {
        const std::string path = folder == "." ? import.module + suffix : folder + "/" + import.module + suffix;
        std::string text, error;
        if (!std::filesystem::is_regular_file(path)) continue;
        if (!read_file(path, text, error)) {
          session_.diagnostics.report(DiagnosticKind::unreadable_module, import.span, path, error);
          return;
        }
        load(session_.sources.add(path, std::move(text)));
        return;
      }
    }
    report_unknown(import);
  }

  void report_unknown(const ast::Import& import) {
    Diagnostic& diagnostic = session_.diagnostics.report(DiagnosticKind::unknown_module, import.span, import.module);
    std::vector<std::string> names;
    for (const stdlib::Builtin& builtin : stdlib::builtins()) names.emplace_back(builtin.module);
    if (const std::string nearest = nearest_name(import.module, names); !nearest.empty())
      diagnostic.note("did you mean `" + nearest + "`?");
    std::string path = "looked in the library";
    for (const std::string& folder : folders_) path += ", " + (folder == "." ? "the current folder" : folder);
    diagnostic.note(path);
  }

  Session& session_;
  std::vector<std::string> folders_;
  std::set<std::string> seen_;
  std::vector<std::unique_ptr<ast::Module>> modules_;
};

}  // namespace

bool read_file(const std::string& path, std::string& text, std::string& error) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    error = "it is a folder";
    return false;
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  if (stream) content << stream.rdbuf();
  if (!stream || content.bad()) {
    error = std::strerror(errno);
    return false;
  }
  text = std::move(content).str();
  return true;
}

std::vector<std::unique_ptr<ast::Module>> load_modules(Session& session, std::uint32_t file) {
  Loader loader(session, file);
  loader.load(file);
  return loader.take();
}

}  // namespace raddle::driver
