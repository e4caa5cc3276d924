// Calls of AppKernels on one GPU. A bundle of them is one copy to the card, one launch, one copy back: what its calls
// read, but for large arrays, lies side by side with their words, and what they fill with their results.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "gpu/call_queue.hpp"
#include "gpu/cuda/card.hpp"

namespace raddle::gpu {

namespace {

constexpr unsigned lanes_of_call = 32;
constexpr std::size_t piece_alignment = 64;  ///< of each array in a bundle
constexpr int wrong_value = 1;               ///< CUDA_ERROR_INVALID_VALUE

bool is_large(const vm::AddressedMemory& memory) { return memory.size_bytes >= CallQueue::large_bytes; }

/// Where things lie that follow each other.
class Layout {
 public:
  std::size_t add(std::size_t size_bytes) {
    const std::size_t place = size_;
    size_ += (size_bytes + piece_alignment - 1) / piece_alignment * piece_alignment;
    return place;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

/// Of a bundle: what calls read, their words, what they return, what they fill.
struct BundleLayout {
  explicit BundleLayout(std::span<const vm::DeviceCall> calls) {
    Layout layout;
    for (const vm::DeviceCall& call : calls)
      for (const vm::AddressedMemory& memory : call.read)
        if (const auto array = array_of(call, memory); !is_large(memory) && !read.contains(array))
          read[array] = layout.add(memory.size_bytes);
    words = layout.add(calls.size() * calls.front().words.size() * sizeof(std::uint64_t));
    statuses = layout.add(calls.size() * sizeof(std::int64_t));
    filled_begin = layout.size();
    for (const vm::DeviceCall& call : calls)
      for (const vm::AddressedMemory& memory : call.filled) filled.push_back(layout.add(memory.size_bytes));
    size = layout.size();
  }
  using Read = std::pair<std::uint64_t, std::size_t>;  ///< address on the host, bytes
  static Read array_of(const vm::DeviceCall& call, const vm::AddressedMemory& memory) {
    return {call.words[memory.word], memory.size_bytes};
  }

  std::map<Read, std::size_t> read;  ///< one that several calls read is there once
  std::size_t words = 0, statuses = 0, filled_begin = 0, size = 0;
  std::vector<std::size_t> filled;  ///< call by call
};

}  // namespace

void Card::expect(const vm::DeviceCall& call) {
  if (std::ranges::none_of(call.read, is_large)) return;  // without the lock: all workers come by
  const std::lock_guard lock(copies_mutex_);
  for (const vm::AddressedMemory& memory : call.read)
    if (is_large(memory)) ++copies_[{static_cast<std::int64_t>(call.words[memory.word]), memory.size_bytes}].uses;
}

void Card::forget(const vm::DeviceCall& call) {
  if (std::ranges::none_of(call.read, is_large)) return;
  const std::lock_guard lock(copies_mutex_);
  for (const vm::AddressedMemory& memory : call.read)
    if (is_large(memory)) forget(Array(static_cast<std::int64_t>(call.words[memory.word]), memory.size_bytes));
}

std::expected<std::vector<std::int64_t>, int> Card::run(std::span<const vm::DeviceCall> calls, const CardFunction& code,
                                                        void* stream) {
  if (stream == nullptr || code.function == nullptr) return std::unexpected(wrong_value);
  const BundleLayout layout(calls);
  std::vector<std::byte> there(layout.size);  // as it is on the card
  std::uint64_t base = 0;
  if (const int error = driver_.allocate(&base, layout.size, stream)) return std::unexpected(error);
  const auto free_and = [&](int error) {
    driver_.wait_for_stream(stream);  // what was asked for before the error still uses `there`
    driver_.free(base, stream);
    return std::unexpected(error);
  };

  for (const auto& [array, place] : layout.read)
    if (array.second != 0) std::memcpy(&there[place], reinterpret_cast<const void*>(array.first), array.second);
  const std::size_t words_each = calls.front().words.size();
  std::size_t next_filled = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const vm::DeviceCall& call = calls[i];
    std::vector<std::uint64_t> words(call.words.begin(), call.words.end());
    for (const vm::AddressedMemory& memory : call.read) {
      if (is_large(memory)) {
        const auto copy = copy_of(Array(static_cast<std::int64_t>(words[memory.word]), memory.size_bytes), stream);
        if (!copy) return free_and(copy.error());
        words[memory.word] = *copy;
      } else {
        words[memory.word] = base + layout.read.at(BundleLayout::array_of(call, memory));
      }
    }
    for (const vm::AddressedMemory& memory : call.filled) words[memory.word] = base + layout.filled[next_filled++];
    std::ranges::copy(words, reinterpret_cast<std::uint64_t*>(&there[layout.words]) + i * words_each);
  }

  std::vector<std::int64_t> parameters = {
      static_cast<std::int64_t>(base + layout.words), static_cast<std::int64_t>(words_each),
      static_cast<std::int64_t>(calls.size()), static_cast<std::int64_t>(base + layout.statuses)};
  const std::size_t filled_bytes = layout.size - layout.filled_begin;
  int error = driver_.copy_in(base, there.data(), layout.filled_begin, stream);
  if (error == 0 && filled_bytes != 0) error = driver_.set_bytes(base + layout.filled_begin, 0, filled_bytes, stream);
  if (error == 0) error = launch(code, parameters, static_cast<std::int64_t>(calls.size() * lanes_of_call), stream);
  if (error == 0)
    error = driver_.copy_out(&there[layout.words], base + layout.words, layout.size - layout.words, stream);
  if (error == 0) error = driver_.wait_for_stream(stream);
  if (error != 0) return free_and(error);
  if (const int error_of_free = driver_.free(base, stream)) return std::unexpected(error_of_free);

  next_filled = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const vm::DeviceCall& call = calls[i];
    const auto* const words = reinterpret_cast<const std::uint64_t*>(&there[layout.words]) + i * words_each;
    std::vector<bool> is_address(words_each);
    for (const vm::AddressedMemory& memory : call.read) is_address[memory.word] = true;
    for (const vm::AddressedMemory& memory : call.filled) {
      is_address[memory.word] = true;
      const std::size_t place = layout.filled[next_filled++];
      if (memory.size_bytes != 0)
        std::memcpy(reinterpret_cast<void*>(call.words[memory.word]), &there[place], memory.size_bytes);
    }
    for (std::size_t word = 0; word < words_each; ++word)
      if (!is_address[word]) call.words[word] = words[word];
  }
  const auto* const statuses = reinterpret_cast<const std::int64_t*>(&there[layout.statuses]);
  return std::vector<std::int64_t>(statuses, statuses + calls.size());
}

}  // namespace raddle::gpu
