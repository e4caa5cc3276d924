#include "gpu/server/channel.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace raddle::gpu {

namespace {

constexpr std::size_t most_files = 2;  ///< that come with one message

}  // namespace

std::expected<std::pair<Channel, Channel>, int> Channel::make_pair() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return std::unexpected(errno);
  return std::pair(Channel(vm::FileDescriptor(sockets[0])), Channel(vm::FileDescriptor(sockets[1])));
}

bool Channel::send(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

std::expected<std::size_t, int> Channel::send_some(std::span<const std::byte> bytes, std::span<const int> files) const {
  alignas(cmsghdr) std::byte control[CMSG_SPACE(most_files * sizeof(int))] = {};
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(files.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size_bytes());
    std::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
  }
  ssize_t sent = 0;
  do sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  if (sent < 0 && errno == EAGAIN) return 0;
  if (sent < 0) return std::unexpected(errno);
  return static_cast<std::size_t>(sent);
}

bool Channel::receive(std::span<std::byte> bytes, std::span<vm::FileDescriptor> files) const {
  alignas(cmsghdr) std::byte control[CMSG_SPACE(most_files * sizeof(int))] = {};
  while (!bytes.empty()) {
    iovec piece{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = files.empty() ? nullptr : control;
    message.msg_controllen = files.empty() ? 0 : sizeof control;
    const ssize_t received = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < std::min(count, files.size()); ++i) {
        int file = -1;
        std::memcpy(&file, CMSG_DATA(header) + i * sizeof(int), sizeof file);
        files[i] = vm::FileDescriptor(file);
      }
    }
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return true;
}

std::expected<SharedMemory, int> SharedMemory::make(std::size_t bytes) {
  vm::FileDescriptor file(memfd_create("raddle-gpu", MFD_CLOEXEC));
  if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return std::unexpected(errno);
  return map(std::move(file), bytes);
}

std::expected<SharedMemory, int> SharedMemory::map(vm::FileDescriptor file, std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return std::unexpected(errno);
  SharedMemory made;
  made.file_ = std::move(file);
  made.memory_ = {static_cast<std::byte*>(memory), bytes};
  return made;
}

SharedMemory::~SharedMemory() {
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
}

}  // namespace raddle::gpu
