#pragma once
// What messages to processes are made of: letters, numbers of 8 bytes (little endian) and texts, each with its length
// before it.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace raddle::vm {

inline void put(std::string& to, std::int64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

inline void put(std::string& to, std::string_view text) {
  put(to, static_cast<std::int64_t>(text.size()));
  to += text;
}

/// Reads nothing beyond the end: then it is not `ok`, and what is read is 0 or "".
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : rest_(message) {}
  char letter() {
    const std::string_view part = take(1);
    return part.empty() ? '\0' : part[0];
  }
  std::int64_t number() {
    std::int64_t number = 0;
    if (const std::string_view part = take(sizeof number); !part.empty())
      std::memcpy(&number, part.data(), sizeof number);
    return number;
  }
  std::string_view text() {
    const std::int64_t size = number();
    return size <= 0 ? std::string_view() : take(static_cast<std::size_t>(size));
  }
  bool is_ok() const { return is_ok_; }
  /// What has been read makes no sense.
  void give_up() {
    is_ok_ = false;
    rest_ = {};
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      give_up();
      return {};
    }
    const std::string_view part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }
  std::string_view rest_;
  bool is_ok_ = true;
};

}  // namespace raddle::vm
