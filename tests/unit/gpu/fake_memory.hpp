#pragma once
// The memory of cards that are not there.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

namespace raddle::gpu {

inline constexpr std::uint64_t tag = std::uint64_t{1} << 60;  ///< of addresses on a card
inline void* host(std::uint64_t address) { return reinterpret_cast<void*>(address & ~tag); }

[[noreturn]] inline void end(const char* why) {
  std::fprintf(stderr, "fake driver: %s\n", why);
  std::abort();
}

/// What is allocated on all cards.
class FakeMemory {
 public:
  ~FakeMemory() { forget_all(); }
  /// @param all  bytes of the card  @param context  the card's
  bool allocate(std::uint64_t& address, std::size_t bytes, std::size_t all, const void* context) {
    const std::lock_guard lock(mutex_);
    if (bytes > all - std::min(all, taken_[context])) return false;
    const std::size_t rounded = (bytes + 255) / 256 * 256;
    void* const memory = std::aligned_alloc(256, rounded);
    std::memset(memory, 0xcb, rounded);
    address = reinterpret_cast<std::uint64_t>(memory) | tag;
    pieces_[address] = {bytes, context};
    taken_[context] += bytes;
    return true;
  }
  void free(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto piece = pieces_.find(address);
    if (piece == pieces_.end()) end("what is freed is not allocated");
    taken_[piece->second.context] -= piece->second.bytes;
    pieces_.erase(piece);
    std::free(host(address));
  }
  /// What a card that has failed has not given back.
  void forget_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& [address, piece] : pieces_) std::free(host(address));
    pieces_.clear(), taken_.clear();
  }
  /// @param own  the context of who uses it
  void need(std::uint64_t address, std::size_t bytes, const void* own) {
    const std::lock_guard lock(mutex_);
    auto piece = pieces_.upper_bound(address);
    if (piece == pieces_.begin()) end("an address on a card is not allocated");
    --piece;
    if (address + bytes > piece->first + piece->second.bytes) end("an address on a card is not allocated");
    if (piece->second.context != own) end("an address is one of another card");
  }
  std::size_t left(std::size_t all, const void* context) {
    const std::lock_guard lock(mutex_);
    return all - std::min(all, taken_[context]);
  }

 private:
  struct Piece {
    std::size_t bytes;
    const void* context;
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Piece> pieces_;
  std::map<const void*, std::size_t> taken_;  ///< by context
};

/// Memory of the host's that a driver has pinned.
class PinnedMemory {
 public:
  void add(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto begin = reinterpret_cast<std::uint64_t>(memory);
    const auto above = pieces_.lower_bound(begin);
    const bool is_in_another = above != pieces_.begin() && std::prev(above)->second > begin;
    if (is_in_another || (above != pieces_.end() && above->first < begin + bytes)) end("memory is pinned twice");
    pieces_[begin] = begin + bytes;
  }
  void remove(const void* memory) {
    const std::lock_guard lock(mutex_);
    pieces_.erase(reinterpret_cast<std::uint64_t>(memory));
  }
  /// For a copy; in processes that have other things than a driver all memory is right.
  void need(const void* memory, std::size_t bytes) {
    static const bool is_server = has_word("-gpu-server");
    if (!is_server) return;
    const std::lock_guard lock(mutex_);
    const auto begin = reinterpret_cast<std::uint64_t>(memory);
    const auto above = pieces_.upper_bound(begin);
    if (above == pieces_.begin() || std::prev(above)->second < begin + bytes)
      end("a copy is to be from or to memory that is not pinned");
  }

 private:
  /// Of this process's command line.
  static bool has_word(const char* word) {
    std::ifstream words("/proc/self/cmdline");
    return std::string(std::istreambuf_iterator<char>(words), {}).contains(word);
  }
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> pieces_;  ///< end, by first byte
};

}  // namespace raddle::gpu
