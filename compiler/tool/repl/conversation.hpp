#pragma once
// What a session says to what is typed: entries are run and their values shown, now or when they come; commands.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/repl/live_session.hpp"
#include "compiler/tool/terminal/screen.hpp"

namespace raddle::tool::repl {

/// What the conversation needs of the terminal.
struct Surroundings {
  std::function<terminal::Size()> size;
  /// Waits so long at most. @return true: Ctrl-C was typed meanwhile
  std::function<bool(std::chrono::milliseconds most)> is_interrupted;
  bool has_colour = false;
  bool has_prompt = true;  ///< without one, each entry is waited for
};

class Conversation {
 public:
  Conversation(Session& session, vm::RunOptions options, Surroundings surroundings);

  /// Runs an entry or a command; gives it a moment, then it goes on in the background. @return false: `:quit`
  bool answer(const std::string& text);
  /// Runs a script as an entry.
  void load(const std::string& path);
  /// Tells what has happened since it was last called.
  void look();
  /// Ctrl-C: ends what runs or waits.
  void interrupt();
  /// The session is over: ends what runs, as far as it can be ended.
  void end();
  /// Nothing more is typed: tells why entries that still wait do not go on. @return whether there are such
  bool tell_stuck();
  /// An entry had errors or failed, or a command could not be carried out.
  bool has_failed() const { return has_failed_ || live_->has_failed(); }
  /// Entries run or wait.
  bool is_busy() const { return !live_->live_entries().empty(); }
  /// Some computation could not be ended: the process must end without destructors.
  bool is_abandoned() const { return has_abandoned_ || live_->is_abandoned(); }
  unsigned workers() const { return options_.workers; }
  /// Of what is typed next.
  std::uint32_t line() const { return line_; }
  const LiveSession& session() const { return *live_; }
  static std::vector<std::string> commands();

 private:
  using Clock = std::chrono::steady_clock;
  /// A variable whose value is to be told when it comes.
  struct Promise {
    std::shared_ptr<LiveVariable> variable;
    std::string what;  ///< the text of the expression, or the variable's name
    /// Whose value that is: the variable that the expression names, else the variable itself.
    std::shared_ptr<LiveVariable> subject;
  };
  struct Command {
    std::string_view name, argument, summary;
    void (Conversation::*run)(const std::string& argument);
  };
  static const std::vector<Command>& command_list();

  void command(const std::string& text);
  void answer_entry(const std::string& text);
  void run_entry(const Typed& typed, bool waits_for_end);
  void await(Entry& entry, bool waits_for_end);
  /// @param expression  whose value is shown; "": there is none
  void report(const LiveVariables& values, const LiveVariables& outputs, const std::string& expression);
  void say(std::string_view text) const;
  void say_aside(std::string_view text) const;
  /// Says what could not be done.
  void refuse(std::string_view text);
  std::string state_of(const LiveVariable& variable) const;
  std::string awaited_by(const Entry& entry) const;
  std::string value_text(const LiveVariable& variable) const;

  void help(const std::string& argument);
  void type(const std::string& argument);
  void time(const std::string& argument);
  void why(const std::string& argument);
  void tasks(const std::string& argument);
  void vars(const std::string& argument);
  void plot(const std::string& argument);
  void save(const std::string& argument);
  void reset(const std::string& argument);
  void quit(const std::string& argument);

  Session& session_;
  const Surroundings surroundings_;
  const vm::RunOptions options_;
  std::unique_ptr<LiveSession> live_;
  std::vector<Promise> promises_;
  std::uint32_t line_ = 1;
  bool has_quit_ = false;
  bool has_abandoned_ = false;  ///< a session before the last :reset
  bool has_failed_ = false;     ///< a command, or an entry before the last :reset
};

}  // namespace raddle::tool::repl
