#include "gpu/memory/card_memory.hpp"

#include <algorithm>

namespace raddle::gpu {

CardMemory::CardMemory(std::size_t limit, std::size_t chunk)
    : limit_(limit / Arena::granule * Arena::granule), chunk_(Arena::rounded(chunk)) {}

CardMemory::~CardMemory() = default;

/// The copy that has all of it; null: there is none.
CardMemory::Copy* CardMemory::find(const Part& part) {
  const auto next = findable_.upper_bound(Place(part.buffer, part.begin));
  if (next == findable_.begin()) return nullptr;
  Copy* const copy = std::prev(next)->second;
  return copy->buffer == part.buffer && copy->end >= part.end ? copy : nullptr;
}

/// What no copy has of it: copies overlap.
void CardMemory::add_gaps(const Part& part, std::vector<BufferPart>& gaps) const {
  auto next = findable_.upper_bound(Place(part.buffer, part.begin));
  if (next != findable_.begin() && std::prev(next)->first.first == part.buffer) --next;
  std::size_t end = part.begin;  // of what there is, or is a gap
  for (; next != findable_.end() && next->first < Place(part.buffer, part.end); ++next) {
    if (next->second->begin > end) gaps.push_back({part.buffer, end, next->second->begin});
    end = std::max(end, next->second->end);
  }
  if (end < part.end) gaps.push_back({part.buffer, end, part.end});
}

MissingBytes CardMemory::missing_bytes(std::span<const Operand> reads) {
  MissingBytes missing;
  for (const Operand& operand : reads) missing.of_host += operand.buffer == 0 ? operand.bytes : 0;
  std::vector<BufferPart> gaps;
  {
    const std::vector<Part> parts = parts_of(reads);
    const std::lock_guard lock(mutex_);
    for (const Part& part : parts) add_gaps(part, gaps);
  }
  for (const BufferPart& gap : gaps) {
    const bool is_of_card = std::ranges::any_of(others_, [&gap](CardMemory* other) { return other->has(gap); });
    (is_of_card ? missing.of_cards : missing.of_host) += gap.end - gap.begin;
  }
  return missing;
}

bool CardMemory::has(const BufferPart& part) {
  const std::lock_guard lock(mutex_);
  return find({.buffer = part.buffer, .begin = part.begin, .end = part.end}) != nullptr;
}

void CardMemory::pin(Copy& copy, Hold& hold) {
  if (copy.holders++ == 0 && copy.is_findable) unused_.erase(copy.place_of_unused);
  hold.copies.push_back(&copy);
}

void CardMemory::let_go(Copy& copy) {
  if (--copy.holders == 0) free_unused(copy);
}

/// Nobody holds it: it is kept if it can be found.
void CardMemory::free_unused(Copy& copy) {
  if (copy.is_findable) {
    copy.place_of_unused = unused_.insert(unused_.end(), &copy);
    return;
  }
  arena_.give_back(copy.block);
  copies_.erase(copy.self);
}

/// It is gone as soon as nobody holds it.
void CardMemory::hide(Copy& copy) {
  if (!copy.is_findable) return;
  findable_.erase(Place(copy.buffer, copy.begin));
  copy.is_findable = false;
  if (copy.holders != 0) return;
  unused_.erase(copy.place_of_unused);
  free_unused(copy);
}

/// Unless there is one already that has as much. Those within it are not needed any more. @pre somebody holds it
void CardMemory::make_findable(Copy& copy) {
  const Part part{.buffer = copy.buffer, .begin = copy.begin, .end = copy.end};
  if (find(part) != nullptr) return;
  auto within = findable_.lower_bound(Place(copy.buffer, copy.begin));
  while (within != findable_.end() && within->second->buffer == copy.buffer && within->second->end <= copy.end)
    hide(*std::exchange(within, std::next(within))->second);
  copy.is_findable = findable_.emplace(Place(copy.buffer, copy.begin), &copy).second;
}

void CardMemory::forget_freed() {
  for (const std::uint64_t buffer : freed_.take())
    for (auto copy = findable_.lower_bound(Place(buffer, 0)); copy != findable_.end() && copy->first.first == buffer;)
      hide(*std::exchange(copy, std::next(copy))->second);
}

/// @return false: none is unused, or may go for it
bool CardMemory::evict_one(Hold& hold) {
  if (unused_.empty()) return false;
  auto victim = unused_.begin();
  if (choose_victim_) {
    std::vector<BufferPart> parts;
    for (const Copy* const copy : unused_) parts.push_back({copy->buffer, copy->begin, copy->end});
    const auto chosen = choose_victim_(parts, hold.is_ahead ? vm::LoadKind::prefetch : vm::LoadKind::demand);
    if (!chosen) return false;
    std::advance(victim, *chosen);
  }
  hold.begin_ns = std::max({hold.begin_ns, (*victim)->ready_ns, (*victim)->used_until_ns});
  ++hold.traffic.evictions;
  ++hold.traffic.arrays.of((*victim)->array).evictions;
  hide(**victim);
  return true;
}

void CardMemory::choose_victims_by(ChooseVictim choose) {
  const std::lock_guard lock(mutex_);
  choose_victim_ = std::move(choose);
}

/// Another chunk, for a block of so many bytes. @return no_room: the limit is reached, or the card has no more
int CardMemory::grow(std::size_t bytes, CopyEngine& engine, std::unique_lock<std::mutex>& lock) {
  const std::size_t least = Arena::rounded(bytes), left = limit_ - taken_from_card_;
  if (least > left) return no_room;
  std::size_t size = std::min(left, std::max(chunk_, least));
  std::uint64_t address = 0;
  lock.unlock();
  int error = engine.allocate(address, size);
  if (error == CopyEngine::out_of_memory && size > least) {  // others use the card, too
    size = least;
    error = engine.allocate(address, size);
  }
  lock.lock();
  if (error != 0) return error == CopyEngine::out_of_memory ? no_room : error;
  taken_from_card_ += size;
  arena_.add({address, size});
  return 0;
}

/// Chunks of which nothing is taken go back: a larger one may fit then. The card has their memory when this returns 0.
int CardMemory::shrink(CopyEngine& engine, std::unique_lock<std::mutex>& lock) {
  std::vector<Arena::Chunk> chunks;
  while (const std::optional<Arena::Chunk> chunk = arena_.take_empty_chunk()) {
    taken_from_card_ -= chunk->bytes;
    chunks.push_back(*chunk);
  }
  lock.unlock();
  int error = 0;
  for (const Arena::Chunk& chunk : chunks)
    if (const int error_of_free = engine.free(chunk.address); error == 0) error = error_of_free;
  const int error_of_wait = engine.wait();
  lock.lock();
  return error != 0 ? error : error_of_wait;
}

/// @return no_room: there is none for so much beside what the batch holds already; or another error's number
int CardMemory::take(Arena::Block*& block, std::size_t bytes, CopyEngine& engine, Hold& hold,
                     std::unique_lock<std::mutex>& lock) {
  bool has_shrunk = false;
  while (true) {
    block = arena_.take(bytes);
    if (block != nullptr) return 0;
    const int error = grow(bytes, engine, lock);
    if (error == 0) continue;
    if (error != no_room) return error;
    block = arena_.take(bytes);  // others may have given back some meanwhile
    if (block != nullptr) return 0;
    if (evict_one(hold)) continue;
    if (hold.is_ahead) return no_room;
    if (holds_ != 0) {
      changed_.wait(lock);
      forget_freed();
    } else if (!has_shrunk) {
      if (const int error_of_shrink = shrink(engine, lock); error_of_shrink != 0) return error_of_shrink;
      has_shrunk = true;
    } else {
      return no_room;
    }
  }
}

/// @pre mutex_ is held
void CardMemory::drop(Hold& hold) {
  for (Arena::Block* const block : hold.blocks) arena_.give_back(block);
  for (Arena::Block* const block : hold.blocks_of_results)
    if (block != nullptr) arena_.give_back(block);
  for (Copy* const copy : hold.copies) let_go(*copy);
}

void CardMemory::release(Hold&& hold, std::span<const std::size_t> made, std::int64_t until_ns) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Operand& operand = hold.results_on_host[i];
    Arena::Block*& block = hold.blocks_of_results[i];
    if (operand.buffer == 0 || made[i] == 0 || block == nullptr) continue;
    Copy& copy = copies_.emplace_back(Copy{.buffer = operand.buffer,
                                           .begin = operand.offset,
                                           .end = operand.offset + made[i],
                                           .block = std::exchange(block, nullptr),
                                           .array = operand.array,
                                           .is_made = true,
                                           .ready_ns = until_ns});
    copy.self = std::prev(copies_.end());
    pin(copy, hold);
    make_findable(copy);
  }
  for (Copy* const copy : hold.copies) copy->used_until_ns = std::max(copy->used_until_ns, until_ns);
  drop(hold);
  --holds_;
  forget_freed();
  changed_.notify_all();
}

void CardMemory::give_back_chunks(CopyEngine& engine) {
  std::unique_lock lock(mutex_);
  while (!unused_.empty()) hide(*unused_.front());
  shrink(engine, lock);
}

}  // namespace raddle::gpu
