#pragma once
// One end of a connection between two processes, and memory that both have.
#include <cstddef>
#include <expected>
#include <span>
#include <utility>

#include "vm/value/file_descriptor.hpp"

namespace raddle::gpu {

class Channel {
 public:
  explicit Channel(vm::FileDescriptor socket) : socket_(std::move(socket)) {}
  /// Two ends. @error  errno
  static std::expected<std::pair<Channel, Channel>, int> make_pair();

  int socket() const { return socket_.get(); }
  /// All of it, however long that takes. @return false: the other end is gone
  bool send(std::span<const std::byte> bytes) const;
  /// As much of it as there is room for, at least a byte, without waiting; with file descriptors, which the other end
  /// gets with its next receive(). @return bytes; 0: there is no room  @error  errno: the other end is gone
  std::expected<std::size_t, int> send_some(std::span<const std::byte> bytes, std::span<const int> files) const;
  /// So many, exactly. @param files  get those that came with the first of them; -1: none
  bool receive(std::span<std::byte> bytes, std::span<vm::FileDescriptor> files = {}) const;

 private:
  vm::FileDescriptor socket_;
};

/// Memory that other processes may map, too.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// New, all 0. @error  errno
  static std::expected<SharedMemory, int> make(std::size_t bytes);
  static std::expected<SharedMemory, int> map(vm::FileDescriptor file, std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept
      : file_(std::move(other.file_)), memory_(std::exchange(other.memory_, {})) {}
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~SharedMemory();
  int file() const { return file_.get(); }
  std::byte* data() const { return memory_.data(); }
  std::size_t size() const { return memory_.size(); }

 private:
  vm::FileDescriptor file_;
  std::span<std::byte> memory_;
};

template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename Value>
std::span<std::byte> bytes_to(Value& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace raddle::gpu
