#include "compiler/tool/terminal/text_width.hpp"

#include <algorithm>
#include <iterator>

namespace raddle::terminal {

namespace {

constexpr char32_t replacement = 0xFFFD;

struct Range {
  char32_t first, last;
};

/// Combining marks, zero-width ones, selectors of variants.
constexpr Range zero_width[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},   {0x06D6, 0x06DC},
    {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x2064},
    {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0x1F3FB, 0x1F3FF}, {0xE0100, 0xE01EF}};

/// East Asian wide and full-width ones, emoji.
constexpr Range wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26A1, 0x26A1},   {0x26BD, 0x26BE},   {0x2705, 0x2705},
    {0x274C, 0x274C},   {0x2753, 0x2755},   {0x2795, 0x2797},   {0x2B1B, 0x2B1C},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <std::size_t count>
bool is_in(const Range (&ranges)[count], char32_t character) {
  const Range* found = std::upper_bound(std::begin(ranges), std::end(ranges), character,
                                        [](char32_t value, const Range& range) { return value < range.first; });
  return found != std::begin(ranges) && character <= std::prev(found)->last;
}

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

char32_t take_character(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const std::size_t more = first >= 0xF0 && first < 0xF8   ? 3
                           : first >= 0xE0 && first < 0xF0 ? 2
                           : first >= 0xC2                 ? 1
                                                           : 0;
  if (more == 0 || at + more > text.size()) return replacement;
  char32_t character = first & (0x3Fu >> more);
  for (std::size_t i = 0; i < more; ++i) {
    if (!continues(text[at + i])) return replacement;
    character = character << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
  }
  at += more;
  return character;
}

std::size_t width_of(char32_t character) {
  if (character < 0x300) return 1;
  if (is_in(zero_width, character)) return 0;
  return is_in(wide, character) ? 2 : 1;
}

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) width += width_of(take_character(text, at));
  return width;
}

std::size_t next_character(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  take_character(text, at);
  while (at < text.size()) {
    std::size_t behind = at;
    if (width_of(take_character(text, behind)) != 0) break;
    at = behind;
  }
  return at;
}

std::size_t previous_character(std::string_view text, std::size_t at) {
  while (at > 0) {
    --at;
    while (at > 0 && continues(text[at])) --at;
    std::size_t behind = at;
    if (width_of(take_character(text, behind)) != 0) break;
  }
  return at;
}

}  // namespace raddle::terminal
