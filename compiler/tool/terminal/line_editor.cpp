#include "compiler/tool/terminal/line_editor.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "compiler/tool/terminal/text_width.hpp"

namespace raddle::terminal {

namespace {

constexpr std::size_t most_undone = 200;
constexpr std::string_view indent = "  ";

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
}

bool is_blank(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
}

std::string common_start(const std::vector<std::string>& texts) {
  std::string start = texts.front();
  for (const std::string& text : texts) {
    std::size_t same = 0;
    while (same < start.size() && same < text.size() && start[same] == text[same]) ++same;
    start.resize(same);
  }
  return start;
}

}  // namespace

// ---------------------------------------------------------------- keys

EditorEvent LineEditor::handle(const Key& key) {
  if (is_searching_ && search(key)) return EditorEvent::none;
  if (key.kind != KeyKind::tab) candidates_.clear();
  const bool is_character = key.kind == KeyKind::text;
  const EditorEvent event = edit(key);
  is_typing_ = is_character;
  return event;
}

EditorEvent LineEditor::edit(const Key& key) {
  switch (key.kind) {
    case KeyKind::text:
      if (!is_typing_) remember();
      if (key.text == "}") close_block();
      insert(key.text);
      break;
    case KeyKind::paste:
      remember();
      insert(key.text);
      break;
    case KeyKind::control: return control(key.text.front());
    case KeyKind::alt: alt(key.text); break;
    case KeyKind::enter: return enter();
    case KeyKind::alt_enter: insert_line(); break;
    case KeyKind::tab: complete(); break;
    case KeyKind::back_tab:
    case KeyKind::escape: break;
    case KeyKind::backspace: erase(previous_character(text_, cursor_), cursor_); break;
    case KeyKind::alt_backspace: kill(word_left(cursor_), cursor_); break;
    case KeyKind::delete_: erase(cursor_, next_character(text_, cursor_)); break;
    case KeyKind::left: cursor_ = previous_character(text_, cursor_); break;
    case KeyKind::right: cursor_ = next_character(text_, cursor_); break;
    case KeyKind::up: move_line(-1); break;
    case KeyKind::down: move_line(1); break;
    case KeyKind::word_left: cursor_ = word_left(cursor_); break;
    case KeyKind::word_right: cursor_ = word_right(cursor_); break;
    case KeyKind::home: cursor_ = line_begin(cursor_); break;
    case KeyKind::end: cursor_ = line_end(cursor_); break;
    case KeyKind::page_up: walk_history(-1); break;
    case KeyKind::page_down: walk_history(1); break;
  }
  return EditorEvent::none;
}

EditorEvent LineEditor::control(char letter) {
  switch (letter) {
    case 'a': cursor_ = line_begin(cursor_); break;
    case 'b': cursor_ = previous_character(text_, cursor_); break;
    case 'c':
      if (text_.empty()) return EditorEvent::interrupt;
      remember();
      text_.clear();
      cursor_ = 0;
      walks_ = false;
      break;
    case 'd':
      if (text_.empty()) return EditorEvent::end;
      erase(cursor_, next_character(text_, cursor_));
      break;
    case 'e': cursor_ = line_end(cursor_); break;
    case 'f': cursor_ = next_character(text_, cursor_); break;
    case 'k': kill(cursor_, cursor_ == line_end(cursor_) ? next_character(text_, cursor_) : line_end(cursor_)); break;
    case 'l': return EditorEvent::clear_screen;
    case 'n': walk_history(1); break;
    case 'p': walk_history(-1); break;
    case 'r':
      is_searching_ = true;
      query_.clear();
      place_ = history_.entries().size();
      before_search_ = {text_, cursor_};
      break;
    case 't':
      if (cursor_ > 0 && !text_.empty()) {
        remember();
        const std::size_t end = next_character(text_, cursor_);
        const std::size_t middle = previous_character(text_, end), begin = previous_character(text_, middle);
        std::rotate(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                    text_.begin() + static_cast<std::ptrdiff_t>(middle),
                    text_.begin() + static_cast<std::ptrdiff_t>(end));
        cursor_ = end;
      }
      break;
    case 'u': kill(line_begin(cursor_), cursor_); break;
    case 'w': kill(word_left(cursor_), cursor_); break;
    case 'y':
      remember();
      insert(killed_);
      break;
    case 'z': return EditorEvent::suspend;
    case '_': undo(); break;
    default: break;
  }
  return EditorEvent::none;
}

void LineEditor::alt(const std::string& character) {
  if (character == "b") cursor_ = word_left(cursor_);
  if (character == "f") cursor_ = word_right(cursor_);
  if (character == "d") kill(cursor_, word_right(cursor_));
  if (character == "<") cursor_ = 0;
  if (character == ">") cursor_ = text_.size();
}

EditorEvent LineEditor::enter() {
  if (is_blank(text_)) {
    text_.clear();
    cursor_ = 0;
    return EditorEvent::submit;
  }
  // an empty last line ends an entry whatever it lacks: its error is told then
  const bool gives_up = cursor_ == text_.size() && is_blank(std::string_view(text_).substr(line_begin(cursor_))) &&
                        text_.find('\n') != std::string::npos;
  if (gives_up || !rules_.is_unfinished || !rules_.is_unfinished(text_)) return EditorEvent::submit;
  insert_line();
  return EditorEvent::none;
}

std::string LineEditor::take() {
  std::string entry = std::exchange(text_, "");
  while (!entry.empty() && (entry.back() == '\n' || entry.back() == ' ')) entry.pop_back();
  cursor_ = 0;
  walks_ = false;
  undo_.clear();
  candidates_.clear();
  history_.add(entry);
  return entry;
}

// ---------------------------------------------------------------- text

