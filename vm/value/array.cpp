#include "vm/value/array.hpp"

#include <algorithm>
#include <memory>
#include <utility>

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
    array->insert(Value::of(static_cast<std::int64_t>(i)), std::move(elements[i]), nobody);
  return array;
}

Ref<Array> Array::keyed(std::vector<std::pair<Value, Value>> entries) {
  Ref<Array> array = make_ref<Array>(0);
  WakeList nobody;
  for (auto& [key, value] : entries) array->insert(key, std::move(value), nobody);
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

// ---------------------------------------------------------------- elements

Element* Array::find_keyed(const Value& key) const {
  const KeyedElements* keyed = keyed_.load(std::memory_order_acquire);
  return keyed ? keyed->find(key) : nullptr;
}

KeyedElements& Array::keyed_elements() {
  KeyedElements* keyed = keyed_.load(std::memory_order_acquire);
  if (!keyed) {
    auto made = std::make_unique<KeyedElements>();
    if (keyed_.compare_exchange_strong(keyed, made.get(), std::memory_order_acq_rel)) keyed = made.release();
  }
  return *keyed;
}

Element* Array::make_element(const Value& key) {
  if (!in_table(key)) return keyed_elements().make(key);
  const std::int64_t index = key.as_int();
  if (table_.find_numbers(index)) return nullptr;
  if (index < ElementTable::small_limit) return table_.make_small(index);
  return keyed_elements().make_in_chunk(index, table_);
}

Value Array::get(const Value& key) const {
  if (const Packed* packed = packed_.load(std::memory_order_acquire)) {
    if (key.kind() != ValueKind::int_ || key.as_int() < 0 || static_cast<std::uint64_t>(key.as_int()) >= packed->size())
      return {};
    return packed->at(static_cast<std::size_t>(key.as_int()));
  }
  if (const NumberChunk* numbers = find_numbers(key)) return numbers->at(key.as_int() % NumberChunk::size);
  const Element* element = find(key);
  return element ? element->get() : Value();
}

bool Array::contains(const Value& key) const {
  if (const Packed* packed = packed_.load(std::memory_order_acquire))
    return key.kind() == ValueKind::int_ && key.as_int() >= 0 &&
           static_cast<std::uint64_t>(key.as_int()) < packed->size();
  if (find_numbers(key)) return true;
  const Element* element = find(key);
  return element && element->is_inserted();
}

Future* Array::element(const Value& key) {
  if (is_closed()) {
    Element* const element = find(key);
    return element && element->is_inserted() ? element : nullptr;
  }
  Element* const element = locate(key);
  if (!element) return nullptr;
  ElementMark mark = element->mark();
  if (mark == ElementMark::untouched) {
    // before the mark: see Note [Closing]. Looked at first, as others may be reading it
    if (!has_awaited_.load(std::memory_order_seq_cst)) has_awaited_.store(true, std::memory_order_seq_cst);
    mark = element->await();
  }
  // the mark once more: it may have been inserted since it was looked at
  return mark == ElementMark::inserted || !closing_.load(std::memory_order_seq_cst) || element->is_inserted() ? element
                                                                                                              : nullptr;
}

bool Array::insert_numbers(std::int64_t first, NumberChunk::Owner& numbers) {
  return keyed_elements().adopt_in_chunk(first, numbers, table_);
}

void Array::insert_reduced(const ChunkReductions& chunks) {
  const std::lock_guard lock(reductions_->mutex);
  reductions_->all.add(chunks);
}

Ref<Array> Array::row(const Value& key, WakeList& wake) {
  if (Array* const made = made_row(key)) return Ref<Array>::share(made);
  const std::lock_guard lock(rows_lock_);
  Ref<Array> row = make_ref<Array>(1, std::string_view(), place_);
  row->row_name_ = element_name(key);
  row->name_ = row->row_name_;
  row->parent_ = this;
  if (!insert(key, Value::of_object(ValueKind::array, row), wake)) return Ref<Array>::share(made_row(key));
  has_rows_ = true;
  return row;
}

Ref<Bag> Array::bag_row(const Value& key, WakeList& wake) {
  const std::lock_guard lock(rows_lock_);
  const Value value = get(key);
  if (value.kind() == ValueKind::bag && value.as_bag().parent.load() == this) return Ref<Bag>::share(&value.as_bag());
  Ref<Bag> row = make_ref<Bag>(1);
  row->parent = this;
  if (!insert(key, Value::of_object(ValueKind::bag, row), wake)) return {};
  has_rows_ = true;
  return row;
}

std::string Array::element_name(const Value& key) const {
  return (name_.empty() ? "array" : std::string(name_)) + "[" + key_text(key) + "]";
}

}  // namespace raddle::vm
