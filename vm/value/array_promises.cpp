// Arrays that index launches and loops fill: see Note [Promises].
#include <algorithm>

#include "vm/value/array.hpp"
#include "vm/value/keyed_elements.hpp"

namespace raddle::vm {

bool Array::is_still_empty() const {
  // acquire: what others have inserted who were writers before is seen
  return writers_.load(std::memory_order_acquire) == 1 && !keeps_reductions() && !has_numbers_ && size() == 0;
}

void Array::expect_numbers(ValueKind kind, std::size_t count) {
  has_numbers_ = true;
  rest().numbers.store(new OpenNumbers(kind, count), std::memory_order_relaxed);
  rest().is_announced.store(true, std::memory_order_relaxed);
}

bool Array::promise_numbers(ValueKind kind, std::size_t count) {
  if (!is_still_empty()) return false;
  auto made = std::make_unique<OpenNumbers>(kind, count);
  made->give_to_one();
  made->promise(count);
  has_numbers_ = true;
  rest().numbers.store(made.release(), std::memory_order_seq_cst);
  return true;
}

void Array::promise_part(std::size_t count, bool is_each_once, WakeList& wake) {
  OpenNumbers& numbers = open_numbers();
  if (is_each_once && count == numbers.count() && writers_.load(std::memory_order_acquire) == 1) numbers.give_to_one();
  numbers.promise(count);
  if (numbers.is_promised()) settle_announced(wake);
}

bool Array::claim(const Value& key) {
  OpenNumbers& numbers = open_numbers();
  const bool is_among_them =
      key.kind() == ValueKind::int_ && key.as_int() >= 0 && static_cast<std::uint64_t>(key.as_int()) < numbers.count();
  if (!is_among_them) return true;
  return numbers.claim(key.as_int(), 1) == 1;
}

/// What is no number has failed.
bool Array::insert_number(const Value& key, Value value, WakeList& wake) {
  OpenNumbers& numbers = open_numbers();
  if (!claim(key)) return false;
  const bool is_among_them =
      key.kind() == ValueKind::int_ && key.as_int() >= 0 && static_cast<std::uint64_t>(key.as_int()) < numbers.count();
  if (!is_among_them || value.kind() != numbers.kind()) return insert_in_table(key, std::move(value), wake);
  numbers.numbers().set(static_cast<std::size_t>(key.as_int()), value);
  tell_written({key.as_int(), 1}, wake);
  return true;
}

void Array::tell_written(const NumberRows& rows, WakeList& wake) {
  OpenNumbers& numbers = open_numbers();
  numbers.set_written(rows);
  if (!has_awaited_.load(std::memory_order_seq_cst)) return;
  const auto tell = [&](std::int64_t key) {
    Element* const element = find(Value::of(key));
    if (element && element->mark(std::memory_order_seq_cst) == ElementMark::awaited)
      element->insert(numbers.at(key), wake);
  };
  // of a whole chunk few elements or none are awaited: one look tells which have memory at all
  constexpr std::int64_t chunk = ElementTable::chunk_size;
  const auto tell_row = [&](std::int64_t first, std::int64_t count, std::int64_t distance) {
    const std::int64_t end = first + (count - 1) * distance + 1;
    for (std::int64_t key = first, next = 0; key < end; key = next) {
      const std::int64_t in_chunk = std::min(end, key - key % chunk + chunk) - key;
      next = key + ((in_chunk - 1) / distance + 1) * distance;
      const auto apart = key >= ElementTable::small_limit && in_table(Value::of(key)) && in_chunk > distance
                             ? keyed_elements().keys_in_chunk(key, table_)
                             : std::nullopt;
      if (!apart)
        for (; key < next; key += distance) tell(key);
      else
        for (const std::int64_t each : *apart)
          if (key <= each && each < key + in_chunk && (each - key) % distance == 0) tell(each);
    }
  };
  rows.each_run(tell_row);
}

/// By the last writer, before the array is closing.
void Array::close_numbers(OpenNumbers& numbers, WakeList& wake) {
  settle_announced(wake);
  if (numbers.written_count() != 0) take_late_ones(numbers);
  if (numbers.written_count() == numbers.count()) {
    rest().count.store(numbers.count(), std::memory_order_relaxed);  // published by what follows
    rest().packed.store(numbers.count() == 0 ? nullptr : numbers.storage(), std::memory_order_release);
    return;
  }
  if (numbers.written_count() == 0) return;
  for (std::int64_t key = 0; static_cast<std::size_t>(key) < numbers.count(); ++key)
    if (numbers.is_written(key)) insert_in_table(Value::of(key), numbers.at(key), wake);
}

/// Single elements that were inserted before their numbers were there, and have them now, up to the first one that has
/// none.
void Array::take_late_ones(OpenNumbers& numbers) {
  const auto count = static_cast<std::int64_t>(numbers.count());
  for (std::int64_t key = 0;; ++key) {
    key += numbers.written_from(key, count - key);
    std::uint64_t bits;
    const Element* const element = key < count ? find(Value::of(key)) : nullptr;
    if (!element || !element->holds(numbers.kind(), bits)) return;
    numbers.numbers().set(static_cast<std::size_t>(key), Value::from_bits(numbers.kind(), bits));
    numbers.set_written({key, 1});
  }
}

}  // namespace raddle::vm
