#include "vm/value/array.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "vm/value/bag.hpp"
#include "vm/value/keyed_elements.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {

namespace {

/// @param kind  of all of them: a number's
Buffer::Owner packed_values(ValueKind kind, const std::vector<Value>& elements) {
  Buffer::Owner packed = Buffer::make(kind, elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) packed->set(i, elements[i]);
  return packed;
}

}  // namespace

Array::Array(std::int32_t writers, std::string_view name, Place place) : writers_(writers) {
  WakeList nobody;
  if (writers == 0) closed_.set(Value::of_void(), nobody);
  if (name.empty() && place == Place()) return;
  rest().name = name;
  rest().place = place;
}

Array::~Array() {
  if (!is_closed()) share_family(count_rows());
  if (family_) family_->release();
  delete rest_.load(std::memory_order_relaxed);
}

Array::Rest::~Rest() {
  if (const Family* family = rows.load(std::memory_order_relaxed)) family->release();
  delete keyed.load(std::memory_order_relaxed);
  const OpenNumbers* const open = numbers.load(std::memory_order_relaxed);
  Buffer* const closed = packed.load(std::memory_order_relaxed);
  if (closed && !(open && open->storage() == closed)) Buffer::Free()(closed);
  delete open;
}

// ---------------------------------------------------------------- made whole

Ref<Array> Array::dense(std::vector<Value> elements) {
  const ValueKind kind = elements.empty() ? ValueKind::none : elements[0].kind();
  if (is_number(kind) && std::ranges::all_of(elements, [&](const Value& each) { return each.kind() == kind; }))
    return packed_of(packed_values(kind, elements));
  Ref<Array> array = make_ref<Array>(0);
  WakeList nobody;
  for (std::size_t i = 0; i < elements.size(); ++i)
    array->insert(Value::of(static_cast<std::int64_t>(i)), std::move(elements[i]), nobody);
  return array;
}

Ref<Array> Array::keyed(std::vector<std::pair<Value, Value>> entries) {
  Ref<Array> array = make_ref<Array>(0);
  WakeList nobody;
  for (auto& [key, value] : entries) array->insert(key, std::move(value), nobody);
  return array;
}

Ref<Array> Array::packed_of(Buffer::Owner packed) {
  Ref<Array> array = make_ref<Array>(0);
  if (packed->count() == 0) return array;
  Rest& rest = array->rest();
  rest.count.store(packed->count(), std::memory_order_relaxed);
  packed->close();
  rest.packed.store(packed.release(), std::memory_order_relaxed);
  return array;
}

template <typename T>
Ref<Array> Array::packed_copy(ValueKind kind, const std::vector<T>& elements) {
  Buffer::Owner packed = Buffer::make(kind, elements.size());
  std::ranges::copy(elements, static_cast<T*>(packed->at_index(0)));
  return packed_of(std::move(packed));
}
Ref<Array> Array::packed_of(std::vector<std::int64_t> elements) { return packed_copy(ValueKind::int_, elements); }
Ref<Array> Array::packed_of(std::vector<double> elements) { return packed_copy(ValueKind::float_, elements); }

// ---------------------------------------------------------------- elements

namespace {

std::string element_text(const std::string& array, const std::string& index) {
  return (array.empty() ? "array" : array) + "[" + index + "]";
}

}  // namespace

Element* Array::find_keyed(const Value& key) const {
  const Rest* rest = find_rest();
  const KeyedElements* keyed = rest ? rest->keyed.load(std::memory_order_acquire) : nullptr;
  return keyed ? keyed->find(key) : nullptr;
}

KeyedElements& Array::keyed_elements() { return made_once(rest().keyed); }

Element* Array::make_element(const Value& key) {
  if (!in_table(key)) return keyed_elements().make(key);
  const std::int64_t index = key.as_int();
  if (table_.find_number(index).count != 0) return nullptr;
  if (index < ElementTable::small_limit) return table_.make_small(index);
  return keyed_elements().make_in_chunk(index, table_);
}

