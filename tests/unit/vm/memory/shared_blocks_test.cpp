#include "vm/memory/shared_blocks.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "vm/value/buffer.hpp"

namespace raddle::vm {

namespace {

/// What another process would see there.
std::vector<unsigned char> seen_through_file(std::int64_t offset, std::size_t bytes) {
  void* const other = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, SharedBlocks::descriptor(), offset);
  REQUIRE(other != MAP_FAILED);
  const auto* const first = static_cast<const unsigned char*>(other);
  std::vector<unsigned char> seen(first, first + bytes);
  munmap(other, bytes);
  return seen;
}

}  // namespace

TEST_CASE("what is written to a block is seen through the file, and nothing of another block") {
  REQUIRE(SharedBlocks::begin() == "");
  CHECK(SharedBlocks::begin() == "");
  CHECK(SharedBlocks::descriptor() >= 10);
  const std::size_t bytes = SharedBlocks::least_bytes + 1;
  const SharedBlocks::Block one = SharedBlocks::take(bytes), two = SharedBlocks::take(bytes);
  std::memset(one.address, 1, bytes);
  std::memset(two.address, 2, bytes);
  CHECK(seen_through_file(one.offset, bytes) == std::vector<unsigned char>(bytes, 1));
  CHECK(seen_through_file(two.offset, bytes) == std::vector<unsigned char>(bytes, 2));
  SharedBlocks::give_back(one, bytes);
  const SharedBlocks::Block again = SharedBlocks::take(bytes);
  CHECK(again.offset == one.offset);
  SharedBlocks::give_back(again, bytes);
  SharedBlocks::give_back(two, bytes);
}

TEST_CASE("blocks that threads take and give back do not overlap") {
  REQUIRE(SharedBlocks::begin() == "");
  std::vector<std::thread> threads;
  for (unsigned char mark = 1; mark <= 8; ++mark) {
    threads.emplace_back([mark] {
      const std::size_t bytes = SharedBlocks::least_bytes * (1 + mark % 2);
      for (int round = 0; round < 50; ++round) {
        const SharedBlocks::Block block = SharedBlocks::take(bytes);
        auto* const first = static_cast<unsigned char*>(block.address);
        first[0] = first[bytes / 2] = first[bytes - 1] = mark;
        std::this_thread::yield();
        CHECK((first[0] == mark && first[bytes / 2] == mark && first[bytes - 1] == mark));
        SharedBlocks::give_back(block, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("large buffers lie in such blocks") {
  REQUIRE(SharedBlocks::begin() == "");
  const std::size_t count = SharedBlocks::least_bytes / 8;
  const Buffer::Owner small = Buffer::make(ValueKind::float_, 100), large = Buffer::make(ValueKind::float_, count);
  CHECK(!small->shared_offset());
  REQUIRE(large->shared_offset());
  for (std::size_t i = 0; i < count; ++i) large->set(i, Value::of(static_cast<double>(i)));
  const std::vector<unsigned char> seen = seen_through_file(*large->shared_offset(), Buffer::header_bytes + count * 8);
  CHECK(std::memcmp(seen.data() + Buffer::header_bytes, large->data(), count * 8) == 0);
}

}  // namespace raddle::vm
