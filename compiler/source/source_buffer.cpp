#include "compiler/source/source_buffer.hpp"

#include <algorithm>

namespace raddle {

SourceBuffer::SourceBuffer(std::string path, std::string text, std::optional<Span> included_at)
    : path_(std::move(path)), text_(std::move(text)), included_at_(included_at) {
  line_starts_.push_back(0);
  for (std::uint32_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
}

LineColumn SourceBuffer::position(std::uint32_t offset) const {
  offset = std::min<std::uint32_t>(offset, static_cast<std::uint32_t>(text_.size()));
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::uint32_t>(after - line_starts_.begin());
  std::uint32_t column = 1;
  for (std::uint32_t i = line_starts_[line - 1]; i < offset; ++i)
    if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++column;
  return {line, column};
}

std::string_view SourceBuffer::line(std::uint32_t line) const {
  if (line == 0 || line > line_starts_.size()) return {};
  const std::uint32_t begin = line_starts_[line - 1];
  std::uint32_t end = line < line_starts_.size() ? line_starts_[line] - 1 : static_cast<std::uint32_t>(text_.size());
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

std::vector<const MacroUse*> SourceBuffer::macro_uses(Span range) const {
  std::vector<const MacroUse*> uses;
  auto at = std::ranges::lower_bound(macro_uses_, range.begin, {}, [](const MacroUse& one) { return one.use.begin; });
  for (; at != macro_uses_.end() && at->use.end <= range.end; ++at) uses.push_back(&*at);
  return uses;
}

std::uint32_t SourceMap::add(std::string path, std::string text, std::optional<Span> included_at) {
  buffers_.emplace_back(std::move(path), std::move(text), included_at);
  return static_cast<std::uint32_t>(buffers_.size() - 1);
}

std::uint32_t SourceMap::add_inlined(std::uint32_t file, Span call) {
  inlined_.push_back({file, call});
  return first_inlined + static_cast<std::uint32_t>(inlined_.size() - 1);
}

std::string SourceMap::describe(Span span) const {
  const LineColumn at_position = position(span);
  return at(span.file).path() + ":" + std::to_string(at_position.line) + ":" + std::to_string(at_position.column);
}

}  // namespace raddle
