#include "vm/value/array.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "vm/value/bag.hpp"
#include "vm/value/keyed_elements.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {

Array::Array(std::int32_t writers, std::string_view name, Place place) : writers_(writers), name_(name), place_(place) {
  WakeList nobody;
  if (writers == 0) closed_.set(Value::of_void(), nobody);
}

Array::~Array() {
  delete keyed_.load(std::memory_order_relaxed);
  delete packed_.load(std::memory_order_relaxed);
}

// ---------------------------------------------------------------- made whole

Ref<Array> Array::dense(std::vector<Value> elements) {
  auto packed = std::make_unique<Packed>();
  if (std::ranges::all_of(elements, [&](const Value& value) { return packed->add(value); }))
    return of_packed(std::move(packed));
  Ref<Array> array = make_ref<Array>(0);
  WakeList nobody;
  for (std::size_t i = 0; i < elements.size(); ++i)
    array->insert(Value::of(static_cast<std::int64_t>(i)))->set(std::move(elements[i]), nobody);
  return array;
}

Ref<Array> Array::keyed(std::vector<std::pair<Value, Value>> entries) {
  Ref<Array> array = make_ref<Array>(0);
  WakeList nobody;
  for (auto& [key, value] : entries)
    if (Future* element = array->insert(key)) element->set(std::move(value), nobody);
  return array;
}

Ref<Array> Array::of_packed(std::unique_ptr<Packed> packed) {
  Ref<Array> array = make_ref<Array>(0);
  const std::size_t count = packed->size();
  if (count == 0) return array;
  array->count_.store(count, std::memory_order_relaxed);
  array->packed_.store(packed.release(), std::memory_order_relaxed);
  return array;
}

Ref<Array> Array::packed_of(std::vector<std::int64_t> elements) {
  auto packed = std::make_unique<Packed>();
  packed->kind = ValueKind::int_;
  packed->ints = std::move(elements);
  return of_packed(std::move(packed));
}

Ref<Array> Array::packed_of(std::vector<double> elements) {
  auto packed = std::make_unique<Packed>();
  packed->kind = ValueKind::float_;
  packed->floats = std::move(elements);
  return of_packed(std::move(packed));
}

// ---------------------------------------------------------------- packed

const void* Array::Packed::data() const {
  if (kind == ValueKind::int_) return ints.data();
  if (kind == ValueKind::float_) return floats.data();
  return booleans.data();
}

Value Array::Packed::at(std::size_t index) const {
  if (kind == ValueKind::int_) return Value::of(ints[index]);
  if (kind == ValueKind::float_) return Value::of(floats[index]);
  return Value::of(booleans[index] != 0);
}

void Array::Packed::reserve(ValueKind element_kind, std::size_t count) {
  if (element_kind == ValueKind::int_) ints.reserve(count);
  if (element_kind == ValueKind::float_) floats.reserve(count);
  if (element_kind == ValueKind::boolean) booleans.reserve(count);
}

bool Array::Packed::add(const Value& value) {
  if (kind == ValueKind::none) kind = value.kind();
  if (value.kind() != kind) return false;
  if (kind == ValueKind::int_)
    ints.push_back(value.as_int());
  else if (kind == ValueKind::float_)
    floats.push_back(value.as_float());
  else if (kind == ValueKind::boolean)
    booleans.push_back(value.as_bool() ? 1 : 0);
  else
    return false;
  return true;
}

bool Array::Packed::add(const Future& element) {
  if (!element.is_resolved() || element.kind() >= ValueKind::string) return false;
  return add(Value::from_bits(element.kind(), element.peek()));
}

bool Array::Packed::add(const NumberChunk& numbers) {
  if (kind == ValueKind::none) kind = numbers.kind();
  if (kind != numbers.kind()) return false;
  const auto append = [&]<typename T>(std::vector<T>& to) {
    const T* from = static_cast<const T*>(numbers.words());
    to.insert(to.end(), from, from + NumberChunk::size);
  };
  if (kind == ValueKind::int_) append(ints);
  if (kind == ValueKind::float_) append(floats);
  if (kind == ValueKind::boolean) append(booleans);
  return true;
}

