#include "stdlib/definitions.hpp"

#include <algorithm>
#include <array>

namespace raddle::stdlib {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

/// Where the parenthesis of the inputs opens, in which there may be others.
std::size_t begin_of_inputs(std::string_view head) {
  int depth = 0;
  std::size_t at = head.rfind(')');
  for (; at != 0 && at != std::string_view::npos; --at) {
    if (head[at] == ')') ++depth;
    if (head[at] == '(' && --depth == 0) break;
  }
  return at;
}

/// @param line  the first one  @param rest  what follows it
Definition read_definition(std::string_view line, std::string_view rest) {
  Definition found;
  if (line.starts_with("@kernel=")) {  // has no body, and may have several lines
    line.remove_prefix(line.find("\" ") + 2);
    line = between(line.data(), rest.data() + rest.size());
    line = line.substr(0, line.find(';') + 1);
  }
  if (line.starts_with('<'))
    for (const char variable : line.substr(0, line.find('>'))) {
      if (variable == 'T' || variable == 'W' || variable == 'F') found.type_variable = variable;
      if (variable == 'Q' || variable == 'R') found.rank_variable = variable;
    }
  if ((line.starts_with('(') || line.starts_with('<')) && line.find_first_of("{;") == std::string_view::npos) {
    line = between(line.data(), rest.data() + rest.size());  // its inputs stand in the next line
    line = line.substr(0, line.find('{') + 1);
  }
  const bool is_kernel = line.starts_with('(') && line.ends_with(';');
  const std::size_t body = line.find(is_kernel ? ";" : " {");
  const bool is_variable = body == std::string_view::npos;
  found.head = line.substr(0, is_variable ? line.find(';') : body);
  found.is_function = !is_variable && !line.starts_with("type ");
  std::string_view named = found.head;
  if (is_variable) named = named.substr(0, named.find_first_of("[="));
  if (found.is_function) named = named.substr(0, begin_of_inputs(named));
  named = named.substr(0, named.find_last_not_of(' ') + 1);
  found.name = named.substr(named.find_last_of(" )") + 1);
  return found;
}

}  // namespace

std::vector<Definition> definitions_of(std::string_view text) {
  std::vector<Definition> all;
  const char* comment = nullptr;  // where the one that is read begins
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    if (line.starts_with("//")) {
      if (comment == nullptr) comment = line.data();
      continue;
    }
    const bool is_inside = line.starts_with(' ') || line.starts_with('}');
    if (is_inside && !all.empty()) all.back().text = between(all.back().text.data(), line.data() + line.size());
    if (!is_inside && line != "\n" && !line.starts_with("import ")) {
      all.push_back(read_definition(line, text));
      all.back().comment = between(comment == nullptr ? line.data() : comment, line.data());
      all.back().text = line;
    }
    comment = nullptr;
  }
  return all;
}

unsigned least_rank(char rank_variable) { return rank_variable == 'Q' ? 3 : 4; }

std::string_view without_variables(std::string_view text) {
  return text.starts_with('<') ? text.substr(text.find("> ") + 2) : text;
}

std::span<const std::string_view> element_types(char type_variable) {
  static constexpr std::array<std::string_view, 5> all = {"float", "int", "boolean", "int32", "float32"};
  static constexpr std::array<std::string_view, 2> floats = {"float", "float32"};
  return type_variable == 'F' ? std::span(floats) : type_variable == 'T' ? std::span(all) : std::span(all).first(2);
}

}  // namespace raddle::stdlib
