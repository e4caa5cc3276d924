#include "stdlib/native/script_arguments.hpp"

namespace raddle::stdlib {

ScriptArguments split_arguments(const std::vector<std::string>& words) {
  ScriptArguments arguments;
  for (std::size_t i = 0; i < words.size() && !words[i].empty(); ++i) {
    const std::string& word = words[i];
    if (word[0] != '-') {
      arguments.positional.push_back(word);
      continue;
    }
    const std::size_t begin = word.starts_with("--") ? 2 : 1;
    const std::size_t equals = word.find('=', begin);
    if (equals == std::string::npos) {
      arguments.flags[word.substr(begin)] = "";
      continue;
    }
    std::string value = word.substr(equals + 1);
    if (value.starts_with('"')) {
      value.erase(0, 1);
      while (!value.ends_with('"') && i + 1 < words.size()) (value += ' ') += words[++i];
      if (value.ends_with('"')) value.pop_back();
    }
    arguments.flags[word.substr(begin, equals - begin)] = std::move(value);
  }
  return arguments;
}

}  // namespace raddle::stdlib