/// @return null if it can not be done: not yet (then `unset_` is an element that has no value yet), or never
std::unique_ptr<Array::Packed> Array::pack() {
  auto packed = std::make_unique<Packed>();
  std::int64_t next = 0;
  bool is_dense = true;
  Future* unset = nullptr;
  visit_elements(
      [&](const Value& key, ElementSlot element) {
        if (!is_dense || unset || element.mark->load(std::memory_order_acquire) != ElementMark::inserted) return;
        is_dense = key.kind() == ValueKind::int_ && key.as_int() == next;
        if (is_dense && !element.future->is_resolved()) {
          unset = element.future;
        } else if (is_dense) {
          if (next++ == 0) packed->reserve(element.future->kind(), size());
          is_dense = packed->add(*element.future);
        }
      },
      [&](std::int64_t first_key, const NumberChunk& numbers) {
        if (!is_dense || unset) return;
        is_dense = first_key == next && packed->add(numbers);
        next += NumberChunk::size;
      });
  if (is_dense && !unset) return packed;
  if (unset)
    unset_.store(unset, std::memory_order_relaxed);
  else
    is_never_packed_.store(true, std::memory_order_relaxed);
  return nullptr;
}

Future* Array::unset_element() const {
  Future* unset = unset_.load(std::memory_order_relaxed);  // relaxed: a future says itself whether it is resolved
  return unset && !unset->is_resolved() ? unset : nullptr;
}

const void* Array::packed(std::size_t& count) {
  count = size();
  if (!is_complete() || count == 0) return nullptr;
  Packed* packed = packed_.load(std::memory_order_acquire);
  if (!packed) {
    if (is_never_packed_.load(std::memory_order_relaxed) || unset_element()) return nullptr;
    std::unique_ptr<Packed> made = pack();
    if (!made) return nullptr;
    if (packed_.compare_exchange_strong(packed, made.get(), std::memory_order_acq_rel)) packed = made.release();
  }
  return packed->data();
}

bool Array::is_packable(std::size_t& count) {
  if (packed(count)) return true;
  return is_complete() && count == 0;
}

// ---------------------------------------------------------------- elements

bool Array::in_table(const Value& key) {
  return key.kind() == ValueKind::int_ && key.as_int() >= 0 && key.as_int() < ElementTable::limit;
}

ElementSlot Array::find(const Value& key) const {
  if (in_table(key)) {
    const ElementSlot slot = table_.find(key.as_int());
    if (slot && slot.mark->load(std::memory_order_acquire) != ElementMark::outside) return slot;
  }
  const KeyedElements* keyed = keyed_.load(std::memory_order_acquire);
  return keyed ? keyed->find(key) : ElementSlot();
}

KeyedElements& Array::keyed_elements() {
  KeyedElements* keyed = keyed_.load(std::memory_order_acquire);
  if (!keyed) {
    auto made = std::make_unique<KeyedElements>();
    if (keyed_.compare_exchange_strong(keyed, made.get(), std::memory_order_acq_rel)) keyed = made.release();
  }
  return *keyed;
}

ElementSlot Array::locate(const Value& key) {
  if (!in_table(key)) return keyed_elements().make(key);
  const std::int64_t index = key.as_int();
  if (const ElementSlot slot = table_.find(index)) {
    if (slot.mark->load(std::memory_order_acquire) != ElementMark::outside) return slot;
  } else if (table_.find_numbers(index)) {
    return {};
  } else if (index < ElementTable::small_limit) {
    return table_.make_small(index);
  }
  return keyed_elements().make_in_chunk(index, table_);
}

