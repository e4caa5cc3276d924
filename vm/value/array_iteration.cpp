// What looks at all elements of an array: visits in the order of the keys, reductions, packing, closing.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/keyed_elements.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {

// ---------------------------------------------------------------- iteration

template <typename Visit, typename VisitNumbers>
void Array::visit_elements(const Visit& visit, const VisitNumbers& visit_numbers) const {
  std::vector<std::pair<Value, Element*>> keyed;
  // elements made meanwhile are placeholders: their readers look after themselves
  const Rest* const rest = find_rest();
  if (const KeyedElements* elements = rest ? rest->keyed.load(std::memory_order_acquire) : nullptr)
    keyed = elements->sorted();
  auto next = keyed.begin();
  const auto visit_keyed = [&] {
    const ElementMark mark = next->second->mark(std::memory_order_seq_cst);  // see Note [Closing]
    if (mark != ElementMark::untouched) visit(next->first, *next->second, mark);
    ++next;
  };
  const auto visit_keyed_below = [&](std::int64_t key) {
    while (next != keyed.end() && next->first.kind() == ValueKind::int_ && next->first.as_int() < key) visit_keyed();
  };
  table_.visit(
      [&](std::int64_t key, Element& element, ElementMark mark) {
        visit_keyed_below(key);
        visit(Value::of(key), element, mark);
      },
      [&](std::int64_t first_key, const NumberRun& numbers) {
        visit_keyed_below(first_key);
        visit_numbers(first_key, numbers);
      });
  while (next != keyed.end()) visit_keyed();
}

template <typename Visit, typename VisitNumbers>
void Array::visit_in_any_order(const Visit& visit, const VisitNumbers& visit_numbers) const {
  table_.visit([&](std::int64_t key, Element& element, ElementMark mark) { visit(Value::of(key), element, mark); },
               visit_numbers);
  const Rest* const rest = find_rest();
  const KeyedElements* const keyed = rest ? rest->keyed.load(std::memory_order_acquire) : nullptr;
  if (!keyed) return;
  keyed->visit([&](const Value& key, Element& element) {
    const ElementMark mark = element.mark(std::memory_order_seq_cst);  // see Note [Closing]
    if (mark != ElementMark::untouched) visit(key, element, mark);
  });
}

std::size_t Array::size() const {
  if (const Rest* rest = find_rest()) {
    const std::size_t count = rest->count.load(std::memory_order_relaxed);  // relaxed: publishes nothing but itself
    if (count != uncounted) return count;
  }
  const bool is_final = is_closed() || closing_.load(std::memory_order_seq_cst);
  std::size_t count = 0;
  visit_in_any_order(
      [&](const Value& key, Element&, ElementMark mark) {
        if (mark == ElementMark::inserted && (is_final || !has_number(key))) ++count;  // else counted below
      },
      [&](std::int64_t, const NumberRun& numbers) { count += static_cast<std::size_t>(numbers.count); });
  if (Reductions* const reduced = reductions()) {
    const std::lock_guard lock(reduced->mutex);
    count += reduced->all.count;
  }
  if (const OpenNumbers* const numbers = is_final ? nullptr : this->numbers()) count += numbers->written_count();
  if (is_final && (count > counted_each_time || find_rest())) rest().count.store(count, std::memory_order_relaxed);
  return count;
}

void Array::for_each(const std::function<void(const Value&, const Value&)>& visit) const {
  if (const Buffer* packed = find_packed()) {
    for (std::size_t i = 0; i < packed->count(); ++i) visit(Value::of(static_cast<std::int64_t>(i)), packed->at(i));
    return;
  }
  visit_elements(
      [&](const Value& key, Element& element, ElementMark mark) {
        if (mark == ElementMark::inserted) visit(key, element.get());
      },
      [&](std::int64_t first_key, const NumberRun& numbers) {
        for (std::int64_t i = 0; i < numbers.count; ++i) visit(Value::of(first_key + i), numbers.at(i));
      });
}

void Array::for_each_run(const std::function<void(const void*, std::size_t)>& visit) const {
  if (const Buffer* packed = find_packed()) return visit(packed->data(), packed->count());
  visit_elements(
      [&](const Value&, Element& element, ElementMark mark) {
        if (mark != ElementMark::inserted) return;
        std::int64_t number;
        set_number(&number, element.kind(), 0, static_cast<std::int64_t>(element.peek()));
        visit(&number, 1);
      },
      [&](std::int64_t, const NumberRun& numbers) { visit(numbers.words, static_cast<std::size_t>(numbers.count)); });
}

namespace {

/// Cuts numbers that come in order into blocks.
template <typename T>
class Blocks {
 public:
  Blocks(ReductionTree<T>& tree, bool has_deviation) : tree_(tree), has_deviation_(has_deviation) {
    numbers_.reserve(ReductionTree<T>::block_size);
  }
  ~Blocks() { finish(); }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  void add(std::uint64_t block, T number) {
    if (block != block_) finish();
    block_ = block;
    numbers_.push_back(number);
  }

