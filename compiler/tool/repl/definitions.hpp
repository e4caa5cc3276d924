#pragma once
// What the entries of an interactive session have defined: functions, types, constants, imports.
#include <set>
#include <string>
#include <vector>

#include "compiler/ast/nodes.hpp"
#include "compiler/source/expanded_text.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle::tool::repl {

enum class DefinitionKind : std::uint8_t { import, pragma, type, constant, function };

struct Definition {
  DefinitionKind kind = DefinitionKind::import;
  std::string name;
  std::string signature;  ///< functions: the name and the types of the inputs; others: the name
  Span span;              ///< all of it, as it is written
};

/// Those of one entry. `main` is none: it is called where it is written.
std::vector<Definition> definitions_of(const ast::Module& module, const SourceMap& sources);

/// True if `later` stands in place of `earlier`.
bool replaces(const Definition& later, const Definition& earlier);

/// One and the same, at the same place.
bool is_same(const Definition& one, const Definition& other);

/// All words of the text that may be names.
void add_names(std::string_view text, std::set<std::string, std::less<>>& names);

/// The text as it is written at `span`.
std::string_view text_at(const SourceMap& sources, Span span);

}  // namespace raddle::tool::repl
