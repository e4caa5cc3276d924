#pragma once
// Editing of an entry of one or more lines: keys go in, text and cursor come out. Knows nothing of the terminal.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/terminal/history.hpp"
#include "compiler/tool/terminal/keys.hpp"

namespace raddle::terminal {

/// What could stand in place of the text from `begin` to the cursor.
struct Completions {
  std::size_t begin = 0;
  std::vector<std::string> candidates;  ///< each once, sorted
};

/// What the editor asks about the language. Each may be empty.
struct EditorRules {
  /// Is there more to come? Then Enter begins a new line.
  std::function<bool(const std::string& text)> is_unfinished = {};
  std::function<Completions(std::string_view text, std::size_t cursor)> complete = {};
};

enum class EditorEvent : std::uint8_t {
  none,
  submit,        ///< the entry is whole: take() it
  interrupt,     ///< Ctrl-C on an empty entry
  end,           ///< Ctrl-D on an empty entry
  clear_screen,  ///< Ctrl-L
  suspend,       ///< Ctrl-Z
};

class LineEditor {
 public:
  LineEditor(EditorRules rules, History& history) : rules_(std::move(rules)), history_(history) {}

  EditorEvent handle(const Key& key);
  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }  ///< in bytes
  /// To be shown below the text: candidates of a completion.
  const std::vector<std::string>& candidates() const { return candidates_; }
  bool is_searching() const { return is_searching_; }
  /// To be shown in place of the prompt while is_searching().
  std::string search_prompt() const;
  /// The entry, which is empty then and part of the history.
  std::string take();

 private:
  EditorEvent edit(const Key& key);
  EditorEvent control(char letter);
  void alt(const std::string& character);
  EditorEvent enter();
  bool search(const Key& key);
  void find_older(std::size_t before);
  void insert(std::string_view text);
  void insert_line();
  void close_block();
  void erase(std::size_t begin, std::size_t end);
  void kill(std::size_t begin, std::size_t end);
  void move_line(int step);
  void walk_history(int step);
  void complete();
  void remember();
  void undo();

  std::size_t line_begin(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;
  std::size_t word_left(std::size_t at) const;
  std::size_t word_right(std::size_t at) const;

  EditorRules rules_;
  History& history_;
  std::string text_;
  std::size_t cursor_ = 0;
  std::string killed_;
  std::vector<std::string> candidates_;

  struct State {
    std::string text;
    std::size_t cursor;
  };
  std::vector<State> undo_;
  bool is_typing_ = false;  ///< further characters belong to the last step of undo_

  bool walks_ = false;     ///< the text is one of the history's
  std::size_t place_ = 0;  ///< in the history
  std::string own_text_;   ///< what was there before walking

  bool is_searching_ = false;
  std::string query_;
  State before_search_;
};

}  // namespace raddle::terminal
