// Arrays, bags and structures.
#include <fmt/format.h>

#include "vm/interpret/forwarder.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/memory/room.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/range.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {

namespace {

Value list_value(Ref<Array> array) { return Value::of_object(ValueKind::array, std::move(array)); }

/// Of a dense array that no memory holds: told before the first of its elements is computed.
std::string too_large_text(std::string_view name, const std::vector<std::int64_t>& extents, double bytes) {
  const std::string shape = fmt::format("[{}]", fmt::join(extents, ", "));
  const std::string what =
      name.empty() ? "an array of the shape " + shape : fmt::format("the array `{}{}`", name, shape);
  return no_room_text(what, bytes);
}

}  // namespace

bool Interpreter::array_new(Frame& frame, const Instruction& in) {
  const ArrayInfo& info = program_.arrays[in.b.bits()];
  Ref<Array> array = make_ref<Array>(static_cast<std::int32_t>(in.d), info.name, info.place);
  if (info.is_reduced) array->keep_reductions(info.has_deviation);
  if (info.rank != 0) {
    std::vector<std::int64_t> extents;
    for (std::uint32_t axis = 0; axis < info.rank; ++axis) {
      Value extent = frame.at(program_.lists[in.c.bits() + axis]).get();
      if (extent.kind() == ValueKind::failure) return put(frame, in, std::move(extent)), false;
      extents.push_back(extent.as_int());
    }
    const ValueKind kind = info.filled_with ? kind_of(*info.filled_with) : ValueKind::float_;
    auto bytes = static_cast<double>(Buffer::size_of(kind));
    for (const std::int64_t extent : extents) bytes *= static_cast<double>(extent);
    if (!has_room_for(bytes)) return here_.fail(frame, in, too_large_text(info.name, extents, bytes)), false;
    std::size_t count = 1;  // unsigned: beside an extent of 0 others may be as large as they like
    for (const std::int64_t extent : extents) count *= static_cast<std::size_t>(extent);
    if (info.filled_with) array->expect_numbers(kind, count);
    array->set_extents(std::move(extents));
  }
  put(frame, in, list_value(std::move(array)));
  return true;
}

bool Interpreter::array_get(Frame& frame, const Instruction& in) {
  Array& array = object_in<Array>(frame.at(in.b));
  const Value key = frame.at(in.c).get();
  if (Value value = array.get(key)) {
    const bool is_missing = value.kind() == ValueKind::failure && !array.contains(key);  // somebody has waited for it
    put(frame, in, is_missing ? missing_element(frame, here_.index_of(in), array, key) : std::move(value));
    return !is_missing;
  }
  Future* element = array.element(key);
  if (!element) {
    if (Value value = array.get(key)) {  // a number came just now
      put(frame, in, std::move(value));
      return true;
    }
    put(frame, in, missing_element(frame, here_.index_of(in), array, key));
    return false;
  }
  frame.retain();
  auto* wait = here_.make<ElementWait>(frame, here_.index_of(in), *element, frame.at(in.b).get(), key);
  if (!element->enlist(*wait)) wait->resolved(*worker_);
  return true;
}

/// The failure for an element that a closed array does not have. If the array has failed, that is the cause; else it is
/// a failure of whoever reads.
Value Interpreter::missing_element(Frame& frame, std::uint32_t instruction, const Array& array, const Value& key) {
  Ref<Failure> cause = array.missing(key);
  if (!array.is_complete()) return failed_value(std::move(cause));
  return here_.failure_at(frame, instruction, cause->message);
}

void ElementWait::resolved(Worker& worker) {
  RunWorker& here = frame.run_state.on(worker);
  const Instruction& in = frame.run_state.program.instructions[instruction];
  Value value = element.get();
  const Array& elements = array.as_array();
  if (value.kind() == ValueKind::failure && !elements.contains(key)) {
    value = here.interpreter().missing_element(frame, instruction, elements, key);
  }
  here.set(frame.at(in.a), std::move(value), frame, instruction, in.a);
  Frame* reader = &frame;
  here.destroy(this);
  here.release(reader);
}

bool Interpreter::array_insert(Frame& frame, const Instruction& in) {
  Array& array = object_in<Array>(frame.at(in.a));
  const Value key = frame.at(in.b).get();
  const Future& source = frame.at(in.c);
  bool is_new = false;
  if (source.is_resolved()) {
    is_new = here_.insert(array, key, source.get());
  } else if (Future* element = array.insert(key)) {
    is_new = true;
    pass_into(frame.at(in.c), frame, *element, frame.at(in.a).get(), here_.index_of(in));
  }
  if (!is_new) here_.element_assigned_twice(frame, program_.places[here_.index_of(in)], array, key);
  here_.writers().release(frame, Operand::from_bits(in.d));
  return is_new;
}