 private:
  void finish() {
    if (!numbers_.empty()) tree_.add(block_, Reduction<T>::of(numbers_, has_deviation_));
    numbers_.clear();
  }
  ReductionTree<T>& tree_;
  const bool has_deviation_;
  std::uint64_t block_ = 0;
  std::vector<T> numbers_;
};

}  // namespace

template <typename T>
Reduction<T> Array::reduce(bool has_deviation) const {
  constexpr std::size_t size = ReductionTree<T>::block_size;
  ReductionTree<T> all, others;
  if (Reductions* const reduced = reductions()) {
    const std::lock_guard lock(reduced->mutex);
    all.add(reduced->all.tree<T>());
  }
  if (const Buffer* packed = find_packed()) {
    const std::span<const T> numbers(static_cast<const T*>(packed->data()), packed->count());
    for (std::size_t first = 0; first < numbers.size(); first += size)
      all.add(first / size,
              Reduction<T>::of(numbers.subspan(first, std::min(size, numbers.size() - first)), has_deviation));
    return all.total();
  }
  {
    Blocks<T> by_key(all, has_deviation), by_order(others, has_deviation);
    std::uint64_t other_count = 0;
    visit_elements(
        [&](const Value& key, Element& element, ElementMark mark) {
          if (mark != ElementMark::inserted) return;
          const T number = std::bit_cast<T>(element.peek());
          if (key.kind() == ValueKind::int_ && key.as_int() >= 0)
            by_key.add(static_cast<std::uint64_t>(key.as_int()) / size, number);
          else
            by_order.add(other_count++ / size, number);
        },
        [&](std::int64_t first_key, const NumberRun& numbers) {
          const std::span<const T> run(static_cast<const T*>(numbers.words), static_cast<std::size_t>(numbers.count));
          const auto first = static_cast<std::uint64_t>(first_key);
          if (run.size() == size) return all.add(first / size, Reduction<T>::of(run, has_deviation));
          for (std::size_t i = 0; i < run.size(); ++i) by_key.add((first + i) / size, run[i]);
        });
  }
  return all.total().joined(others.total());
}

template Reduction<std::int64_t> Array::reduce(bool has_deviation) const;
template Reduction<double> Array::reduce(bool has_deviation) const;

void Array::for_each_future(const std::function<void(Future&)>& visit) const {
  visit_elements(
      [&](const Value&, Element& element, ElementMark mark) {
        if (mark == ElementMark::inserted && !element.holds_number()) visit(element);
      },
      no_numbers);
}

// ---------------------------------------------------------------- packing

/// @return null if it can not be done: not yet (then `unset` is an element that has no value yet), or never
Buffer::Owner Array::pack() {
  Buffer::Owner packed;
  std::int64_t next = 0;
  bool is_dense = true;
  Future* unset = nullptr;
  const auto has_room = [&](ValueKind kind) {
    if (next == 0 && is_number(kind)) packed = Buffer::make(kind, size());
    return packed && packed->kind() == kind;
  };
  visit_elements(
      [&](const Value& key, Element& element, ElementMark mark) {
        if (!is_dense || unset || mark != ElementMark::inserted) return;
        is_dense = key.kind() == ValueKind::int_ && key.as_int() == next;
        if (is_dense && !element.is_resolved()) {
          unset = &element;
        } else if (is_dense) {
          is_dense = has_room(element.kind());
          if (is_dense) packed->set(static_cast<std::size_t>(next++), Value::from_bits(element.kind(), element.peek()));
        }
      },
      [&](std::int64_t first_key, const NumberRun& numbers) {
        if (!is_dense || unset) return;
        is_dense = first_key == next && has_room(numbers.kind);
        if (!is_dense) return;
        std::memcpy(packed->at_index(static_cast<std::size_t>(next)), numbers.words,
                    static_cast<std::size_t>(numbers.count) * Buffer::size_of(numbers.kind));
        next += numbers.count;
      });
  if (is_dense && !unset && packed) return packed;
  if (unset)
    rest().unset.store(unset, std::memory_order_relaxed);
  else
    rest().is_never_packed.store(true, std::memory_order_relaxed);
  return nullptr;
}

Future* Array::unset_element() const {
  const Rest* rest = find_rest();
  // relaxed: a future says itself whether it is resolved
  Future* unset = rest ? rest->unset.load(std::memory_order_relaxed) : nullptr;
  return unset && !unset->is_resolved() ? unset : nullptr;
}

Buffer* Array::packed_numbers() {
  if (!is_complete()) return nullptr;
  Buffer* packed = find_packed();
  if (packed || size() == 0) return packed;
  Rest& rest = this->rest();
  if (rest.is_never_packed.load(std::memory_order_relaxed) || unset_element()) return nullptr;
  Buffer::Owner made = pack();
  if (!made) return nullptr;
  made->close();
  return rest.packed.compare_exchange_strong(packed, made.get(), std::memory_order_acq_rel) ? made.release() : packed;
}

