#pragma once
// From the bytes that a terminal sends to keys.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::terminal {

enum class KeyKind : std::uint8_t {
  text,     ///< `text` is one character
  paste,    ///< `text` came at once
  control,  ///< Ctrl and the letter in `text`, in lower case
  alt,      ///< Alt and the character in `text`
  enter,
  alt_enter,
  tab,
  back_tab,
  escape,
  backspace,
  alt_backspace,
  delete_,
  left,
  right,
  up,
  down,
  word_left,
  word_right,
  home,
  end,
  page_up,
  page_down,
};

struct Key {
  KeyKind kind = KeyKind::text;
  std::string text = {};
  bool operator==(const Key&) const = default;
};

/// Keeps what is not a whole key yet. Sequences that mean nothing here are dropped.
class KeyDecoder {
 public:
  std::vector<Key> feed(std::string_view bytes);
  /// Bytes are there that may be a key by themselves, or the beginning of one.
  bool is_waiting() const { return is_pasting_ || !kept_.empty(); }
  /// How long the next byte of the same key may take.
  std::chrono::milliseconds patience() const { return std::chrono::milliseconds(is_pasting_ ? 1000 : 40); }
  /// No more bytes have come for so long: an Escape that waits is the key itself, and what was pasted is what is there,
  /// be it that its end was lost.
  std::vector<Key> flush();

 private:
  /// Takes a key from the front of kept_. @return false: more bytes are needed
  bool take(std::vector<Key>& keys);
  bool take_escape(std::vector<Key>& keys);
  bool take_sequence(std::vector<Key>& keys, std::size_t begin);
  bool take_paste(std::vector<Key>& keys);
  void drop(std::size_t count) { kept_.erase(0, count); }

  std::string kept_;
  bool is_pasting_ = false;
};

}  // namespace raddle::terminal