void Array::insert_run(std::int64_t first, const NumberRun& numbers, std::vector<std::int64_t>& rest, WakeList& wake) {
  const auto leave = [&rest](std::int64_t from, std::int64_t end) {
    for (std::int64_t key = from; key < end; ++key) rest.push_back(key);
  };
  const std::int64_t end = first + numbers.count;
  if (has_numbers_) {
    OpenNumbers& open = open_numbers();
    Buffer& storage = open.numbers();
    const auto claimed = static_cast<std::int64_t>(open.claim(first, static_cast<std::size_t>(numbers.count)));
    const auto bytes = static_cast<std::size_t>(claimed) * Buffer::size_of(numbers.kind);
    if (claimed != 0) std::memcpy(storage.at_index(static_cast<std::size_t>(first)), numbers.words, bytes);
    tell_written({first, claimed}, wake);
    return leave(first + claimed, end);
  }
  if (keeps_reductions() || first < 0 || end > ElementTable::limit) return leave(first, end);
  for (std::int64_t at = first; at < end;) {
    const std::int64_t next = std::min(end, at - at % NumberChunk::size + NumberChunk::size);
    const NumberRun part = numbers.part(at - first, next - at);
    if (at < ElementTable::small_limit)
      table_.adopt_small(at, part, leave);
    else
      keyed_elements().insert_in_chunk(at, part, table_, rest);
    at = next;
  }
}

Value Array::get(const Value& key) const {
  if (const Buffer* packed = find_packed()) {
    if (key.kind() != ValueKind::int_ || key.as_int() < 0 ||
        static_cast<std::uint64_t>(key.as_int()) >= packed->count())
      return {};
    return packed->at(static_cast<std::size_t>(key.as_int()));
  }
  if (has_number(key)) return numbers()->at(key.as_int());
  if (const NumberRun number = find_numbers(key); number.count != 0) return number.at(0);
  const Element* element = find(key);
  return element ? element->get() : Value();
}

bool Array::contains(const Value& key) const {
  if (const Buffer* packed = find_packed())
    return key.kind() == ValueKind::int_ && key.as_int() >= 0 &&
           static_cast<std::uint64_t>(key.as_int()) < packed->count();
  if (find_numbers(key).count != 0 || has_number(key)) return true;
  const Element* element = find(key);
  return element && element->is_inserted();
}

bool Array::find_stored(std::int64_t key, ValueKind kind, std::int64_t& word) const {
  if (const Buffer* packed = find_packed()) {
    if (packed->kind() != kind || key < 0 || static_cast<std::uint64_t>(key) >= packed->count()) return false;
    word = packed->word(static_cast<std::size_t>(key));
    return true;
  }
  if (key >= 0 && key < ElementTable::limit) {
    if (const NumberRun number = table_.find_number(key); number.count != 0 && number.kind == kind) {
      word = static_cast<std::int64_t>(number.bits(0));
      return true;
    }
  }
  const OpenNumbers* const numbers = this->numbers();
  if (!numbers || numbers->kind() != kind || !numbers->is_written(key)) return false;
  word = numbers->word(key);
  return true;
}

Future* Array::element(const Value& key) {
  if (is_closed()) {
    Element* const element = find(key);
    return element && element->is_inserted() ? element : nullptr;
  }
  if (has_number(key)) return nullptr;
  Element* const element = locate(key);
  if (!element) return nullptr;
  ElementMark mark = element->mark();
  if (mark == ElementMark::untouched) {
    // before the mark: see Note [Closing]. Looked at first, as others may be reading it
    if (!has_awaited_.load(std::memory_order_seq_cst)) has_awaited_.store(true, std::memory_order_seq_cst);
    mark = element->await();
  }
  if (mark != ElementMark::inserted && has_number(key)) return nullptr;  // after the mark: see Note [Promises]
  // the mark once more: it may have been inserted since it was looked at
  return mark == ElementMark::inserted || !closing_.load(std::memory_order_seq_cst) || element->is_inserted() ? element
                                                                                                              : nullptr;
}

