// How a batch gets memory, and what it reads.
#include <algorithm>
#include <utility>

#include "gpu/memory/card_memory.hpp"

namespace raddle::gpu {

/// Operands of one buffer that overlap are one part. Those that only touch are not: rows of a matrix, say, which come
/// and go one by one.
std::vector<CardMemory::Part> CardMemory::parts_of(std::span<const Operand> reads) {
  std::vector<Part> all;
  for (const Operand& operand : reads)
    if (operand.bytes != 0 && operand.buffer != 0)
      all.push_back({.buffer = operand.buffer,
                     .begin = operand.offset,
                     .end = operand.offset + operand.bytes,
                     .host = static_cast<const std::byte*>(operand.host),
                     .array = operand.array});
  std::ranges::sort(all, {}, [](const Part& part) { return Place(part.buffer, part.begin); });
  std::vector<Part> joined;
  for (const Part& part : all) {
    if (!joined.empty() && joined.back().buffer == part.buffer && part.begin < joined.back().end)
      joined.back().end = std::max(joined.back().end, part.end);
    else
      joined.push_back(part);
  }
  return joined;
}

/// Memory for parts that are not there, for what nobody knows, and for results. @return as take()
int CardMemory::take_all(std::span<Part> parts, std::span<const Operand> reads, Hold& hold, CopyEngine& engine,
                         std::unique_lock<std::mutex>& lock) {
  for (Part& part : parts) {
    part.copy = find(part);
    if (part.copy == nullptr) continue;
    hold.traffic.bytes_kept += part.end - part.begin;
    pin(*part.copy, hold);
  }
  for (Part& part : parts) {
    if (part.copy != nullptr) continue;
    if (const int error = take(part.block, part.end - part.begin, engine, hold, lock); error != 0) return error;
    part.copy = &copies_.emplace_back(
        Copy{.buffer = part.buffer, .begin = part.begin, .end = part.end, .block = part.block, .array = part.array});
    part.copy->self = std::prev(copies_.end());
    pin(*part.copy, hold);
  }
  for (const Operand& operand : reads) {
    if (operand.bytes == 0 || operand.buffer != 0) continue;
    Arena::Block* block = nullptr;
    if (const int error = take(block, operand.bytes, engine, hold, lock); error != 0) return error;
    hold.blocks.push_back(block);
  }
  for (const Operand& operand : hold.results_on_host) {
    Arena::Block*& block = hold.blocks_of_results.emplace_back(nullptr);
    if (operand.bytes == 0) continue;
    if (const int error = take(block, operand.bytes, engine, hold, lock); error != 0) return error;
  }
  return 0;
}

/// How new copies are filled: from what the card has already, and for the rest from the host.
std::vector<CardMemory::Step> CardMemory::steps_for(std::span<Part> parts, Hold& hold) {
  std::vector<Step> steps;
  for (const Part& part : parts) {
    if (part.block == nullptr) continue;
    std::size_t next = part.begin, loaded = 0;
    const auto from_host = [&](std::size_t end) {
      if (end <= next) return;
      steps.push_back({.to = part.block->address + (next - part.begin),
                       .host = part.host + (next - part.begin),
                       .bytes = end - next,
                       .part = {part.buffer, next, end}});
      loaded += end - next;
      next = end;
    };
    auto found = findable_.upper_bound(Place(part.buffer, part.begin));
    if (found != findable_.begin()) --found;
    for (; found != findable_.end() && found->first < Place(part.buffer, part.end); ++found) {
      Copy& copy = *found->second;
      if (copy.buffer != part.buffer || copy.end <= next || !copy.is_made) continue;
      from_host(copy.begin);
      hold.begin_ns = std::max(hold.begin_ns, copy.ready_ns);
      const std::size_t end = std::min(copy.end, part.end);
      steps.push_back({.to = part.block->address + (next - part.begin),
                       .from = copy.block->address + (next - copy.begin),
                       .bytes = end - next});
      hold.traffic.bytes_kept += end - next;
      next = end;
      pin(copy, hold);
    }
    from_host(part.end);
    if (loaded == 0) continue;
    hold.traffic.bytes_up += loaded;
    hold.traffic.arrays.note_load(part.array, loaded);
  }
  return steps;
}

/// @param lent  gets what has it
bool CardMemory::take_from_other(const Step& step, std::vector<std::pair<CardMemory*, Hold>>& lent) {
  if (step.part.buffer == 0) return false;
  for (CardMemory* const other : others_) {
    std::optional<Hold> loan = other->lend(step.part);
    if (!loan) continue;
    lent.emplace_back(other, std::move(*loan));
    return true;
  }
  return false;
}

std::optional<CardMemory::Hold> CardMemory::lend(const BufferPart& part) {
  const std::lock_guard lock(mutex_);
  Copy* const copy = find({.buffer = part.buffer, .begin = part.begin, .end = part.end});
  if (copy == nullptr || !copy->is_made) return std::nullopt;
  Hold hold;
  pin(*copy, hold);
  ++holds_;
  hold.reads.push_back(copy->block->address + (part.begin - copy->begin));
  hold.ready_ns = copy->ready_ns;
  return hold;
}

/// Then waits for those that others make, if they are to be read now. @return an error's number
int CardMemory::make_copies(std::span<const Step> steps, std::span<Part> parts, Hold& hold, CopyEngine& engine) {
  engine.begin_after(hold.begin_ns);
  std::vector<std::pair<CardMemory*, Hold>> lent;
  int error = 0;
  for (const Step& step : steps) {
    if (error != 0) break;
    if (step.host == nullptr) {
      error = engine.copy_within(step.to, step.from, step.bytes);
    } else if (take_from_other(step, lent)) {
      error = engine.copy_between(step.to, lent.back().second.reads.front(), step.bytes, lent.back().second.ready_ns);
      hold.traffic.bytes_up -= step.bytes;
      hold.traffic.bytes_between += step.bytes;
    } else {
      error = engine.copy_in(step.to, step.host, step.bytes);
    }
  }
  const bool has_own = std::ranges::any_of(parts, [](const Part& part) { return part.block != nullptr; });
  if (has_own) {
    const int error_of_wait = engine.wait();  // other streams are to read them, too
    if (error == 0) error = error_of_wait;
  }
  for (auto& [other, loan] : lent) other->release(std::move(loan), {}, engine.done_ns());
  std::unique_lock lock(mutex_);
  for (const Part& part : parts) {
    if (part.block == nullptr) continue;
    part.copy->is_made = error == 0;
    part.copy->error = error;
    part.copy->ready_ns = engine.done_ns();
    if (error != 0) hide(*part.copy);
  }
  if (has_own) changed_.notify_all();
  for (const Part& part : parts) {
    if (hold.is_ahead) break;
    changed_.wait(lock, [&] { return part.copy->is_made || part.copy->error != 0; });
    if (error == 0) error = part.copy->error;
    hold.ready_ns = std::max(hold.ready_ns, part.copy->ready_ns);
  }
  return error;
}

std::expected<CardMemory::Hold, int> CardMemory::admit(std::span<const Operand> reads, std::span<const Operand> results,
                                                       CopyEngine& engine) {
  return admit(reads, results, engine, /*is_ahead=*/false);
}

std::expected<vm::DeviceTraffic, int> CardMemory::load_ahead(std::span<const Operand> reads, CopyEngine& engine) {
  auto hold = admit(reads, {}, engine, /*is_ahead=*/true);
  if (!hold) return std::unexpected(hold.error());
  vm::DeviceTraffic traffic = hold->traffic;
  traffic.bytes_kept = 0;
  traffic.bytes_ahead = traffic.bytes_up + traffic.bytes_between;
  release(std::move(*hold), {});
  return traffic;
}

std::expected<CardMemory::Hold, int> CardMemory::admit(std::span<const Operand> reads, std::span<const Operand> results,
                                                       CopyEngine& engine, bool is_ahead) {
  std::vector<Part> parts = parts_of(reads);
  std::size_t needed = 0;
  for (const Part& part : parts) needed += Arena::rounded(part.end - part.begin);
  for (const Operand& operand : reads) needed += operand.buffer == 0 ? Arena::rounded(operand.bytes) : 0;
  for (const Operand& operand : results) needed += Arena::rounded(operand.bytes);

  Hold hold;
  hold.is_ahead = is_ahead;
  hold.results_on_host.assign(results.begin(), results.end());
  std::unique_lock lock(mutex_);
  if (is_ahead && served_ticket_ != next_ticket_) return std::unexpected(no_room);  // others wait for some
  const std::uint64_t ticket = next_ticket_++;
  changed_.wait(lock, [&] { return served_ticket_ == ticket; });
  forget_freed();
  const int error_of_taking = needed <= limit_ ? take_all(parts, reads, hold, engine, lock) : no_room;
  std::vector<Step> steps;
  if (error_of_taking == 0) {
    steps = steps_for(parts, hold);
    for (const Part& part : parts)
      if (part.block != nullptr) make_findable(*part.copy);
    hold.traffic.most_held = arena_.taken_bytes();
    ++holds_;
  } else {
    drop(hold);
  }
  ++served_ticket_;
  changed_.notify_all();
  if (error_of_taking != 0) return std::unexpected(error_of_taking);
  lock.unlock();

  auto own = hold.blocks.begin();
  for (const Operand& operand : reads) {
    std::uint64_t& address = hold.reads.emplace_back(0);
    if (operand.bytes == 0) continue;
    if (operand.buffer == 0) {
      address = (*own++)->address;
      steps.push_back({.to = address, .host = operand.host, .bytes = operand.bytes});
      hold.traffic.bytes_up += operand.bytes;
      hold.traffic.arrays.note_load(operand.array, operand.bytes);
      continue;
    }
    const auto part = std::ranges::find_if(parts, [&](const Part& each) {
      return each.buffer == operand.buffer && each.begin <= operand.offset && operand.offset < each.end;
    });
    address = part->copy->block->address + (operand.offset - part->copy->begin);
  }
  for (const Arena::Block* const block : hold.blocks_of_results)
    hold.results.push_back(block == nullptr ? 0 : block->address);
  if (const int error = make_copies(steps, parts, hold, engine); error != 0) {
    engine.wait();  // for what was asked for before the error
    release(std::move(hold), {});
    return std::unexpected(error);
  }
  return hold;
}

}  // namespace raddle::gpu
