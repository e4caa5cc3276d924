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

/// Types of 32 bits only where a script names them: else it has no such arrays, and most scripts have none.
void NamedLibrary::append_for_each_type(const stdlib::Definition& definition, const Append& append) const {
  std::string_view body = definition.text;
  body.remove_prefix(body.find(' ') + 1);  // of `<T>`
  for (const std::string_view type : stdlib::element_types(definition.type_variable)) {
    if (type.ends_with("32") && !names_of_scripts_.contains(std::string(type))) continue;
    const char* copied = body.data();
    const auto copy_to = [&](const char* at) {
      const std::string_view part(copied, static_cast<std::size_t>(at - copied));
      if (!part.empty()) append(part, part, PartOrigin::copied);
    };
    for (const char* at = body.data(); at != body.data() + body.size();) {
      const char* const end = std::find_if_not(at, body.data() + body.size(), is_of_name);
      if (const std::string_view name(at, static_cast<std::size_t>(end - at));
          name == std::string_view(&definition.type_variable, 1)) {
        copy_to(at);
        append(type, name, PartOrigin::replaced);
        copied = end;
      }
      at = end == at ? at + 1 : end;
    }
    copy_to(body.data() + body.size());
  }
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
    if (definition.type_variable != '\0')
      append_for_each_type(definition, append);
    else
      append(definition.text, definition.text, PartOrigin::copied);
  }
  const auto end = static_cast<std::uint32_t>(module.text.size());
  result.end_at({file, end, end});
  return result;
}

}  // namespace raddle::tool
