#pragma once
// What tests of a card's memory do with one.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "gpu/memory/card_memory.hpp"
#include "tests/unit/gpu/strict_card.hpp"
#include "vm/value/buffer.hpp"

namespace raddle::gpu {

using vm::Buffer;
using Numbers = std::shared_ptr<Buffer>;

inline Numbers buffer_of(std::size_t count, std::int64_t first = 0) {
  Numbers numbers = Buffer::make(vm::ValueKind::int_, count);
  for (std::size_t i = 0; i < count; ++i)
    static_cast<std::int64_t*>(numbers->at_index(0))[i] = first + static_cast<std::int64_t>(i);
  return numbers;
}

inline Operand part_of(Buffer& buffer, std::size_t first, std::size_t count) {
  return {buffer.at_index(first), 8 * count, buffer.number(), 8 * first};
}
inline Operand all_of(Buffer& buffer) { return part_of(buffer, 0, buffer.count()); }

/// It is there what the host has.
inline bool is_there(StrictCard& card, const Operand& operand, std::uint64_t address) {
  std::vector<std::byte> there(operand.bytes);
  card.read(there.data(), address, operand.bytes);
  return operand.bytes == 0 || std::memcmp(there.data(), operand.host, operand.bytes) == 0;
}

/// One batch that reads this and computes nothing. @return what it cost
inline vm::DeviceTraffic read_once(CardMemory& memory, StrictCard& card, const std::vector<Operand>& reads) {
  StrictCopies engine(card);
  auto hold = memory.admit(reads, {}, engine);
  REQUIRE(hold);
  engine.wait();
  for (std::size_t i = 0; i < reads.size(); ++i) CHECK(is_there(card, reads[i], hold->reads[i]));
  const vm::DeviceTraffic traffic = hold->traffic;
  memory.release(std::move(*hold), {});
  return traffic;
}

inline void give_back(CardMemory& memory, StrictCard& card) {
  StrictCopies engine(card);
  memory.give_back_chunks(engine);
  CHECK(card.chunks() == 0);
}

}  // namespace raddle::gpu