void LineEditor::insert(std::string_view text) {
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

/// Indented as the line before it, and deeper behind an opening bracket.
void LineEditor::insert_line() {
  remember();
  const std::string_view line = std::string_view(text_).substr(line_begin(cursor_), cursor_ - line_begin(cursor_));
  const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t last = line.find_last_not_of(' ');
  const bool opens =
      last != std::string_view::npos && std::string_view("{([").find(line[last]) != std::string_view::npos;
  insert("\n" + std::string(blanks, ' ') + std::string(opens ? indent : ""));
}

/// `}` as the first of its line stands as far left as the line of its `{`.
void LineEditor::close_block() {
  const std::size_t begin = line_begin(cursor_);
  if (begin == 0 || cursor_ - begin < indent.size()) return;
  if (!is_blank(std::string_view(text_).substr(begin, cursor_ - begin))) return;
  text_.erase(cursor_ - indent.size(), indent.size());
  cursor_ -= indent.size();
}

void LineEditor::erase(std::size_t begin, std::size_t end) {
  if (begin == end) return;
  remember();
  text_.erase(begin, end - begin);
  cursor_ = begin;
}

void LineEditor::kill(std::size_t begin, std::size_t end) {
  if (begin == end) return;
  killed_ = text_.substr(begin, end - begin);
  erase(begin, end);
}

void LineEditor::remember() {
  undo_.push_back({text_, cursor_});
  if (undo_.size() > most_undone) undo_.erase(undo_.begin());
}

void LineEditor::undo() {
  if (undo_.empty()) return;
  text_ = std::move(undo_.back().text);
  cursor_ = undo_.back().cursor;
  undo_.pop_back();
}

// ---------------------------------------------------------------- moving

std::size_t LineEditor::line_begin(std::size_t at) const {
  const std::size_t newline = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}

std::size_t LineEditor::line_end(std::size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

std::size_t LineEditor::word_left(std::size_t at) const {
  while (at > 0 && !is_word(text_[at - 1])) --at;
  while (at > 0 && is_word(text_[at - 1])) --at;
  return at;
}

std::size_t LineEditor::word_right(std::size_t at) const {
  while (at < text_.size() && !is_word(text_[at])) ++at;
  while (at < text_.size() && is_word(text_[at])) ++at;
  return at;
}

/// To the same column of the line above or below; beyond the first or last one, to other entries.
void LineEditor::move_line(int step) {
  const std::size_t begin = line_begin(cursor_);
  if (step < 0 ? begin == 0 : line_end(cursor_) == text_.size()) return walk_history(step);
  const std::string_view all = text_;
  const std::size_t column = text_width(all.substr(begin, cursor_ - begin));
  std::size_t at = step < 0 ? line_begin(begin - 1) : line_end(cursor_) + 1;
  const std::size_t end = line_end(at);
  for (std::size_t width = 0; at < end; at = next_character(all, at)) {
    width += text_width(all.substr(at, next_character(all, at) - at));
    if (width > column) break;
  }
  cursor_ = at;
}

/// To the next entry, older or newer, that begins as the text did before.
void LineEditor::walk_history(int step) {
  const std::vector<std::string>& entries = history_.entries();
  if (!walks_) {
    if (step > 0) return;
    own_text_ = text_;
    place_ = entries.size();
  }
  for (std::size_t at = place_; step < 0 ? at > 0 : at < entries.size();) {
    at += static_cast<std::size_t>(step);
    if (at < entries.size() && !entries[at].starts_with(own_text_)) continue;
    place_ = at;
    walks_ = at < entries.size();
    text_ = walks_ ? entries[at] : own_text_;
    cursor_ = text_.size();
    return;
  }
}

// ---------------------------------------------------------------- search

std::string LineEditor::search_prompt() const { return "search `" + query_ + "`: "; }

/// The newest entry before that place which has the query in it.
void LineEditor::find_older(std::size_t before) {
  const std::vector<std::string>& entries = history_.entries();
  for (std::size_t at = std::min(before, entries.size()); at-- > 0;) {
    const std::size_t found = entries[at].find(query_);
    if (found == std::string::npos) continue;
    place_ = at;
    text_ = entries[at];
    cursor_ = found;
    return;
  }
}

/// @return false: the search has ended, and the key is for the text that was found
bool LineEditor::search(const Key& key) {
  const bool gives_up = key.kind == KeyKind::control && (key.text == "g" || key.text == "c");
  if (key.kind == KeyKind::text) {
    query_ += key.text;
    find_older(history_.entries().size());
    return true;
  }
  if (key.kind == KeyKind::backspace) {
    query_.erase(previous_character(query_, query_.size()));
    find_older(history_.entries().size());
    return true;
  }
  if (key.kind == KeyKind::control && key.text == "r") {
    find_older(place_);
    return true;
  }
  is_searching_ = false;
  if (gives_up || key.kind == KeyKind::escape) {
    text_ = before_search_.text;
    cursor_ = before_search_.cursor;
    return true;
  }
  return false;
}

// ---------------------------------------------------------------- completion

void LineEditor::complete() {
  const std::string_view before = std::string_view(text_).substr(line_begin(cursor_), cursor_ - line_begin(cursor_));
  if (is_blank(before)) {
    remember();
    return insert(indent);
  }
  if (!rules_.complete) return;
  const Completions found = rules_.complete(text_, cursor_);
  candidates_.clear();
  if (found.candidates.empty()) return;
  const std::string start = common_start(found.candidates);
  if (start.size() > cursor_ - found.begin) {
    remember();
    text_.replace(found.begin, cursor_ - found.begin, start);
    cursor_ = found.begin + start.size();
  } else if (found.candidates.size() > 1) {
    candidates_ = found.candidates;
  }
}

}  // namespace raddle::terminal
