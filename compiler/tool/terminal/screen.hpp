#pragma once
// Draws what is being edited at the bottom of what was printed: from text to escape sequences. Pure: whoever uses it
// writes them.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::terminal {

/// A colour or weight: what stands between `ESC [` and `m`; "": none.
struct StyledRange {
  std::size_t begin = 0, end = 0;  ///< bytes of the text
  std::string_view style;
};

struct View {
  std::string prompt;        ///< before the first line
  std::string continuation;  ///< before others, of the same width
  std::string_view prompt_style;
  std::string_view text;
  std::size_t cursor = 0;
  std::vector<StyledRange> styles;  ///< in order, not overlapping
  std::vector<std::string> below;   ///< words, shown in columns
};

struct Size {
  std::size_t columns = 80, rows = 24;
};

class Screen {
 public:
  void resize(Size size) { size_ = size; }
  Size size() const { return size_; }
  /// In place of what was drawn before.
  std::string draw(const View& view);
  /// Takes away what is drawn: the cursor stands where it began.
  std::string erase();
  /// Leaves it, without what is below, as part of what was printed: the cursor stands in a new line behind it.
  std::string finish(View view);

 private:
  Size size_;
  std::size_t cursor_row_ = 0;  ///< rows between where the drawing begins and the cursor
};

}  // namespace raddle::terminal