Value Array::get(const Value& key) const {
  if (const Packed* packed = packed_.load(std::memory_order_acquire)) {
    if (key.kind() != ValueKind::int_ || key.as_int() < 0 || static_cast<std::uint64_t>(key.as_int()) >= packed->size())
      return {};
    return packed->at(static_cast<std::size_t>(key.as_int()));
  }
  if (const NumberChunk* numbers = find_numbers(key)) return numbers->at(key.as_int() % NumberChunk::size);
  const ElementSlot element = find(key);
  return element ? element.future->get() : Value();
}

bool Array::contains(const Value& key) const {
  if (const Packed* packed = packed_.load(std::memory_order_acquire))
    return key.kind() == ValueKind::int_ && key.as_int() >= 0 &&
           static_cast<std::uint64_t>(key.as_int()) < packed->size();
  if (find_numbers(key)) return true;
  const ElementSlot element = find(key);
  return element && element.mark->load(std::memory_order_acquire) == ElementMark::inserted;
}

Future* Array::element(const Value& key) {
  if (is_closed()) {
    const ElementSlot element = find(key);
    return element && element.mark->load(std::memory_order_acquire) == ElementMark::inserted ? element.future : nullptr;
  }
  const ElementSlot element = locate(key);
  if (!element) return nullptr;
  ElementMark mark = element.mark->load(std::memory_order_acquire);
  if (mark == ElementMark::inserted) return element.future;
  if (mark == ElementMark::untouched) {
    awaited_count_.fetch_add(1, std::memory_order_seq_cst);  // before the mark: see Note [Closing]
    if (!element.mark->compare_exchange_strong(mark, ElementMark::awaited, std::memory_order_seq_cst))
      awaited_count_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: the one who made the mark has counted it
    if (mark == ElementMark::inserted) return element.future;
  }
  if (!closing_.load(std::memory_order_seq_cst)) return element.future;
  // it may have been inserted since the mark was looked at
  return element.mark->load(std::memory_order_acquire) == ElementMark::inserted ? element.future : nullptr;
}

bool Array::mark_inserted(ElementSlot element) {
  const ElementMark before = element.mark->exchange(ElementMark::inserted, std::memory_order_acq_rel);
  // relaxed: the closer sees it through writers_
  if (before == ElementMark::awaited) awaited_count_.fetch_sub(1, std::memory_order_relaxed);
  return before != ElementMark::inserted;
}

Future* Array::insert(const Value& key) {
  const ElementSlot element = locate(key);
  return element && mark_inserted(element) ? element.future : nullptr;
}

bool Array::insert_numbers(std::int64_t first, NumberChunk::Owner& numbers) {
  return keyed_elements().adopt_in_chunk(first, numbers, table_);
}

void Array::insert_reduced(const ChunkReductions& chunks) {
  const std::lock_guard lock(reductions_->mutex);
  reductions_->all.add(chunks);
}

Ref<Array> Array::row(const Value& key, WakeList& wake) {
  const std::lock_guard lock(rows_mutex_);
  const ElementSlot element = locate(key);
  if (!element || !mark_inserted(element)) {
    const Value value = get(key);
    const bool is_own = value.kind() == ValueKind::array && value.as_array().parent_.load() == this;
    return is_own ? Ref<Array>::share(&value.as_array()) : Ref<Array>();
  }
  Ref<Array> row = make_ref<Array>(1, std::string_view(), place_);
  row->row_name_ = element_name(key);
  row->name_ = row->row_name_;
  row->parent_ = this;
  rows_.push_back(row);
  element.future->set(Value::of_object(ValueKind::array, row), wake);
  return row;
}

Ref<Bag> Array::bag_row(const Value& key, WakeList& wake) {
  const std::lock_guard lock(rows_mutex_);
  const ElementSlot element = locate(key);
  if (!element || !mark_inserted(element)) {
    const Value value = get(key);
    const bool is_own = value.kind() == ValueKind::bag && value.as_bag().parent.load() == this;
    return is_own ? Ref<Bag>::share(&value.as_bag()) : Ref<Bag>();
  }
  Ref<Bag> row = make_ref<Bag>(1);
  row->parent = this;
  bag_rows_.push_back(row);
  element.future->set(Value::of_object(ValueKind::bag, row), wake);
  return row;
}

