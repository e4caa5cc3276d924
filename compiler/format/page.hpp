#pragma once
// The formatted text, line by line. Private to compiler/format.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::format {

class Page {
 public:
  struct Line {
    std::size_t indent = 0;
    std::string code;     ///< may hold newlines, those of strings and comments
    std::string comment;  ///< at its end
    bool blank_before = false;
    bool follows_comment = false;      ///< no code: it goes on with the comment of the line above
    std::uint32_t comment_column = 0;  ///< where the author put the comment
  };

  /// Begins a line. @param blank  a blank line before it, if it is not the first
  Line& begin(std::size_t indent, bool blank);
  bool empty() const { return lines_.empty(); }
  std::size_t size() const { return lines_.size(); }
  Line& back() { return lines_.back(); }
  const Line& back() const { return lines_.back(); }
  /// The whole text; comments at the ends of neighbouring lines are put below each other.
  std::string text() const;

 private:
  std::size_t end_of_column(std::size_t first) const;
  std::size_t column_of_comments(std::size_t first, std::size_t last) const;

  std::vector<Line> lines_;
};

}  // namespace raddle::format
