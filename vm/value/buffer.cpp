#include "vm/value/buffer.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "vm/memory/large_blocks.hpp"

namespace raddle::vm {

void Buffer::Free::operator()(Buffer* buffer) const {
  const std::size_t bytes = header_bytes + buffer->count_ * size_of(buffer->kind_);
  if (bytes >= LargeBlocks::least_bytes)
    LargeBlocks::give_back(buffer, bytes);
  else
    std::free(buffer);
}

Buffer::Owner Buffer::make(ValueKind kind, std::size_t count) {
  static_assert(sizeof(Buffer) <= header_bytes);
  constexpr std::size_t most = (~std::size_t{0} >> 1) - 2 * alignment;
  if (count > most / size_of(kind)) throw std::bad_alloc();
  const std::size_t bytes = header_bytes + count * size_of(kind);
  void* memory = bytes >= LargeBlocks::least_bytes
                     ? LargeBlocks::take(bytes)
                     : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return Owner(new (memory) Buffer(kind, count));
}

Value Buffer::at(std::size_t index) const {
  if (kind_ == ValueKind::float_) return Value::of(static_cast<const double*>(data())[index]);
  if (kind_ == ValueKind::int_) return Value::of(static_cast<const std::int64_t*>(data())[index]);
  return Value::of(static_cast<const std::uint8_t*>(data())[index] != 0);
}

void Buffer::set(std::size_t index, const Value& number) {
  void* const place = at_index(index);
  if (kind_ == ValueKind::float_)
    *static_cast<double*>(place) = number.as_float();
  else if (kind_ == ValueKind::int_)
    *static_cast<std::int64_t*>(place) = number.as_int();
  else
    *static_cast<std::uint8_t*>(place) = number.as_bool() ? 1 : 0;
}

Buffer& PromisedNumbers::numbers() {
  if (!written_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(making_);
    if (!bits_) {
      numbers_ = Buffer::make(kind_, count_);
      bits_ = std::make_unique<Bits[]>((count_ + 63) / 64);
      written_.store(bits_.get(), std::memory_order_seq_cst);
    }
  }
  return *numbers_;
}

void PromisedNumbers::set_written(std::size_t first, std::size_t count) {
  if (count == 0) return;
  Bits* const written = written_.load(std::memory_order_acquire);
  const std::size_t end = first + count;
  for (std::size_t at = first; at < end;) {
    const std::size_t in_word = at % 64, here = std::min(end - at, 64 - in_word);
    const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1) << in_word;
    // seq_cst: see Note [Promises]
    written[at / 64].fetch_or(mask, std::memory_order_seq_cst);
    at += here;
  }
  missing_.fetch_sub(count, std::memory_order_release);
}

}  // namespace raddle::vm