const void* Array::packed(std::size_t& count) {
  const Buffer* const numbers = packed_numbers();
  count = numbers ? numbers->count() : size();
  return numbers ? numbers->data() : nullptr;
}

bool Array::is_packable(std::size_t& count) {
  if (packed(count)) return true;
  return is_complete() && count == 0;
}

// ---------------------------------------------------------------- closing

std::uint32_t Array::count_rows() const {
  std::uint32_t count = 0;
  const Rest* const rest = find_rest();
  if (!rest || !rest->rows.load(std::memory_order_acquire)) return 0;
  visit_in_any_order(
      [&](const Value&, Element& element, ElementMark) {
        std::uint64_t bits;
        if (element.holds_row(bits)) ++count;
      },
      no_numbers);
  return count;
}

namespace {

/// What elements `array` has, when all of its writers have written. Not in which form they lie in memory: messages are
/// the same at each run.
std::string extent_text(const Array& array) {
  constexpr std::size_t most_looked_at = 1000, most_named = 4;
  const std::size_t count = array.size();
  if (count == 0) return "it is empty";
  std::string text = "it has " + std::to_string(count) + (count == 1 ? " element" : " elements");
  if (count > most_looked_at) return text;
  bool is_row = true;
  for (std::size_t i = 0; i < count && is_row; ++i) is_row = array.contains(Value::of(static_cast<std::int64_t>(i)));
  if (is_row && count > 1) return text + ", 0.." + std::to_string(count - 1);
  if (count > most_named) return text;
  const char* separator = ": ";
  array.for_each([&](const Value& present, const Value&) {
    text += separator + key_text(present);
    separator = ", ";
  });
  return text;
}

std::string missing_text(std::string_view name, const std::string& index, const std::string& extent) {
  const std::string what = name.empty() ? "the array" : "`" + std::string(name) + "`";
  return what + " has no element " + index + ": " + extent;
}

}  // namespace

void Array::release_writers(std::int32_t count, WakeList& wake) {
  // acq_rel: the last writer sees all inserts of the others. If they are all to be released nobody else holds one
  if (writers_.load(std::memory_order_acquire) != count &&
      writers_.fetch_sub(count, std::memory_order_acq_rel) != count)
    return;
  if (OpenNumbers* const numbers = this->numbers()) close_numbers(*numbers, wake);
  closing_.store(true, std::memory_order_seq_cst);
  fail_if_incomplete();
  const Rest* const rest = find_rest();
  const bool has_failed = rest && rest->failure.is_failed();
  std::uint32_t row_count = 0;
  const auto close = [&](auto& row) {
    if (has_failed) row.fail(rest->failure.get());
    row.release_writers(1, wake);
  };
  const auto close_row = [&](const Value&, Element& element, ElementMark) {
    std::uint64_t bits;
    if (element.holds_row(bits)) {
      ++row_count;
      close(*static_cast<Array*>(reinterpret_cast<HeapObject*>(bits)));
    } else if (element.holds(ValueKind::bag, bits)) {
      auto& row = *static_cast<Bag*>(reinterpret_cast<HeapObject*>(bits));
      if (row.parent.load() == this) {
        row.parent = nullptr;
        close(row);
      }
    }
  };
  if (rest && (rest->rows.load(std::memory_order_acquire) || rest->has_bags.load(std::memory_order_relaxed)))
    visit_elements(close_row, no_numbers);
  share_family(row_count);
  closed_.set(has_failed ? rest->failure.get() : Value::of_void(), wake);
  if (!has_awaited_.load(std::memory_order_seq_cst)) return;
  std::vector<std::pair<Value, Element*>> missed;
  visit_in_any_order(
      [&](const Value& key, Element& element, ElementMark mark) {
        // a number that came while its reader looked is awaited by nobody
        if (mark == ElementMark::awaited && !has_number(key)) missed.emplace_back(key, &element);
      },
      no_numbers);
  if (missed.empty()) return;
  std::ranges::sort(missed, KeyLess(), &std::pair<Value, Element*>::first);
  const std::string extent = has_failed ? "" : extent_text(*this);
  for (const auto& [key, element] : missed) {
    if (has_failed)
      element->miss(rest->failure.get(), wake);
    else
      element->miss(failed_value(make_ref<Failure>(missing_text(name(), index_text(key), extent), place())), wake);
  }
}

Ref<Failure> Array::missing(const Value& key) const {
  if (closed_.is_failed()) return Ref<Failure>::share(&as_failure(closed_.get()));
  return make_ref<Failure>(missing_text(name(), index_text(key), extent_text(*this)), place());
}

}  // namespace raddle::vm