/// A dense array has all elements that its extents say, or has failed.
void Array::fail_if_incomplete() {
  const Rest* const known = find_rest();
  if (!known || known->extents.empty() || known->failure.is_failed()) return;
  std::size_t wanted = 1;  // unsigned: beside an extent of 0 others may be as large as they like
  for (const std::int64_t extent : known->extents) wanted *= static_cast<std::size_t>(extent);
  const std::size_t found = size();
  if (found == wanted) return;
  std::int64_t missing = 0;
  while (contains(Value::of(missing))) ++missing;
  rest().lacks_elements = true;
  fail(failed_value(make_ref<Failure>(
      fmt::format("`{}` was never assigned: {} of {} elements {} missing", element_name(Value::of(missing)),
                  wanted - found, wanted, wanted - found == 1 ? "is" : "are"),
      place())));
}

bool Array::insert_numbers(std::int64_t first, NumberChunk::Owner& numbers) {
  return keyed_elements().adopt_in_chunk(first, numbers, table_);
}

void Array::insert_reduced(const ChunkReductions& chunks) {
  const std::lock_guard lock(reductions()->mutex);
  reductions()->all.add(chunks);
}

Array* Array::row(const Value& key, WakeList& wake) {
  Element* const element = locate(key);
  if (!element || element->is_inserted()) return made_row(key);
  Ref<Array> made = make_ref<Array>(1);
  Array* const row = made.get();
  row->family_ = &family();
  if (key.kind() == ValueKind::int_ && key.as_int() >= 0 && key.as_int() < no_row_key)
    row->row_key_ = static_cast<std::uint32_t>(key.as_int());
  else
    row->rest().name = element_name(key);
  if (element->insert_row(Value::of_object(ValueKind::array, made), wake)) return row;
  row->family_ = nullptr;
  element->settle();  // somebody else was faster
  return made_row(key);
}

Ref<Bag> Array::bag_row(const Value& key, WakeList& wake) {
  const auto made = [&] {
    const Value value = get(key);
    const bool is_row = value.kind() == ValueKind::bag && value.as_bag().parent.load() == this;
    return is_row ? Ref<Bag>::share(&value.as_bag()) : Ref<Bag>();
  };
  if (Ref<Bag> there = made()) return there;
  Ref<Bag> row = make_ref<Bag>(1);
  row->parent = this;
  if (!rest().has_bags.load(std::memory_order_relaxed)) rest().has_bags.store(true, std::memory_order_relaxed);
  Element* const element = locate(key);
  if (element && element->insert(Value::of_object(ValueKind::bag, row), wake)) return row;
  if (element) element->settle();
  return made();
}

Array::Family& Array::family() {
  std::atomic<Family*>& rows = rest().rows;
  Family* there = rows.load(std::memory_order_acquire);
  if (!there) {
    Ref<Family> made = make_ref<Family>(*this, name(), place());
    if (rows.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) there = made.give_up();
  }
  return *there;
}

/// Rows may outlive this array from now on. When it is closed, or deleted without that.
void Array::share_family(std::uint32_t row_count) {
  const Rest* const rest = find_rest();
  Family* const family = rest ? rest->rows.load(std::memory_order_acquire) : nullptr;
  if (!family) return;
  family->retain(row_count);
  family->array.store(nullptr, std::memory_order_release);
}

std::string Array::name() const {
  if (row_key_ != no_row_key) return element_text(family_->name, std::to_string(row_key_));
  const Rest* rest = find_rest();
  return rest ? rest->name : std::string();
}

Place Array::place() const {
  if (family_) return family_->place;
  const Rest* rest = find_rest();
  return rest ? rest->place : Place();
}

std::span<const std::int64_t> Array::extents() const {
  const Rest* const rest = find_rest();
  return rest ? std::span<const std::int64_t>(rest->extents) : std::span<const std::int64_t>();
}

std::string Array::index_text(const Value& key) const { return vm::index_text(extents(), key); }

std::string Array::element_name(const Value& key) const { return element_text(name(), index_text(key)); }

}  // namespace raddle::vm
