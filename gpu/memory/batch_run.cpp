#include "gpu/memory/batch_run.hpp"

#include <algorithm>
#include <utility>

#include "gpu/memory/host_clocks.hpp"
#include "vm/value/buffer.hpp"
#include "vm/value/range.hpp"

namespace raddle::gpu {

namespace {

constexpr std::size_t word_bytes = sizeof(std::int64_t);

/// Points of a batch, without what tells its owner.
vm::DeviceBatch part_of(const vm::DeviceBatch& batch, std::int64_t first, std::int64_t count) {
  vm::DeviceBatch part{.kernel = batch.kernel,
                       .words = batch.words,
                       .results = batch.results,
                       .arrays = batch.arrays,
                       .reads = batch.reads,
                       .near = batch.near,
                       .run = batch.run,
                       .done = {}};
  part.words[0] = vm::range_value(batch.words[0], batch.words[1], first);
  part.words[2] = count;
  const auto cut = [&](vm::AddressedMemory& memory) {
    const std::size_t element = memory.size_bytes / static_cast<std::size_t>(batch.count());
    part.words[memory.word] += first * static_cast<std::int64_t>(element);
    memory.size_bytes = static_cast<std::size_t>(count) * element;
  };
  for (vm::AddressedMemory& memory : part.results) cut(memory);
  for (std::size_t i = 0; i < part.reads; ++i) cut(part.arrays[i]);
  return part;
}

/// @param words  with addresses on the card  @return an error's number
int take_results(const vm::DeviceBatch& batch, const std::vector<std::int64_t>& words,
                 std::span<const std::size_t> made, CopyEngine& engine) {
  int error = 0;
  for (std::size_t i = 0; error == 0 && i < batch.results.size(); ++i) {
    const std::size_t word = batch.results[i].word;
    if (made[i] != 0)
      error =
          engine.copy_out(reinterpret_cast<void*>(batch.words[word]), static_cast<std::uint64_t>(words[word]), made[i]);
  }
  const int error_of_wait = engine.wait();  // after an error, too: for copies that were asked for before it
  return error != 0 ? error : error_of_wait;
}

BatchRun run_whole(const vm::DeviceBatch& batch, CardMemory& memory, CopyEngine& engine, const ComputePoints& compute) {
  const std::vector<Operand> reads = operands_read(batch);
  std::vector<Operand> results;
  for (const vm::AddressedMemory& each : batch.results)
    results.push_back(operand_of(static_cast<std::uint64_t>(batch.words[each.word]), each));
  results.push_back({.bytes = word_bytes});
  auto hold = memory.admit(reads, results, engine);
  if (!hold) return {.error = hold.error()};

  std::vector<std::int64_t> words = batch.words;
  for (std::size_t i = 0; i < batch.arrays.size(); ++i)
    if (reads[i].bytes != 0)  // the array's first element may not be there
      words[batch.arrays[i].word] = static_cast<std::int64_t>(hold->reads[i] - bytes_read(batch, i).begin);
  for (std::size_t i = 0; i < batch.results.size(); ++i)
    words[batch.results[i].word] = static_cast<std::int64_t>(hold->results[i]);
  BatchRun run{.traffic = hold->traffic, .ready_ns = hold->ready_ns};
  std::vector<std::size_t> made_bytes;
  run.computing_start_ns = steady_ns();
  const auto made = compute(batch, words, hold->results.back());
  run.computing_ns = steady_ns() - run.computing_start_ns;
  if (made) {
    run.made = *made;
    for (const vm::AddressedMemory& result : batch.results)
      made_bytes.push_back(result.size_bytes / static_cast<std::size_t>(batch.count()) *
                           static_cast<std::size_t>(*made));
    note_results(results, made_bytes, run.traffic);
    run.error = take_results(batch, words, made_bytes, engine);
  } else {
    run.error = made.error();
  }
  if (run.error != 0) made_bytes.clear(), run.made = 0;
  memory.release(std::move(*hold), made_bytes);
  return run;
}

}  // namespace

ByteRange bytes_read(const vm::DeviceBatch& batch, std::size_t array) {
  const vm::AddressedMemory& memory = batch.arrays[array];
  const std::size_t number = array - batch.reads;
  const std::int64_t size = array < batch.reads ? 0 : batch.words[memory.word + 1];
  if (size == 0 || number >= batch.near.size() || !batch.near[number]) return {0, memory.size_bytes};
  const std::size_t element_bytes = memory.size_bytes / static_cast<std::size_t>(size);
  const std::int64_t first = batch.words[0], last = vm::range_value(first, batch.words[1], batch.count() - 1);
  const auto place = [&](std::int64_t point, std::int64_t distance) {
    std::int64_t element = 0;
    if (__builtin_add_overflow(point, distance, &element))
      element = distance < 0 ? 0 : size;  // there are none so far off
    return static_cast<std::size_t>(std::clamp<std::int64_t>(element, 0, size)) * element_bytes;
  };
  const std::size_t begin = place(std::min(first, last), batch.near[number]->first);
  return {begin, std::max(begin, place(std::max(first, last), batch.near[number]->last + 1))};
}

std::vector<Operand> operands_read(const vm::DeviceBatch& batch) {
  std::vector<Operand> all;
  for (std::size_t i = 0; i < batch.arrays.size(); ++i) {
    const ByteRange part = bytes_read(batch, i);
    const vm::AddressedMemory& array = batch.arrays[i];
    all.push_back(operand_of(static_cast<std::uint64_t>(batch.words[array.word]) + part.begin,
                             {array.word, part.end - part.begin, array.buffer, array.array}));
  }
  return all;
}

Operand operand_of(std::uint64_t address, const vm::AddressedMemory& memory) {
  Operand operand{.host = reinterpret_cast<const void*>(address), .bytes = memory.size_bytes, .array = memory.array};
  if (memory.buffer == nullptr || memory.size_bytes == 0) return operand;
  operand.buffer = memory.buffer->number();
  operand.offset = address - reinterpret_cast<std::uint64_t>(memory.buffer->data());
  return operand;
}

void note_results(std::span<const Operand> results, std::span<const std::size_t> made, vm::DeviceTraffic& traffic) {
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i] == 0) continue;
    traffic.bytes_down += made[i];
    traffic.arrays.note_write_back(results[i].array, made[i]);
  }
}

BatchRun run_batch(const vm::DeviceBatch& batch, CardMemory& memory, CopyEngine& engine, const ComputePoints& compute) {
  BatchRun run = run_whole(batch, memory, engine, compute);
  if (run.error != CardMemory::no_room || batch.count() == 1) return run;
  const std::int64_t half = batch.count() / 2;
  run = run_batch(part_of(batch, 0, half), memory, engine, compute);
  if (run.error != 0 || run.made < half) return run;
  BatchRun rest = run_batch(part_of(batch, half, batch.count() - half), memory, engine, compute);
  rest.made += half;
  rest.traffic += run.traffic;
  rest.ready_ns = std::max(rest.ready_ns, run.ready_ns);
  rest.computing_ns += rest.computing_start_ns - run.computing_start_ns;
  rest.computing_start_ns = run.computing_start_ns;
  return rest;
}

}  // namespace raddle::gpu
