#include "compiler/tool/terminal/keys.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace raddle::terminal {

namespace {

constexpr char escape = '\x1b';
constexpr std::string_view paste_end = "\x1b[201~";

struct Sequence {
  std::string_view text;  ///< behind `ESC [` or `ESC O`
  KeyKind kind;
};
constexpr std::array sequences = {
    Sequence{"A", KeyKind::up},           Sequence{"B", KeyKind::down},          Sequence{"C", KeyKind::right},
    Sequence{"D", KeyKind::left},         Sequence{"H", KeyKind::home},          Sequence{"F", KeyKind::end},
    Sequence{"Z", KeyKind::back_tab},     Sequence{"1~", KeyKind::home},         Sequence{"4~", KeyKind::end},
    Sequence{"7~", KeyKind::home},        Sequence{"8~", KeyKind::end},          Sequence{"3~", KeyKind::delete_},
    Sequence{"5~", KeyKind::page_up},     Sequence{"6~", KeyKind::page_down},    Sequence{"1;5C", KeyKind::word_right},
    Sequence{"1;5D", KeyKind::word_left}, Sequence{"1;3C", KeyKind::word_right}, Sequence{"1;3D", KeyKind::word_left},
    Sequence{"5C", KeyKind::word_right},  Sequence{"5D", KeyKind::word_left},    Sequence{"M", KeyKind::enter}};

std::size_t length_of(unsigned char first) {
  return first >= 0xF0 && first < 0xF8 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xC2 && first < 0xE0 ? 2 : 1;
}

/// Line ends as the editor has them; no other control characters.
std::string cleaned(std::string_view pasted) {
  std::string text;
  for (std::size_t i = 0; i < pasted.size(); ++i) {
    const char c = pasted[i];
    if (c == '\r') {
      text += '\n';
      if (i + 1 < pasted.size() && pasted[i + 1] == '\n') ++i;
    } else if (c == '\t') {
      text += "  ";
    } else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n') {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  kept_ += bytes;
  std::vector<Key> keys;
  while (!kept_.empty() && take(keys)) {
  }
  return keys;
}

std::vector<Key> KeyDecoder::flush() {
  std::vector<Key> keys;
  if (is_pasting_) {
    keys.push_back({KeyKind::paste, cleaned(kept_)});
    kept_.clear();
    is_pasting_ = false;
    return keys;
  }
  if (kept_.empty()) return keys;
  if (kept_.front() == escape) {
    keys.push_back({KeyKind::escape});
    drop(1);
  } else {
    drop(1);  // half a character
  }
  for (const Key& key : feed("")) keys.push_back(key);
  return keys;
}

bool KeyDecoder::take(std::vector<Key>& keys) {
  if (is_pasting_) return take_paste(keys);
  const auto first = static_cast<unsigned char>(kept_.front());
  if (first == escape) return take_escape(keys);
  if (first == '\r' || first == '\n') {
    keys.push_back({KeyKind::enter});
  } else if (first == '\t') {
    keys.push_back({KeyKind::tab});
  } else if (first == 0x7F || first == 0x08) {
    keys.push_back({KeyKind::backspace});
  } else if (first < 0x20) {
    keys.push_back({KeyKind::control, std::string(1, static_cast<char>(first == 0x1F ? '_' : first + 0x60))});
  } else {
    const std::size_t length = length_of(first);
    if (kept_.size() < length) return false;
    keys.push_back({KeyKind::text, kept_.substr(0, length)});
    drop(length);
    return true;
  }
  drop(1);
  return true;
}

bool KeyDecoder::take_escape(std::vector<Key>& keys) {
  if (kept_.size() < 2) return false;
  const char next = kept_[1];
  if (next == '[' || next == 'O') return take_sequence(keys, 2);
  if (next == escape) {
    keys.push_back({KeyKind::escape});
    drop(1);
    return true;
  }
  if (next == '\r' || next == '\n') {
    keys.push_back({KeyKind::alt_enter});
  } else if (next == 0x7F || next == 0x08) {
    keys.push_back({KeyKind::alt_backspace});
  } else {
    const std::size_t length = length_of(static_cast<unsigned char>(next));
    if (kept_.size() < 1 + length) return false;
    keys.push_back({KeyKind::alt, kept_.substr(1, length)});
    drop(1 + length);
    return true;
  }
  drop(2);
  return true;
}

bool KeyDecoder::take_sequence(std::vector<Key>& keys, std::size_t begin) {
  std::size_t end = begin;
  while (end < kept_.size() && (kept_[end] < 0x40 || kept_[end] > 0x7E)) ++end;
  if (end == kept_.size()) return false;
  const std::string text = kept_.substr(begin, end + 1 - begin);
  drop(end + 1);
  if (text == "200~") {
    is_pasting_ = true;
    return true;
  }
  const auto known = std::ranges::find(sequences, text, &Sequence::text);
  if (known != sequences.end()) keys.push_back({known->kind});
  return true;
}

bool KeyDecoder::take_paste(std::vector<Key>& keys) {
  const std::size_t end = kept_.find(paste_end);
  if (end == std::string::npos) return false;
  keys.push_back({KeyKind::paste, cleaned(std::string_view(kept_).substr(0, end))});
  drop(end + paste_end.size());
  is_pasting_ = false;
  return true;
}

}  // namespace raddle::terminal
