#pragma once
// The library's modules in the language itself, without the definitions that nobody names: a script uses few of them,
// and each would be parsed, checked, optimised.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/source/expanded_text.hpp"
#include "stdlib/definitions.hpp"

namespace raddle::tool {

class NamedLibrary {
 public:
  /// @param most_axes  of arrays of scripts, at least, of which their text need not tell
  explicit NamedLibrary(unsigned most_axes) : most_axes_(most_axes) {}
  /// @param text  the file's; lives as long as this
  /// @return      the modules that it imports
  std::vector<std::string> add(std::uint32_t file, std::string_view text);
  /// All names in the text of a script, and how many axes its arrays have; what is in strings and comments too, which
  /// does not matter.
  void note_script(std::string_view text);
  /// What of a module is named in a script, or in what is named. Call it when all modules and scripts are known.
  ExpandedText text_of(std::uint32_t file);

 private:
  struct Module {
    std::string_view text;
    std::vector<stdlib::Definition> definitions;
    std::vector<std::string_view> imports;  ///< lines
  };

  /// Functions with an input that is given by its name are wanted where a script has that name.
  bool is_wanted(const stdlib::Definition& definition) const;
  using Append = std::function<void(std::string_view part, std::string_view from, PartOrigin origin)>;
  void note_names(std::string_view text);
  void append_for_each_rank(const stdlib::Definition& definition, std::string_view type, const Append& append) const;
  void append_for_each_type(const stdlib::Definition& definition, const Append& append) const;

  std::map<std::uint32_t, Module> modules_;                                            ///< by file
  std::unordered_map<std::string_view, std::vector<stdlib::Definition>> definitions_;  ///< all of a name
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> names_of_scripts_;  ///< empty: what these name is not followed yet
  unsigned most_axes_;                                ///< of arrays, as far as the text of scripts tells
  std::vector<std::string> to_follow_;  ///< of these names: what is in their definitions is not among them yet
};

}  // namespace raddle::tool
