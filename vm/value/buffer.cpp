#include "vm/value/buffer.hpp"

#include <cstdlib>
#include <new>

#include "vm/memory/large_blocks.hpp"
#include "vm/memory/mapped_file.hpp"
#include "vm/value/freed_buffers.hpp"

namespace raddle::vm {

void Buffer::Free::operator()(Buffer* buffer) const {
  if (const std::uint64_t number = buffer->number_.load(std::memory_order_relaxed)) FreedBuffers::tell(number);
  BoundedMemory* const bounded = BoundedMemory::get();
  if (buffer->block_) {
    bounded->give_back(*buffer->block_);
    delete buffer;
    return;
  }
  if (buffer->file_) {
    delete buffer->file_;
    delete buffer;
    return;
  }
  const std::size_t bytes = header_bytes + buffer->count_ * size_of(buffer->kind_);
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
      BoundedMemory::Block& block = bounded->take(count * size_of(kind));
      Owner buffer(new Buffer(kind, count, BoundedMemory::address_of(block), &block));
      if (is_whole) bounded->begin_write(block);
      return buffer;
    }
    bounded->count_small(static_cast<std::ptrdiff_t>(bytes));
  }
  if (bytes >= SharedBlocks::least_bytes && SharedBlocks::have_begun()) {
    const SharedBlocks::Block block = SharedBlocks::take(bytes);
    std::byte* const numbers = static_cast<std::byte*>(block.address) + header_bytes;
    return Owner(new (block.address) Buffer(kind, count, numbers, nullptr, block.offset));
  }
  void* memory = bytes >= LargeBlocks::least_bytes
                     ? LargeBlocks::take(bytes)
                     : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return Owner(new (memory) Buffer(kind, count, static_cast<std::byte*>(memory) + header_bytes, nullptr));
}

Buffer::Owner Buffer::of_file(ValueKind kind, std::size_t count, std::unique_ptr<MappedFile> file, std::size_t begin) {
  std::byte* const numbers = file->data() + begin;
  return Owner(new Buffer(kind, count, numbers, nullptr, -1, file.release()));
}

std::uint64_t Buffer::number() {
  static std::atomic<std::uint64_t> last{0};
  std::uint64_t number = number_.load(std::memory_order_relaxed);
  if (number != 0) return number;
  const std::uint64_t own = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number_.compare_exchange_strong(number, own, std::memory_order_relaxed) ? own : number;
}

}  // namespace raddle::vm
