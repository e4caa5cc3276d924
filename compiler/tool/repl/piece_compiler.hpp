#pragma once
// From what was typed to optimised IR: each piece is compiled as a module of its own, together with the definitions of
// earlier pieces and declarations of their variables.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/tool/executable/compile.hpp"
#include "compiler/tool/repl/changes.hpp"
#include "compiler/tool/repl/definitions.hpp"
#include "compiler/tool/repl/live_variable.hpp"
#include "compiler/tool/command/session.hpp"

namespace raddle::tool::repl {

struct Typed {
  std::string path;  ///< of a file, or "repl"
  std::string text;
  std::uint32_t line = 1;  ///< of its first line
};

struct Piece {
  std::uint32_t file = 0;
  std::unique_ptr<Compilation> compilation;
  LiveVariables inputs, outputs;                  ///< of the program's entry, in order
  LiveVariables values;                           ///< of an expression: what it is to show. Among the outputs
  std::string statements;                         ///< the text, without that expression
  std::vector<std::string> redefined, forgotten;  ///< names of variables, of functions
};

class PieceCompiler {
 public:
  /// Findings go to stderr.
  explicit PieceCompiler(Session& session) : session_(session) {}

  /// An expression without `;` behind it becomes the variable `ans`, to be shown.
  /// @return nothing, after messages, if there are errors: then nothing has changed
  std::optional<Piece> compile(const Typed& typed);
  /// Is there more to come before this can be compiled? A bracket is open, or a statement is not ended.
  static bool is_unfinished(const std::string& text);
  /// @return nothing, after messages, if there are errors
  std::optional<std::string> type_of(const Typed& expression);

  const std::map<std::string, std::shared_ptr<LiveVariable>>& variables() const { return variables_; }
  const std::vector<Definition>& definitions() const { return definitions_; }

 private:
  /// Text that stands around what was typed.
  struct Frame {
    std::string before, after;
    std::size_t value_count = 0;  ///< the typed text ends with an expression with so many values
    std::uint32_t at = 0;         ///< where in the typed text that begins, behind statements, and `before` stands
    bool is_call = false;         ///< a call without `;`: has values to show if the function has outputs
  };
  struct Attempt {
    std::uint32_t file = 0;
    Span typed;
    Frame frame;
    bool is_silent = false;           ///< ends with `;`: its values are not shown
    std::vector<Definition> earlier;  ///< those that the text sees
    std::vector<Definition> own;
    std::set<std::string, std::less<>> dropped = {};  ///< variables that it does not see: their types are replaced
    /// Those that kept declarations name and that have been defined anew since, by names that nobody types.
    std::map<std::string, std::shared_ptr<LiveVariable>> hidden = {};
    std::vector<Change> changes = {};  ///< of variables that are made anew by them; places in the file
  };

  Attempt begin(const Typed& typed);
  /// What an expression is assigned to. `ans` in later pieces, which this name hides from the expression itself.
  static constexpr std::string_view value_name = "_value";
  static std::string targets(std::size_t count);
  /// Statements without their last `;`.
  static Frame unended_statements();
  /// An expression with so many values, from `at` on.
  static Frame frame_of_values(std::size_t count, std::uint32_t at = 0);
  /// What stands before the frame's expression, and the expression.
  static std::pair<Span, Span> parts_of(Span typed, const Frame& frame);
  static std::unique_ptr<ast::Module> parse_alone(const SourceMap& sources, Span typed, const Frame& frame,
                                                  const std::vector<Change>& changes, Diagnostics& diagnostics);
  std::optional<Frame> find_frame(Attempt& attempt);
  bool compile_with(Attempt& attempt, Compilation& result, std::vector<std::string>& forgotten);
  bool compile_once(const Attempt& attempt, Compilation& result);
  ExpandedText text_of(const Attempt& attempt) const;
  std::map<std::string, std::shared_ptr<LiveVariable>> hidden_variables() const;
  /// A later entry that assigns it makes it anew.
  static bool is_assigned(const LiveVariable& variable) {
    return variable.writer != nullptr || variable.value->is_resolved();
  }
  /// What stands for the variable in the texts of later pieces.
  std::string declaration_of(const Attempt& attempt, const LiveVariable& variable) const;
  bool forget_broken(Attempt& attempt, std::vector<std::string>& forgotten) const;
  void forget_unused_modules();
  std::set<std::string, std::less<>> variables_of_replaced(const Attempt& attempt) const;
  void bind(const Attempt& attempt, Piece& piece);
  std::shared_ptr<LiveVariable> variable_for(const Attempt& attempt, const Compilation& compilation, ast::VariableId id,
                                             Piece& piece);
  void keep_declaration(const Attempt& attempt, Piece& piece);
  bool print_findings(std::uint32_t file);

  Session& session_;
  std::vector<Definition> definitions_;
  std::map<std::string, std::shared_ptr<LiveVariable>> variables_;
  std::set<std::uint32_t> modules_run_;
};

/// Prints what was found, without warnings about other files than this one. @return true if there are errors
bool print_findings(const Session& session, std::uint32_t file);

}  // namespace raddle::tool::repl
