#include "vm/value/buffer.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "vm/memory/large_blocks.hpp"
#include "vm/value/freed_buffers.hpp"

namespace raddle::vm {

void Buffer::Free::operator()(Buffer* buffer) const {
  if (const std::uint64_t number = buffer->number_.load(std::memory_order_relaxed)) FreedBuffers::tell(number);
  const std::size_t bytes = header_bytes + buffer->count_ * size_of(buffer->kind_);
  BoundedMemory* const bounded = BoundedMemory::get();
  if (buffer->block_) return bounded->give_back(*buffer->block_);
  if (bounded) bounded->count_small(-static_cast<std::ptrdiff_t>(bytes));
  if (const auto offset = buffer->shared_offset())
    SharedBlocks::give_back({buffer, *offset}, bytes);
  else if (bytes >= LargeBlocks::least_bytes)
    LargeBlocks::give_back(buffer, bytes);
  else
    std::free(buffer);
}

Buffer::Owner Buffer::make(ValueKind kind, std::size_t count, bool is_whole) {
  static_assert(sizeof(Buffer) <= header_bytes);
  constexpr std::size_t most = (~std::size_t{0} >> 1) - 2 * alignment;
  if (count > most / size_of(kind)) throw std::bad_alloc();
  const std::size_t bytes = header_bytes + count * size_of(kind);
  if (BoundedMemory* const bounded = BoundedMemory::get()) {
    if (bytes >= BoundedMemory::least_bytes) {
      BoundedMemory::Block& block = bounded->take(bytes);
      bounded->begin_write(block, 0, is_whole ? bytes : header_bytes);
      Owner buffer(new (BoundedMemory::address_of(block)) Buffer(kind, count, &block));
      buffer->number();  // now: what has gone to the file can not be written
      bounded->wrote(block, 0, header_bytes);
      return buffer;
    }
    bounded->count_small(static_cast<std::ptrdiff_t>(bytes));
  }
  if (bytes >= SharedBlocks::least_bytes && SharedBlocks::have_begun()) {
    const SharedBlocks::Block block = SharedBlocks::take(bytes);
    return Owner(new (block.address) Buffer(kind, count, nullptr, block.offset));
  }
  void* memory = bytes >= LargeBlocks::least_bytes
                     ? LargeBlocks::take(bytes)
                     : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return Owner(new (memory) Buffer(kind, count, nullptr));
}

std::uint64_t Buffer::number() {
  static std::atomic<std::uint64_t> last{0};
  std::uint64_t number = number_.load(std::memory_order_relaxed);
  if (number != 0) return number;
  const std::uint64_t own = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number_.compare_exchange_strong(number, own, std::memory_order_relaxed) ? own : number;
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

Buffer& OpenNumbers::numbers() {
  if (Buffer* const there = numbers_.load(std::memory_order_acquire)) return *there;
  const std::lock_guard lock(making_);
  if (!own_numbers_) {
    own_numbers_ = Buffer::make_open(kind_, count_);
    numbers_.store(own_numbers_.get(), std::memory_order_release);
  }
  return *own_numbers_;
}

OpenNumbers::Bits* OpenNumbers::bits() {
  if (Bits* const there = bits_.load(std::memory_order_acquire)) return there;
  const std::lock_guard lock(making_);
  if (!own_bits_) {
    own_bits_ = std::make_unique<Bits[]>(2 * words());
    bits_.store(own_bits_.get(), std::memory_order_seq_cst);
  }
  return own_bits_.get();
}

namespace {

/// Visits the words of the bits from `first` on: visit(number of the word, mask). It says whether to go on.
template <typename Visit>
void visit_words(std::size_t first, std::size_t count, const Visit& visit) {
  for (const std::size_t end = first + count; first < end;) {
    const std::size_t in_word = first % 64, here = std::min(end - first, 64 - in_word);
    const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1) << in_word;
    if (!visit(first / 64, mask)) return;
    first += here;
  }
}

}  // namespace

std::size_t OpenNumbers::claim(std::int64_t key, std::size_t count) {
  if (key < 0 || static_cast<std::size_t>(key) >= count_) return 0;
  const auto first = static_cast<std::size_t>(key);
  if (are_of_one_) {
    count = std::min(count, count_ - first);
    if (BoundedMemory::get()) numbers().begin_write(first, count);
    return count;
  }
  Bits* const claims = claimed();
  std::size_t claimed = 0;
  visit_words(first, std::min(count, count_ - first), [&](std::size_t word, std::uint64_t mask) {
    const std::uint64_t before = claims[word].fetch_or(mask, std::memory_order_acq_rel) & mask;
    const std::uint64_t below = before == 0 ? mask : mask & ((before & -before) - 1);
    claimed += static_cast<std::size_t>(std::popcount(below));
    if (const std::uint64_t not_kept = mask & ~before & ~below; not_kept != 0)
      claims[word].fetch_and(~not_kept, std::memory_order_acq_rel);
    return before == 0;
  });
  if (BoundedMemory::get()) numbers().begin_write(first, claimed);
  return claimed;
}

void OpenNumbers::give_back(std::size_t first, std::size_t count) {
  if (are_of_one_ || count == 0) return;
  Bits* const claims = claimed();
  visit_words(first, count, [&](std::size_t word, std::uint64_t mask) {
    claims[word].fetch_and(~mask, std::memory_order_acq_rel);
    return true;
  });
}

void OpenNumbers::set_written(std::size_t first, std::size_t count) {
  if (count == 0) return;
  if (BoundedMemory::get()) numbers().wrote(first, count);
  if (count == count_) {
    are_all_written_.store(true, std::memory_order_seq_cst);  // see Note [Promises]
  } else {
    Bits* const written = bits();
    visit_words(first, count, [&](std::size_t word, std::uint64_t mask) {
      written[word].fetch_or(mask, std::memory_order_seq_cst);  // likewise
      return true;
    });
  }
  missing_.fetch_sub(count, std::memory_order_release);
}

std::int64_t OpenNumbers::written_from(std::int64_t key, std::int64_t count) const {
  if (key < 0 || static_cast<std::size_t>(key) >= count_) return 0;
  const auto first = static_cast<std::size_t>(key), most = std::min(static_cast<std::size_t>(count), count_ - first);
  // seq_cst: see Note [Promises]; plain loads on x86
  if (are_all_written_.load(std::memory_order_seq_cst)) return static_cast<std::int64_t>(most);
  const Bits* const written = bits_.load(std::memory_order_seq_cst);
  if (!written) return 0;
  std::int64_t found = 0;
  visit_words(first, most, [&](std::size_t word, std::uint64_t mask) {
    const std::uint64_t missing = mask & ~written[word].load(std::memory_order_seq_cst);
    found += std::popcount(missing == 0 ? mask : mask & ((missing & -missing) - 1));
    return missing == 0;
  });
  return found;
}

}  // namespace raddle::vm