// ---------------------------------------------------------------- closing

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

std::string missing_text(std::string_view name, const Value& key, const std::string& extent) {
  const std::string what = name.empty() ? "the array" : "`" + std::string(name) + "`";
  return what + " has no element " + key_text(key) + ": " + extent;
}

}  // namespace

void Array::release_writers(std::int32_t count, WakeList& wake) {
  // acq_rel: the last writer sees all inserts of the others
  if (writers_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
  closing_.store(true, std::memory_order_seq_cst);
  const bool has_failed = failure_.is_failed();
  const auto close_rows = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (has_failed) row->fail(failure_.get());
      row->release_writers(1, wake);
    }
  };
  for (const Ref<Array>& row : rows_) row->parent_ = nullptr;
  for (const Ref<Bag>& row : bag_rows_) row->parent = nullptr;
  close_rows(rows_);
  close_rows(bag_rows_);
  rows_.clear();
  bag_rows_.clear();
  closed_.set(has_failed ? failure_.get() : Value::of_void(), wake);
  if (awaited_count_.load(std::memory_order_seq_cst) == 0) return;
  const std::string extent = has_failed ? "" : extent_text(*this);
  visit_elements(
      [&](const Value& key, ElementSlot element) {
        if (element.mark->load(std::memory_order_acquire) == ElementMark::awaited)
          element.future->set(
              has_failed ? failure_.get() : failed_value(make_ref<Failure>(missing_text(name_, key, extent), place_)),
              wake);
      },
      no_numbers);
}

std::string Array::element_name(const Value& key) const {
  return (name_.empty() ? "array" : std::string(name_)) + "[" + key_text(key) + "]";
}

Ref<Failure> Array::missing(const Value& key) const {
  if (closed_.is_failed()) return Ref<Failure>::share(&as_failure(closed_.get()));
  return make_ref<Failure>(missing_text(name_, key, extent_text(*this)), place_);
}

// ---------------------------------------------------------------- iteration

template <typename Visit, typename VisitNumbers>
void Array::visit_elements(const Visit& visit, const VisitNumbers& visit_numbers) const {
  std::vector<std::pair<Value, ElementSlot>> keyed;
  // elements made meanwhile are placeholders: their readers look after themselves
  if (const KeyedElements* elements = keyed_.load(std::memory_order_acquire)) keyed = elements->sorted();
  auto next = keyed.begin();
  const auto visit_keyed = [&] {
    // seq_cst: see Note [Closing]
    if (next->second.mark->load(std::memory_order_seq_cst) != ElementMark::untouched) visit(next->first, next->second);
    ++next;
  };
  const auto visit_keyed_below = [&](std::int64_t key) {
    while (next != keyed.end() && next->first.kind() == ValueKind::int_ && next->first.as_int() < key) visit_keyed();
  };
  table_.visit(
      [&](std::int64_t key, ElementSlot element) {
        visit_keyed_below(key);
        visit(Value::of(key), element);
      },
      [&](std::int64_t first_key, const NumberChunk& numbers) {
        visit_keyed_below(first_key);
        visit_numbers(first_key, numbers);
      });
  while (next != keyed.end()) visit_keyed();
}

std::size_t Array::size() const {
  std::size_t count = count_.load(std::memory_order_relaxed);  // relaxed: publishes nothing but itself
  if (count != uncounted) return count;
  const bool is_final = is_closed();
  count = 0;
  visit_elements(
      [&](const Value&, ElementSlot element) {
        if (element.mark->load(std::memory_order_acquire) == ElementMark::inserted) ++count;
      },
      [&](std::int64_t, const NumberChunk&) { count += static_cast<std::size_t>(NumberChunk::size); });
  if (reductions_) {
    const std::lock_guard lock(reductions_->mutex);
    count += reductions_->all.count;
  }
  if (is_final) count_.store(count, std::memory_order_relaxed);
  return count;
}

