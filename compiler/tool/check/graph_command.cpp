// `raddle graph`: the dataflow graph of a script.
#include <fmt/format.h>
#include <unistd.h>

#include "compiler/tool/process/child_output.hpp"
#include "compiler/tool/command/picture.hpp"
#include "compiler/tool/command/script.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/executable/compile.hpp"
#include "compiler/tool/executable/load_modules.hpp"
#include "compiler/tool/settings/settings.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/graph/graph.hpp"
#include "compiler/lower/lower.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

constexpr PictureVerb verb = {
    .name = "graph",
    .description =
        "raddle graph: the dataflow of a script: its variables and calls, and what flows between them, in functions, "
        "loops and branches\n\nexamples:\n  raddle graph model.df -o model.svg\n  raddle graph model.df -o model.mmd\n"
        "  raddle graph model.df | dot -Tpdf -o model.pdf\n",
    .output = "The drawing: .svg, by graphviz; .dot, its text; .mmd, Mermaid",
    .example = "model.svg"};

enum class GraphForm { dot, mermaid, svg };

std::optional<GraphForm> form_of(const std::string& path, const std::string& format) {
  const std::size_t point = path.rfind('.');
  const std::string ending = !format.empty()               ? format
                             : path.empty() || path == "-" ? "dot"
                             : point == std::string::npos  ? ""
                                                           : path.substr(point + 1);
  if (ending == "dot" || ending == "gv") return GraphForm::dot;
  if (ending == "mmd" || ending == "mermaid") return GraphForm::mermaid;
  if (ending == "svg") return GraphForm::svg;
  return std::nullopt;
}

/// What graphviz makes of a text. @error  for the user
std::expected<std::string, std::string> draw_svg(const std::string& dot) {
  std::expected<ChildOutput, std::string> drawn = run_child({"dot", "-Tsvg"}, dot);
  if (!drawn) return std::unexpected(drawn.error());
  if (!drawn->is_found)
    return std::unexpected(
        "an SVG is drawn by graphviz's `dot`, which is not installed\n  = help: apt-get install graphviz; or take the "
        "text: -o graph.dot, or -o graph.mmd for Mermaid");
  if (drawn->status != 0) return std::unexpected("graphviz's `dot` has failed");
  return std::move(drawn->out);
}

/// @return nothing if there are errors, which have been said
std::optional<graph::Graph> graph_of(Session& session, Script script) {
  const std::string path = script.path;
  const std::uint32_t file = session.sources.add(std::move(script.path), std::move(script.text));
  const std::unique_ptr<CheckedProgram> checked = check_file(session, file);
  std::optional<ir::Module> module;
  if (checked) module = lower(*checked, session.sources, session.diagnostics);
  if (session.print_diagnostics() || !module) return std::nullopt;
  std::vector<bool> is_library(session.sources.size());
  for (std::uint32_t i = 0; i < session.sources.size(); ++i) is_library[i] = session.sources.at(i).is_of_library();
  return graph::build_graph(*module, path, is_library);
}

struct GraphWords {
  Options options;
  std::string script, path, format;
};

void add_graph_options(CLI::App& app, GraphWords& words) {
  app.description(verb.description);
  app.add_option("FILE", words.script, "The script; `-`: standard input")->type_name("")->required();
  app.add_option("-o,--output", words.path, fmt::format("{}; none or `-`: standard output", verb.output))
      ->type_name("FILE");
  app.add_option("--format", words.format,
                 "dot, mmd or svg; else what the file's name ends with, and dot where there is none")
      ->check(CLI::IsMember({"dot", "mmd", "svg"}))
      ->type_name("FORM");
  add_reading_options(app, words.options);
  add_profile_option(app, words.options.profile);
}

int graph_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle graph");
  GraphWords read;
  add_graph_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, verb.name)) return *code;
  if (const std::optional<int> code = apply_settings(app, verb.name, read.options.profile)) return *code;
  const auto& [options, script, path, format] = read;
  Session session;
  session.options = options;
  session.colour = wants_colour(STDERR_FILENO);
  const std::optional<GraphForm> form = form_of(path, format);
  if (!form) return usage_error(fmt::format("`{}` is none of .svg, .dot, .mmd; or say --format", path), verb.name);
  std::expected<Script, int> text = read_script(script, verb.name);
  if (!text) return text.error();
  const std::optional<graph::Graph> graph = graph_of(session, std::move(*text));
  if (!graph) return exit_compile_error;
  std::string picture = *form == GraphForm::mermaid ? print_mermaid(*graph) : print_dot(*graph);
  if (*form == GraphForm::svg) {
    std::expected<std::string, std::string> drawn = draw_svg(picture);
    if (!drawn) {
      vm::print_stderr("raddle: {}\n", drawn.error());
      return exit_failed;
    }
    picture = std::move(*drawn);
  }
  return write_picture(path, verb, /*for_terminal=*/*form != GraphForm::svg,
                       [&](sweep::Writer& writer) { writer.text() = picture; });
}

}  // namespace

const Verb graph_verb = {.name = verb.name,
                         .about = "The dataflow graph of a script: graph FILE -o graph.svg, .dot or .mmd",
                         .run = graph_command,
                         .describe = [](CLI::App& app) { describe_with(app, add_graph_options); }};

}  // namespace raddle::tool
