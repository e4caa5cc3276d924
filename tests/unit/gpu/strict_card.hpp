#pragma once
// A card for tests that ends the test where a GPU would go on with wrong bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "gpu/memory/copy_engine.hpp"

namespace raddle::gpu {

/// Its addresses are none of the host. It ends the process where something is read that was never written, or lies in
/// no chunk. Any thread.
class StrictCard {
 public:
  explicit StrictCard(std::size_t memory) : left_(memory) {}

  int allocate(std::uint64_t& address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > left_) return CopyEngine::out_of_memory;
    left_ -= bytes;
    address = next_;
    next_ += bytes + (std::uint64_t{1} << 20);
    chunks_.emplace(address, Chunk{std::vector<std::byte>(bytes), std::vector<bool>(bytes)});
    return 0;
  }
  void free(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto chunk = chunks_.find(address);
    need(chunk != chunks_.end(), "what is freed is no chunk");
    left_ += chunk->second.bytes.size();
    chunks_.erase(chunk);
  }
  void write(std::uint64_t to, const void* from, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto [chunk, offset] = find(to, bytes);
    if (bytes != 0) std::memcpy(&chunk->bytes[offset], from, bytes);
    std::fill_n(chunk->is_written.begin() + static_cast<std::ptrdiff_t>(offset), bytes, true);
  }
  void read(void* to, std::uint64_t from, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto [chunk, offset] = find(from, bytes);
    const auto first = chunk->is_written.begin() + static_cast<std::ptrdiff_t>(offset);
    need(std::all_of(first, first + static_cast<std::ptrdiff_t>(bytes), [](bool is) { return is; }),
         "what is read was never written");
    if (bytes != 0) std::memcpy(to, &chunk->bytes[offset], bytes);
  }
  /// What is there means nothing any more.
  void forget(std::uint64_t place, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto [chunk, offset] = find(place, bytes);
    std::fill_n(chunk->is_written.begin() + static_cast<std::ptrdiff_t>(offset), bytes, false);
  }
  std::size_t chunks() const {
    const std::lock_guard lock(mutex_);
    return chunks_.size();
  }

 private:
  struct Chunk {
    std::vector<std::byte> bytes;
    std::vector<bool> is_written;
  };
  static void need(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "strict card: %s\n", what);
    std::abort();
  }
  std::pair<Chunk*, std::size_t> find(std::uint64_t address, std::size_t bytes) {
    auto chunk = chunks_.upper_bound(address);
    need(chunk != chunks_.begin(), "an address is in no chunk");
    --chunk;
    const std::size_t offset = address - chunk->first;
    need(offset + bytes <= chunk->second.bytes.size(), "an address is in no chunk");
    return {&chunk->second, offset};
  }

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Chunk> chunks_;
  std::uint64_t next_ = std::uint64_t{1} << 60;
  std::size_t left_;
};

/// What is asked for is done when it is waited for, and not before.
class StrictCopies : public CopyEngine {
 public:
  explicit StrictCopies(StrictCard& card) : card_(card) {}
  int allocate(std::uint64_t& address, std::size_t bytes) override {
    return error_of_allocations != 0 ? error_of_allocations : card_.allocate(address, bytes);
  }
  int free(std::uint64_t address) override {
    asked_.emplace_back([this, address] { card_.free(address); });
    return error_of_frees;
  }
  int copy_in(std::uint64_t to, const void* from, std::size_t bytes) override {
    if (error_of_copies != 0) return error_of_copies;
    asked_.emplace_back([=, this] { card_.write(to, from, bytes); });
    return 0;
  }
  int copy_out(void* to, std::uint64_t from, std::size_t bytes) override {
    asked_.emplace_back([=, this] { card_.read(to, from, bytes); });
    return 0;
  }
  int copy_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) override {
    asked_.emplace_back([=, this] {
      std::vector<std::byte> bytes_there(bytes);
      card_.read(bytes_there.data(), from, bytes);
      card_.write(to, bytes_there.data(), bytes);
    });
    return 0;
  }
  int wait() override {
    for (const auto& each : asked_) each();
    asked_.clear();
    return 0;
  }
  int error_of_allocations = 0, error_of_frees = 0, error_of_copies = 0;

 private:
  StrictCard& card_;
  std::vector<std::function<void()>> asked_;
};

}  // namespace raddle::gpu
