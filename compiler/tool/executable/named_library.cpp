#include "compiler/tool/executable/named_library.hpp"

#include <algorithm>

#include "stdlib/expand_definition.hpp"

namespace raddle::tool {

namespace {

bool is_of_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// By commas in brackets behind a name, as in `float a[:, :, :]` and `a[i, j, k]`; of those in brackets around others
/// the inner ones.
unsigned most_axes_in(std::string_view text) {
  unsigned most = 0, commas = 0;
  bool is_of_array = false;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '[') {
      commas = 0;
      is_of_array = is_of_name(text[at - 1]) || text[at - 1] == ')' || text[at - 1] == ']';
    }
    if (text[at] == ',') ++commas;
    if (text[at] == ']' && is_of_array) most = std::max(most, commas + 1);
  }
  return most;
}

}  // namespace

std::vector<std::string> NamedLibrary::add(std::uint32_t file, std::string_view text) {
  Module& module = modules_[file];
  module = {text, stdlib::definitions_of(text), {}};
  for (const stdlib::Definition& definition : module.definitions) definitions_[definition.name].push_back(definition);
  std::vector<std::string> names;
  constexpr std::string_view word = "import ";
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    module.imports.push_back(line);
    names.emplace_back(line.substr(word.size(), line.find(';') - word.size()));
  }
  return names;
}

void NamedLibrary::note_script(std::string_view text) {
  note_names(text);
  most_axes_ = std::clamp(most_axes_in(text), most_axes_, stdlib::most_axes);
}

void NamedLibrary::note_names(std::string_view text) {
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find_if_not(at, text.end(), is_of_name);
    if (at == end) {
      ++at;
      continue;
    }
    const auto [name, is_new] = names_.emplace(at, end);
    if (is_new) to_follow_.push_back(*name);
    at = end;
  }
}

bool NamedLibrary::is_wanted(const stdlib::Definition& definition) const {
  return names_of_scripts_.contains(std::string(stdlib::name_only_input)) ||
         definition.head.find(stdlib::name_only_input) == std::string_view::npos;
}

/// For ranks that a script's text has: else there is nothing to parse.
void NamedLibrary::append_for_each_rank(const stdlib::Definition& definition, std::string_view type,
                                        const Append& append) const {
  const auto append_one = [&](unsigned rank) {
    stdlib::expand(stdlib::without_variables(definition.text), definition, type, rank,
                   [&append](std::string_view part, std::string_view from) {
                     append(part, from, part.data() == from.data() ? PartOrigin::copied : PartOrigin::replaced);
                   });
  };
  if (definition.rank_variable == '\0') return append_one(0);
  if (most_axes_ < 3) return;
  const unsigned most = most_axes_ - (most_axes_ == stdlib::most_axes && definition.head.contains(" + 1]") ? 1 : 0);
  for (unsigned rank = stdlib::least_rank(definition.rank_variable); rank <= most; ++rank) append_one(rank);
}

/// Types of 32 bits only where a script names them: else it has no such arrays, and most scripts have none.
void NamedLibrary::append_for_each_type(const stdlib::Definition& definition, const Append& append) const {
  if (definition.type_variable == '\0') return append_for_each_rank(definition, "", append);
  for (const std::string_view type : stdlib::element_types(definition.type_variable))
    if (!type.ends_with("32") || names_of_scripts_.contains(std::string(type)))
      append_for_each_rank(definition, type, append);
}

ExpandedText NamedLibrary::text_of(std::uint32_t file) {
  if (names_of_scripts_.empty()) names_of_scripts_ = names_;
  while (!to_follow_.empty()) {
    const auto named = definitions_.find(to_follow_.back());
    to_follow_.pop_back();
    if (named == definitions_.end()) continue;
    for (const stdlib::Definition& definition : named->second)
      if (is_wanted(definition)) note_names(definition.text);
  }
  const Module& module = modules_.at(file);
  const auto place = [&](const char* at) { return static_cast<std::uint32_t>(at - module.text.data()); };
  ExpandedText result;
  const Append append = [&](std::string_view part, std::string_view from, PartOrigin origin) {
    result.append(part, {file, place(from.data()), place(from.data() + from.size())}, origin);
  };
  for (const std::string_view line : module.imports) append(line, line, PartOrigin::copied);
  for (const stdlib::Definition& definition : module.definitions) {
    if (!names_.contains(std::string(definition.name)) || !is_wanted(definition)) continue;
    append_for_each_type(definition, append);
  }
  const auto end = static_cast<std::uint32_t>(module.text.size());
  result.end_at({file, end, end});
  return result;
}

}  // namespace raddle::tool
