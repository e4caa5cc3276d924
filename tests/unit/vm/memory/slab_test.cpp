#include "vm/memory/slab.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace raddle::vm {
namespace {

TEST_CASE("every size has the smallest class that holds it") {
  for (std::size_t size = 1; size <= slab_block_limit; ++size) {
    const std::size_t index = slab_class(size);
    REQUIRE(index < slab_class_count);
    CHECK(slab_class_size(index) >= size);
    if (index > 0) CHECK(slab_class_size(index - 1) < size);
  }
}

TEST_CASE("blocks in use never overlap and are aligned") {
  SlabDepot depot;
  SlabCache cache(depot);
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::size_t size = 1 + i * 37 % 5000;  // some beyond the limit
    auto* memory = static_cast<unsigned char*>(cache.allocate(size));
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % alignof(std::max_align_t) == 0);
    std::memset(memory, static_cast<int>(i & 0xff), size);
    blocks.emplace_back(memory, size);
  }
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t k = 0; k < blocks[i].second; ++k) damaged += blocks[i].first[k] != (i & 0xff);
  CHECK(damaged == 0);
  for (const auto& [memory, size] : blocks) cache.deallocate(memory, size);
}

TEST_CASE("memory does not grow when one worker allocates and another one frees") {
  SlabDepot depot;
  SlabCache producer(depot);
  SlabCache consumer(depot);
  constexpr std::size_t batch = 1000, size = 100;
  std::size_t after_first = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<void*> blocks;
    std::thread make([&] {
      for (std::size_t i = 0; i < batch; ++i) blocks.push_back(producer.allocate(size));
    });
    make.join();
    CHECK(std::set<void*>(blocks.begin(), blocks.end()).size() == batch);
    std::thread take([&] {
      for (void* block : blocks) consumer.deallocate(block, size);
    });
    take.join();
    if (round == 1) after_first = depot.reserved_bytes();
  }
  CHECK(depot.reserved_bytes() <= after_first + 128 * 1024);
}

}  // namespace
}  // namespace raddle::vm
