#include "compiler/tool/executable/named_library.hpp"

#include <algorithm>

namespace raddle::tool {

namespace {

bool is_of_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

std::vector<std::string> NamedLibrary::add(std::uint32_t file, std::string_view text) {
  Module& module = modules_[file];
  module = {text, stdlib::definitions_of(text), {}};
  for (const stdlib::Definition& definition : module.definitions) texts_[definition.name].push_back(definition.text);
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

ExpandedText NamedLibrary::text_of(std::uint32_t file) {
  while (!to_follow_.empty()) {
    const auto named = texts_.find(to_follow_.back());
    to_follow_.pop_back();
    if (named == texts_.end()) continue;
    for (const std::string_view text : named->second) note_names(text);
  }
  const Module& module = modules_.at(file);
  const auto place = [&](const char* at) { return static_cast<std::uint32_t>(at - module.text.data()); };
  ExpandedText result;
  const auto append = [&](std::string_view part) {
    result.append(part, {file, place(part.data()), place(part.data() + part.size())}, PartOrigin::copied);
  };
  for (const std::string_view line : module.imports) append(line);
  for (const stdlib::Definition& definition : module.definitions)
    if (names_.contains(std::string(definition.name))) append(definition.text);
  const auto end = static_cast<std::uint32_t>(module.text.size());
  result.end_at({file, end, end});
  return result;
}

}  // namespace raddle::tool
