#pragma once
// An interactive session without its terminal: entries run in the background, beside each other, each going on from the
// variables of those before it.
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/tool/executable/executable.hpp"
#include "compiler/tool/repl/live_variable.hpp"
#include "compiler/tool/repl/piece_compiler.hpp"
#include "compiler/tool/repl/saved_script.hpp"
#include "compiler/tool/command/session.hpp"
#include "vm/interpret/workspace.hpp"

namespace raddle::tool::repl {

/// A piece of text that was compiled and started. Kept for good: values refer to names in its program.
struct Entry {
  std::string text;
  std::uint32_t file = 0;
  std::uint32_t line = 0;  ///< of the session
  LiveVariables inputs;    ///< that are read
  LiveVariables outputs;   ///< in the order of the program's
  LiveVariables values;    ///< of an expression: what it is to show
  std::vector<std::string> redefined, forgotten;
  EnteredText entered;
  std::unique_ptr<Executable> executable;  ///< of an entry that has ended, its program only
  // while it runs or waits:
  vm::RunOptions options;
  vm::Workspace::Activity* activity = nullptr;
  std::set<std::pair<vm::Place, std::string>> failures_told, replaced_told;

  bool has_ended() const { return activity == nullptr; }
  bool has_failed() const { return !failures_told.empty(); }
};

class LiveSession {
 public:
  /// Findings go to stderr.
  LiveSession(Session& session, vm::RunOptions options);
  /// Ends what runs.
  ~LiveSession();

  /// Compiles and starts what was typed. @return null, after messages, if there are errors
  Entry* submit(const Typed& typed);
  /// Prints what has failed since it was last called, and lets go of what has ended.
  void look();
  /// Nothing runs: what has not ended waits for variables that are unset.
  bool is_at_rest() const { return workspace_->is_at_rest(); }
  /// @return is_at_rest()
  bool wait_for_rest(std::chrono::milliseconds most) const { return workspace_->wait_for_rest(most); }
  /// Ends what runs or waits; its variables fail with that reason. @return their names
  std::vector<std::string> stop(const std::string& reason);
  /// Prints what has failed first. @pre the variable has failed
  void explain_failure(const LiveVariable& variable);
  /// Prints why an entry does not go on. @pre is_at_rest()
  void explain(Entry& entry);

  /// What was entered, in order, as a script.
  SavedScript script() const;

  std::shared_ptr<LiveVariable> find(const std::string& name) const;
  LiveVariables variables() const;  ///< by name
  std::vector<Entry*> live_entries() const;
  std::uint32_t line_of(const LiveVariable& variable) const;
  PieceCompiler& pieces() { return pieces_; }
  const PieceCompiler& pieces() const { return pieces_; }
  /// Some computation could not be ended: the process must end without destructors.
  bool is_abandoned() const { return is_abandoned_; }
  /// Some entry had errors, or failed.
  bool has_failed() const { return has_failed_; }

 private:
  void start(Entry& entry);
  void tell_failures(Entry& entry);
  void end(Entry& entry);
  void replace_value(LiveVariable& variable, const std::string& reason);

  Session& session_;
  const vm::RunOptions options_;
  PieceCompiler pieces_;
  std::vector<std::unique_ptr<Entry>> entries_;
  vm::Future nothing_;                        ///< in place of inputs that are not read, so that they are not waited for
  std::unique_ptr<vm::Workspace> workspace_;  ///< after what it works on
  bool is_abandoned_ = false;
  bool has_failed_ = false;
  bool has_looked_at_rest_ = false;  ///< since something was started
};

}  // namespace raddle::tool::repl
