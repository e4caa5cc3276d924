// `raddle explain`: what a diagnostic means. Codes stand in brackets at the end of each error and warning.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/diagnostics/explanations.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/formats/json_text.hpp"

namespace raddle::tool {

namespace {

void list_codes() {
  std::size_t width = 0;
  for (const Explanation& one : explanations()) width = std::max(width, one.code.size());
  for (const Explanation& one : explanations()) fmt::print("{:<{}}  {}\n", one.code, width, one.summary);
}

/// Scripts are set in four columns; their fences are left out.
void print_page(const Explanation& explanation) {
  fmt::print("{}: {}\n\n", explanation.code, explanation.summary);
  bool in_script = false;
  for (std::string_view rest = explanation.text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("```"))
      in_script = !in_script;
    else
      fmt::print("{}{}\n", in_script && !line.empty() ? "    " : "", line);
  }
}

std::string as_json_text(const Explanation& one) {
  sweep::JsonObject json;
  json.add("code", sweep::json_string(one.code));
  json.add("summary", sweep::json_string(one.summary));
  json.add("text", sweep::json_string(one.text));
  return json.text();
}

int print_json(const std::vector<const Explanation*>& found) {
  std::string items;
  for (const Explanation* one : found) items += (items.empty() ? "" : ",") + as_json_text(*one);
  return write_output(json_line(fmt::format("\"explanations\":[{}]", items))) ? exit_ok : exit_failed;
}

/// @param codes  none: lists all, a line each
int explain(const std::vector<std::string>& codes, bool as_json) {
  std::vector<const Explanation*> all;
  if (codes.empty() && as_json) {
    for (const Explanation& one : explanations()) all.push_back(&one);
    return print_json(all);
  }
  if (codes.empty()) {
    list_codes();
    return exit_ok;
  }
  for (const std::string& word : codes) {
    // as it stands in the message, with its brackets, is right, too
    const std::string code = word.starts_with("[") && word.ends_with("]") ? word.substr(1, word.size() - 2) : word;
    if (const Explanation* found = find_explanation(code)) {
      all.push_back(found);
      continue;
    }
    std::vector<std::string> known;
    for (const Explanation& one : explanations()) known.emplace_back(one.code);
    const std::string nearest = nearest_name(code, known);
    return usage_error(
        fmt::format("no error or warning has the code `{}`; {}", code,
                    nearest.empty() ? "`raddle explain` lists all" : fmt::format("did you mean `{}`?", nearest)),
        "explain");
  }
  if (as_json) return print_json(all);
  for (const Explanation* found : all) {
    if (found != all.front()) fmt::print("\n");
    print_page(*found);
  }
  return exit_ok;
}

struct ExplainWords {
  bool as_json = false;
  std::vector<std::string> codes;
};

constexpr const char* about_explain = "Say what an error or warning means: explain [CODE..]";

void add_explain_options(CLI::App& app, ExplainWords& words) {
  app.description(about_explain);
  app.add_flag("--json", words.as_json, "As JSON, one line with the number of its form in `schema`");
  app.add_option("CODE", words.codes, "What stands in brackets at the end of a message; none: list all")->type_name("");
}

int explain_command(const std::vector<std::string>& words) {
  CLI::App app("", "raddle explain");
  ExplainWords read;
  add_explain_options(app, read);
  if (const std::optional<int> code = parse_verb(app, words, "explain")) return *code;
  return explain(read.codes, read.as_json);
}

}  // namespace

const Verb explain_verb = {
    .name = "explain", .about = about_explain, .run = explain_command, .describe = [](CLI::App& app) {
      describe_with(app, add_explain_options);
    }};

}  // namespace raddle::tool