void Array::for_each(const std::function<void(const Value&, const Value&)>& visit) const {
  if (const Packed* packed = packed_.load(std::memory_order_acquire)) {
    for (std::size_t i = 0; i < packed->size(); ++i) visit(Value::of(static_cast<std::int64_t>(i)), packed->at(i));
    return;
  }
  visit_elements(
      [&](const Value& key, ElementSlot element) {
        if (element.mark->load(std::memory_order_acquire) == ElementMark::inserted) visit(key, element.future->get());
      },
      [&](std::int64_t first_key, const NumberChunk& numbers) {
        for (std::int64_t i = 0; i < NumberChunk::size; ++i) visit(Value::of(first_key + i), numbers.at(i));
      });
}

void Array::for_each_run(const std::function<void(const void*, std::size_t)>& visit) const {
  if (const Packed* packed = packed_.load(std::memory_order_acquire)) return visit(packed->data(), packed->size());
  visit_elements(
      [&](const Value&, ElementSlot element) {
        if (element.mark->load(std::memory_order_acquire) != ElementMark::inserted) return;
        const std::uint64_t bits = element.future->peek();
        visit(&bits, 1);
      },
      [&](std::int64_t, const NumberChunk& numbers) { visit(numbers.words(), NumberChunk::size); });
}

namespace {

/// Cuts numbers that come in order into blocks.
template <typename T>
class Blocks {
 public:
  explicit Blocks(ReductionTree<T>& tree) : tree_(tree) { numbers_.reserve(ReductionTree<T>::block_size); }
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
    if (!numbers_.empty()) tree_.add(block_, Reduction<T>::of(numbers_));
    numbers_.clear();
  }
  ReductionTree<T>& tree_;
  std::uint64_t block_ = 0;
  std::vector<T> numbers_;
};

}  // namespace

template <typename T>
Reduction<T> Array::reduce() const {
  constexpr std::size_t size = ReductionTree<T>::block_size;
  ReductionTree<T> all, others;
  if (reductions_) {
    const std::lock_guard lock(reductions_->mutex);
    all.add(reductions_->all.tree<T>());
  }
  if (const Packed* packed = packed_.load(std::memory_order_acquire)) {
    const std::span<const T> numbers(static_cast<const T*>(packed->data()), packed->size());
    for (std::size_t first = 0; first < numbers.size(); first += size)
      all.add(first / size, Reduction<T>::of(numbers.subspan(first, std::min(size, numbers.size() - first))));
    return all.total();
  }
  {
    Blocks<T> by_key(all), by_order(others);
    std::uint64_t other_count = 0;
    visit_elements(
        [&](const Value& key, ElementSlot element) {
          if (element.mark->load(std::memory_order_acquire) != ElementMark::inserted) return;
          const T number = std::bit_cast<T>(element.future->peek());
          if (key.kind() == ValueKind::int_ && key.as_int() >= 0)
            by_key.add(static_cast<std::uint64_t>(key.as_int()) / size, number);
          else
            by_order.add(other_count++ / size, number);
        },
        [&](std::int64_t first_key, const NumberChunk& numbers) {
          all.add(static_cast<std::uint64_t>(first_key) / size,
                  Reduction<T>::of({static_cast<const T*>(numbers.words()), size}));
        });
  }
  return all.total().joined(others.total());
}

template Reduction<std::int64_t> Array::reduce() const;
template Reduction<double> Array::reduce() const;

void Array::for_each_future(const std::function<void(Future&)>& visit) const {
  visit_elements(
      [&](const Value&, ElementSlot element) {
        if (element.mark->load(std::memory_order_acquire) == ElementMark::inserted) visit(*element.future);
      },
      no_numbers);
}

}  // namespace raddle::vm
