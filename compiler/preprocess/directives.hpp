#pragma once
// Carries out directives. Private to compiler/preprocess.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/preprocess/macros.hpp"
#include "compiler/preprocess/preprocess.hpp"
#include "compiler/preprocess/scan.hpp"

namespace raddle::preprocessor {

/// Reads a file and what it includes, and appends what remains to the expanded text.
class Reader {
 public:
  Reader(SourceMap& sources, const PreprocessOptions& options, Diagnostics& diagnostics)
      : sources_(sources), options_(options), diagnostics_(diagnostics), expander_(sources, diagnostics) {}

  void read(std::uint32_t file);
  ExpandedText take() { return std::move(out_); }

 private:
  /// A directive: its words, without blanks at both ends.
  struct Line {
    std::string_view word;
    Span at;  ///< from the `#` to the end of the word
    std::vector<Token> tokens;
    bool spaced = false;  ///< a blank behind the `#`, as in a comment
    Span span() const { return tokens.empty() ? at : Span{at.file, tokens.front().from.begin, tokens.back().from.end}; }
  };
  /// An `#if` that waits for its `#endif`.
  struct Condition {
    Span at;
    std::string_view word;  ///< `if`, `else`, ...: the last one seen
    bool outside_active = true;
    bool active = true;
    bool taken = true;  ///< a branch was active
    std::size_t file_depth = 0;
    bool is_reported = false;  ///< something is wrong with the line that opened it
  };

  void directive(const Token& hash);
  Line read_line(const Token& hash);
  bool is_prose(const Line& line);
  void warn_of_misspelling(const Line& line);
  bool active() const { return conditions_.empty() || conditions_.back().active; }

  void define(const Line& line);
  bool read_parameters(const Line& line, std::size_t& next, Macro& macro);
  std::vector<Token> macro_body(const Line& line, std::size_t from, const Macro& macro);
  void undefine(const Line& line);
  void open_condition(const Line& line);
  void next_branch(const Line& line);
  void close_condition(const Line& line);
  bool condition_holds(const Line& line);
  bool is_defined(const Line& line);
  std::vector<Token> replace_defined(const std::vector<Token>& tokens, bool& well_formed) const;
  void include(const Line& line);
  std::optional<std::string> find_include(const std::string& name, bool quoted) const;
  void open_include(const Line& line, const std::string& path);
  void message(const Line& line);

  void emit(const Token& token);
  Diagnostic& fail(Span at, std::string message);

  SourceMap& sources_;
  const PreprocessOptions& options_;
  Diagnostics& diagnostics_;
  Expander expander_;
  ExpandedText out_;
  const char* end_of_last_ = nullptr;  ///< behind the text of the token before, where that stands
  std::vector<Condition> conditions_;
  std::vector<std::string> open_files_;  ///< paths, the including ones first
  std::set<std::string> read_once_;      ///< with `#pragma once`
  std::size_t included_files_ = 0;       ///< each as often as it was read
  std::size_t included_bytes_ = 0;
};

}  // namespace raddle::preprocessor
