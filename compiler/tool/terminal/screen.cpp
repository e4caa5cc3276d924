#include "compiler/tool/terminal/screen.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/tool/terminal/text_width.hpp"

namespace raddle::terminal {

namespace {

constexpr std::size_t most_words_below = 60;

/// Text laid out in rows of the terminal. Every row is closed: no style goes on into the next.
class Layout {
 public:
  explicit Layout(std::size_t columns) : columns_(std::max<std::size_t>(columns, 2)), rows_(1) {}

  void style(std::string_view style) {
    if (style == style_) return;
    if (!style_.empty()) rows_.back() += "\x1b[m";
    if (!style.empty()) rows_.back() += fmt::format("\x1b[{}m", style);
    style_ = style;
  }
  void put(std::string_view character, std::size_t width) {
    if (column_ + width > columns_) new_row();
    rows_.back() += character;
    column_ += width;
  }
  void put_text(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = next_character(text, at);
      put(text.substr(at, end - at), text_width(text.substr(at, end - at)));
      at = end;
    }
  }
  void new_row() {
    const std::string_view style = style_;
    this->style("");
    rows_.emplace_back();
    column_ = 0;
    this->style(style);
  }
  void mark_cursor() {
    if (column_ >= columns_) new_row();  // the cursor can not stand behind the last column
    cursor_row = rows_.size() - 1;
    cursor_column = column_;
  }
  std::vector<std::string>& rows() { return rows_; }
  std::size_t columns() const { return columns_; }

  std::size_t cursor_row = 0, cursor_column = 0;

 private:
  const std::size_t columns_;
  std::vector<std::string> rows_;
  std::size_t column_ = 0;
  std::string_view style_;
};

void put_text(Layout& layout, const View& view) {
  layout.style(view.prompt_style);
  layout.put_text(view.prompt);
  layout.style("");
  std::size_t next_style = 0;
  for (std::size_t at = 0; at <= view.text.size();) {
    if (at == view.cursor) layout.mark_cursor();
    if (at == view.text.size()) break;
    while (next_style < view.styles.size() && view.styles[next_style].end <= at) ++next_style;
    const bool is_styled = next_style < view.styles.size() && view.styles[next_style].begin <= at;
    const std::size_t end = next_character(view.text, at);
    if (view.text[at] == '\n') {
      layout.style("");
      layout.new_row();
      layout.style(view.prompt_style);
      layout.put_text(view.continuation);
      layout.style("");
    } else {
      layout.style(is_styled ? view.styles[next_style].style : "");
      const std::string_view character = view.text.substr(at, end - at);
      const bool is_control = static_cast<unsigned char>(character.front()) < 0x20;
      layout.put(is_control ? "?" : character, is_control ? 1 : text_width(character));
    }
    at = end;
  }
  layout.style("");
}

void put_words(Layout& layout, const std::vector<std::string>& words) {
  if (words.empty()) return;
  std::size_t widest = 0;
  const std::size_t shown = std::min(words.size(), most_words_below);
  for (std::size_t i = 0; i < shown; ++i) widest = std::max(widest, text_width(words[i]));
  const std::size_t in_row = std::max<std::size_t>(1, layout.columns() / (widest + 2));
  for (std::size_t i = 0; i < shown; ++i) {
    if (i % in_row == 0) layout.new_row();
    layout.put_text(words[i]);
    if (i % in_row + 1 < in_row) layout.put_text(std::string(widest + 2 - text_width(words[i]), ' '));
  }
  if (shown == words.size()) return;
  layout.new_row();
  layout.put_text(fmt::format("and {} more", words.size() - shown));
}

}  // namespace

std::string Screen::erase() {
  std::string out = "\r";
  if (cursor_row_ > 0) out += fmt::format("\x1b[{}A", cursor_row_);
  cursor_row_ = 0;
  return out + "\x1b[J";
}

std::string Screen::draw(const View& view) {
  Layout layout(size_.columns);
  put_text(layout, view);
  put_words(layout, view.below);
  // what does not fit is left out: rows that have scrolled away can not be drawn anew
  std::vector<std::string>& rows = layout.rows();
  const std::size_t height = std::max<std::size_t>(size_.rows, 1);
  const std::size_t first = layout.cursor_row >= height ? layout.cursor_row - height + 1 : 0;
  const std::size_t count = std::min(height, rows.size() - first);
  std::string out = "\x1b[?25l" + erase();
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : "\r\n") + rows[first + i];
  cursor_row_ = layout.cursor_row - first;
  if (count - 1 > cursor_row_) out += fmt::format("\x1b[{}A", count - 1 - cursor_row_);
  out += "\r";
  if (layout.cursor_column > 0) out += fmt::format("\x1b[{}C", layout.cursor_column);
  return out + "\x1b[?25h";
}

std::string Screen::finish(View view) {
  view.below.clear();
  view.cursor = view.text.size();
  std::string out = draw(view);
  cursor_row_ = 0;
  return out + "\r\n";
}

}  // namespace raddle::terminal
