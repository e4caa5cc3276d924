#pragma once
// Macros and their replacement. Private to compiler/preprocess.
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/preprocess/scan.hpp"

namespace raddle::preprocessor {

struct Macro {
  std::string name;
  Span definition;  ///< of its name in the `#define`
  bool has_parameters = false;
  bool is_variadic = false;  ///< the last parameter takes all further arguments
  std::vector<std::string> parameters;
  std::vector<Token> body;    ///< blanks inside are one token " "
  bool is_expanding = false;  ///< its text is being read: its own name in there stays
  bool same_text(const Macro& other) const;
};

using MacroTable = std::unordered_map<std::string_view, Macro*>;

/// The macros grow the text beyond all measure: preprocessing ends.
struct TooMuchExpansion {};

/// Hands out the tokens of a file with its macros replaced. Texts of macros that are being read lie on a stack above
/// the file; a macro is not replaced within its own text, so that every expansion ends.
class Expander {
 public:
  Expander(SourceMap& sources, Diagnostics& diagnostics) : sources_(sources), diagnostics_(diagnostics) {}

  /// The file to read from, until the next call.
  void read_from(Scanner* scanner) { scanner_ = scanner; }
  Scanner* scanner() { return scanner_; }
  /// The next token behind all replacements; a `hash` comes from the file only.
  Token next();
  /// All of `tokens`, replaced.
  std::vector<Token> expand(std::vector<Token> tokens);

  void define(Macro macro);
  void undefine(std::string_view name) { macros_.erase(name); }
  const Macro* find(std::string_view name) const;
  /// Keeps a text that tokens are to point to.
  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }

 private:
  struct Context {
    std::vector<Token> tokens;
    std::size_t next = 0;
    Macro* macro = nullptr;  ///< whose text it is, if any
  };
  using Arguments = std::vector<std::vector<Token>>;

  Token raw();
  void push_back(std::vector<Token> tokens) { contexts_.push_back({std::move(tokens), 0, nullptr}); }
  bool open_follows();
  void enter(Macro& macro, const Token& name);
  [[noreturn]] void give_up(const Macro& macro, Span use, const char* why);
  /// To be called before the tokens are made: gives up where macros have made too much.
  void account(const Macro& macro, Span use, std::span<const Token> tokens);
  bool read_arguments(const Macro& macro, const Token& name, Arguments& arguments, Span& use);
  bool fits(const Macro& macro, const Token& name, Arguments& arguments);
  std::vector<Token> substitute(const Macro& macro, const Arguments& arguments, Span use);
  Token stringify(const std::vector<Token>& argument, Span use);
  void paste(std::vector<Token>& left, std::vector<Token> right, Span use);
  bool replace_predefined(Token& token);

  SourceMap& sources_;
  Diagnostics& diagnostics_;
  Scanner* scanner_ = nullptr;
  std::vector<Context> contexts_;
  std::deque<Macro> defined_;  ///< all that ever were: uses refer to them
  MacroTable macros_;
  std::deque<std::string> kept_;
  std::size_t depth_ = 0;           ///< of expand() within expand()
  std::size_t made_words_ = 0;      ///< tokens made so far
  std::size_t made_bytes_ = 0;      ///< their texts
  std::size_t argument_words_ = 0;  ///< tokens read as arguments so far
};

}  // namespace raddle::preprocessor
