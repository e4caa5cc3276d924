#include "compiler/source/expanded_text.hpp"

#include <algorithm>

namespace raddle {

void ExpandedText::append(std::string_view part, Span from, PartOrigin origin) {
  if (part.empty()) return;
  const bool goes_on = !parts_.empty() && origin == PartOrigin::copied && parts_.back().origin == origin &&
                       parts_.back().from.file == from.file && parts_.back().from.end == from.begin;
  if (goes_on)
    parts_.back().from.end = from.end;
  else
    parts_.push_back({static_cast<std::uint32_t>(text_.size()), from, origin});
  text_ += part;
}

const ExpandedText::Part& ExpandedText::part_at(std::uint32_t offset) const {
  const auto after = std::ranges::upper_bound(parts_, offset, {}, [](const Part& part) { return part.begin; });
  return *std::prev(after);
}

Span ExpandedText::span(std::uint32_t begin, std::uint32_t end) const {
  if (begin >= text_.size()) return end_;
  const Part& first = part_at(begin);
  const Part& last = part_at(std::max(begin, end - (end > begin ? 1 : 0)));
  const auto in_copied = [](const Part& part, std::uint32_t offset) {
    return std::min(part.from.begin + (offset - part.begin), part.from.end);
  };
  Span span = first.from;
  if (first.origin == PartOrigin::copied) span.begin = in_copied(first, begin);
  if (last.from.file == first.from.file && last.from.end > span.begin)
    span.end = last.origin == PartOrigin::copied ? in_copied(last, end) : last.from.end;
  return span;
}

}  // namespace raddle