bool Interpreter::array_row(Frame& frame, const Instruction& in) {
  Array& array = object_in<Array>(frame.at(in.b));
  const Value key = frame.at(in.c).get();
  Array* const row = array.row(key, here_.wakes());
  if (!row) {
    const std::string message = fmt::format("`{}` is assigned as a whole and by element", array.element_name(key));
    fail_results(frame, in, here_.failure_at(frame, here_.index_of(in), message));
    return false;
  }
  put(frame, in, list_value(Ref<Array>::share(row)));
  here_.wake();
  here_.writers().release(frame, Operand::from_bits(in.d));
  return true;
}

bool Interpreter::bag_row(Frame& frame, const Instruction& in) {
  Array& array = object_in<Array>(frame.at(in.b));
  const Value key = frame.at(in.c).get();
  Ref<Bag> row = array.bag_row(key, here_.wakes());
  if (!row) {
    const std::string message = fmt::format("`{}` is assigned as a whole and appended to", array.element_name(key));
    fail_results(frame, in, here_.failure_at(frame, here_.index_of(in), message));
    return false;
  }
  put(frame, in, Value::of_object(ValueKind::bag, std::move(row)));
  here_.wake();
  here_.writers().release(frame, Operand::from_bits(in.d));
  return true;
}

void Interpreter::array_list(Frame& frame, const Instruction& in) {
  const Operand* operands = program_.lists.data() + in.b.bits();
  std::vector<Value> values;
  values.reserve(in.d);
  for (std::uint32_t i = 0; i < in.d; ++i) {
    Value value = frame.at(operands[i]).get();
    if (!value || value.kind() == ValueKind::failure) break;
    values.push_back(std::move(value));
  }
  if (values.size() == in.d) return put(frame, in, list_value(Array::dense(std::move(values))));
  Ref<Array> array = make_ref<Array>(1);
  const Value shared = list_value(array);
  for (std::uint32_t i = 0; i < in.d; ++i) {
    Future* element = array->insert(Value::of(static_cast<std::int64_t>(i)));
    pass_into(frame.at(operands[i]), frame, *element, shared, here_.index_of(in));
  }
  array->release_writers(1, here_.wakes());
  put(frame, in, shared);
}

bool Interpreter::array_map(Frame& frame, const Instruction& in) {
  const Operand* operands = program_.lists.data() + in.b.bits();
  Ref<Array> array = make_ref<Array>(1);
  const Value shared = list_value(array);
  for (std::uint32_t i = 0; i + 1 < in.d; i += 2) {
    const Value key = frame.at(operands[i]).get();
    Future* element = array->insert(key);
    if (!element) {
      here_.fail(frame, in, fmt::format("the key {} comes twice", key_text(key)));
      return false;
    }
    pass_into(frame.at(operands[i + 1]), frame, *element, shared, here_.index_of(in));
  }
  array->release_writers(1, here_.wakes());
  put(frame, in, shared);
  return true;
}

bool Interpreter::array_range(Frame& frame, const Instruction& in) {
  const Value low = frame.at(in.b).get(), high = frame.at(in.c).get();
  const Value step = frame.at(Operand::from_bits(in.d)).get();
  std::expected<Ref<Array>, std::string> array = low.kind() == ValueKind::float_
                                                     ? make_range(low.as_float(), high.as_float(), step.as_float())
                                                     : make_range(low.as_int(), high.as_int(), step.as_int());
  if (!array) {
    here_.fail(frame, in, array.error());
    return false;
  }
  put(frame, in, list_value(*std::move(array)));
  return true;
}

void Interpreter::bag_append(Frame& frame, const Instruction& in) {
  const Value bag = frame.at(in.a).get();
  pass_into(frame.at(in.c), frame, bag.as_bag().append(), bag, here_.index_of(in));
  here_.writers().release(frame, Operand::from_bits(in.d));
}

void Interpreter::struct_make(Frame& frame, const Instruction& in) {
  const Operand* operands = program_.lists.data() + in.b.bits();
  Ref<Structure> structure = make_ref<Structure>(program_.structures[in.c.bits()].fields);
  Structure& fields = *structure;
  const Value shared = Value::of_object(ValueKind::structure, std::move(structure));
  for (std::uint32_t i = 0; i < in.d; ++i) {
    pass_into(frame.at(operands[i]), frame, fields.field(i), shared, here_.index_of(in));
  }
  put(frame, in, shared);
}

void Interpreter::struct_get(Frame& frame, const Instruction& in) {
  Future& field = object_in<Structure>(frame.at(in.b)).field(in.d);
  if (field.is_resolved()) return put(frame, in, field.get());
  pass_later(field, frame, frame, in.a, here_.index_of(in));  // the frame keeps the structure, too
}

bool Interpreter::struct_set(Frame& frame, const Instruction& in) {
  const Value structure = frame.at(in.a).get();
  Future& field = structure.as_structure().field(in.d);
  if (field.is_resolved()) {
    here_.field_assigned_twice(frame, here_.index_of(in));
    return false;
  }
  pass_into(frame.at(in.c), frame, field, structure, here_.index_of(in));
  return true;
}

}  // namespace raddle::vm
