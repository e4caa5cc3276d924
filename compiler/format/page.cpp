#include "compiler/format/page.hpp"

#include <algorithm>

#include "compiler/format/pieces.hpp"

namespace raddle::format {

namespace {

constexpr std::size_t comment_gap = 2;  ///< blanks between code and comment

std::size_t width_of_code(const Page::Line& line) {
  const std::size_t newline = line.code.rfind('\n');
  if (newline != std::string::npos) return width_of(std::string_view(line.code).substr(newline + 1));
  return line.indent + width_of(line.code);
}

}  // namespace

Page::Line& Page::begin(std::size_t indent, bool blank) {
  const bool first = lines_.empty();
  Line& line = lines_.emplace_back();
  line.indent = indent;
  line.blank_before = blank && !first;
  return line;
}

/// Behind the lines from `first` on whose comments stand in one column: neighbours with equal indentation.
std::size_t Page::end_of_column(std::size_t first) const {
  std::size_t last = first + 1;
  while (last < lines_.size() && !lines_[last].comment.empty() && !lines_[last].blank_before &&
         (lines_[last].follows_comment || lines_[last].indent == lines_[first].indent))
    ++last;
  return last;
}

/// @return 0 if the lines would become too long: then each comment stands right behind its code
std::size_t Page::column_of_comments(std::size_t first, std::size_t last) const {
  std::size_t column = 0;
  for (std::size_t i = first; i < last; ++i)
    if (!lines_[i].follows_comment) column = std::max(column, width_of_code(lines_[i]) + comment_gap);
  const bool fits = std::all_of(lines_.begin() + static_cast<std::ptrdiff_t>(first),
                                lines_.begin() + static_cast<std::ptrdiff_t>(last), [&](const Line& line) {
                                  return column + width_of(line.comment) <= line_width ||
                                         (!line.follows_comment && width_of_code(line) + comment_gap == column);
                                });
  return fits ? column : 0;
}

std::string Page::text() const {
  std::string out;
  std::size_t last = 0;    // of the lines whose comments stand in one column
  std::size_t column = 0;  // 0: none
  std::size_t previous = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    if (line.blank_before) out += '\n';
    if (!line.code.empty()) out.append(line.indent, ' ').append(line.code);
    if (!line.comment.empty()) {
      if (i >= last) {
        last = end_of_column(i);
        column = column_of_comments(i, last);
      }
      const std::size_t width = line.follows_comment ? 0 : width_of_code(line);
      const std::size_t own = line.follows_comment ? previous : width + comment_gap;
      previous = column != 0 ? column : own;
      out.append(previous - width, ' ').append(line.comment);
    }
    out += '\n';
  }
  return out;
}

}  // namespace raddle::format
