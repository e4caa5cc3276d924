#include "gpu/server/remote_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/cuda/driver.hpp"

namespace raddle::gpu {

namespace {

constexpr std::size_t staged_alignment = 64;

int gone(ServerProcess& process) {
  process.note_gone();
  return CudaDriver::gone;
}

}  // namespace

int ask(ServerProcess& process, const Channel& channel, std::uint64_t patience_ns, Request request, Reply& reply,
        std::span<const std::byte> payload, std::span<const int> files, std::string* text) {
  request.payload_bytes = static_cast<std::uint32_t>(payload.size());
  const auto patience = [=] { return patience_ns; };
  if (!process.sends(channel, bytes_of(request), files, patience) || !process.sends(channel, payload, {}, patience) ||
      !process.awaits(channel, patience) || !channel.receive(bytes_to(reply)))
    return gone(process);
  if (text != nullptr) {
    text->resize(reply.payload_bytes);
    if (!channel.receive(std::as_writable_bytes(std::span(*text)))) return gone(process);
  }
  return reply.error;
}

void RemoteStream::post(const Request& request, std::span<const std::byte> payload) {
  Request sent = request;
  sent.payload_bytes = static_cast<std::uint32_t>(payload.size());
  const std::span<const std::byte> bytes = bytes_of(sent);
  posted_.insert(posted_.end(), bytes.begin(), bytes.end());
  posted_.insert(posted_.end(), payload.begin(), payload.end());
}

int RemoteStream::send() {
  const bool is_sent = process_.sends(channel_, posted_, {}, WantedWhile::patience_ns);
  posted_.clear();
  return is_sent ? 0 : keep(gone(process_));
}

int RemoteStream::take_reply() {
  Reply reply;
  if (!process_.awaits(channel_, WantedWhile::patience_ns) || !channel_.receive(bytes_to(reply)))
    return keep(gone(process_));
  return keep(reply.error);
}

int RemoteStream::ask(const Request& request, Reply& reply) {
  post(request);
  if (const int error = send()) return error;
  if (!process_.awaits(channel_, WantedWhile::patience_ns) || !channel_.receive(bytes_to(reply)))
    return keep(gone(process_));
  return reply.error;
}

/// It is done now; the answer is still to be taken.
void RemoteStream::ask_for_half(const Request& request) {
  post(request);
  post({.demand = Demand::wait_for_stream});
  send();
}

/// In the staging memory.
void RemoteStream::make_room(std::size_t bytes) {
  used_ = (used_ + staged_alignment - 1) / staged_alignment * staged_alignment;
  if (bytes > half_bytes ? used_ != 0 : bytes > staging_bytes - used_) keep(wait());
}

int RemoteStream::copy_in(std::uint64_t to, const std::byte* from, std::size_t bytes) {
  make_room(bytes);
  if (bytes <= half_bytes) {
    std::memcpy(staging_.data() + used_, from, bytes);
    post({.demand = Demand::copy_in, .words = {to, used_, bytes}});
    used_ += bytes;
    return error_;
  }
  std::size_t asked = 0, answered = 0;
  for (std::size_t done = 0; done < bytes && error_ == 0; done += half_bytes, ++asked) {
    if (asked - answered == 2) take_reply(), ++answered;
    const std::size_t piece = std::min(half_bytes, bytes - done);
    std::memcpy(staging_.data() + asked % 2 * half_bytes, from + done, piece);
    ask_for_half({.demand = Demand::copy_in, .words = {to + done, asked % 2 * half_bytes, piece}});
  }
  for (; answered < asked; ++answered) take_reply();
  return error_;
}

int RemoteStream::copy_out(std::byte* to, std::uint64_t from, std::size_t bytes) {
  make_room(bytes);
  if (bytes <= half_bytes) {
    post({.demand = Demand::copy_out, .words = {used_, from, bytes}});
    incoming_.push_back({to, used_, bytes});
    used_ += bytes;
    return error_;
  }
  const auto piece_of = [bytes](std::size_t number) { return std::min(half_bytes, bytes - number * half_bytes); };
  const std::size_t count = (bytes + half_bytes - 1) / half_bytes;
  std::size_t asked = 0;
  for (std::size_t answered = 0; answered < count; ++answered) {
    for (; asked < count && asked < answered + 2; ++asked)
      ask_for_half(
          {.demand = Demand::copy_out, .words = {asked % 2 * half_bytes, from + asked * half_bytes, piece_of(asked)}});
    if (take_reply() == CudaDriver::gone) break;
    if (error_ == 0)
      std::memcpy(to + answered * half_bytes, staging_.data() + answered % 2 * half_bytes, piece_of(answered));
  }
  return error_;
}

int RemoteStream::wait() {
  post({.demand = Demand::wait_for_stream});
  if (send() == 0) take_reply();
  for (const Incoming& piece : incoming_)
    if (error_ == 0) std::memcpy(piece.to, staging_.data() + piece.place, piece.bytes);
  incoming_.clear();
  used_ = 0;
  return std::exchange(error_, 0);
}

}  // namespace raddle::gpu
