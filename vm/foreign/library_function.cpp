#include "vm/foreign/library_function.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "vm/foreign/c_arguments.hpp"
#include "vm/foreign/isolated_call.hpp"
#include "vm/value/zero_byte.hpp"

namespace raddle::vm {

namespace {

ffi_type* type_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::int_: return &ffi_type_sint64;
    case ValueKind::float_: return &ffi_type_double;
    case ValueKind::boolean: return &ffi_type_uint8;
    case ValueKind::int32: return &ffi_type_sint32;
    case ValueKind::float32: return &ffi_type_float;
    case ValueKind::void_:
    case ValueKind::none: return &ffi_type_void;
    case ValueKind::string:
    case ValueKind::array:
    case ValueKind::bag:
    case ValueKind::structure:
    case ValueKind::file:
    case ValueKind::blob:
    case ValueKind::updateable:
    case ValueKind::failure: break;
  }
  return &ffi_type_pointer;
}

/// Of the output that C returns: the one that is no array. Its number, or that of outputs: there is none.
std::size_t returned_output(const ForeignFunction& function) {
  return static_cast<std::size_t>(std::ranges::find(function.outputs, 0, &ForeignFormal::rank) -
                                  function.outputs.begin());
}

ValueKind returned_kind(const ForeignFunction& function) {
  const std::size_t returned = returned_output(function);
  return returned == function.outputs.size() ? ValueKind::void_ : function.outputs[returned].type.kind;
}

}  // namespace

void LibraryFunction::load() {
  if (has_zero_byte(function_.library)) {
    problem_ = fmt::format("can not load the library: no file has a name with a zero byte, as `{}`", function_.library);
    return;
  }
  void* library = dlopen(function_.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    problem_ = fmt::format("can not load the library: {}", dlerror());
    return;
  }
  address_ = reinterpret_cast<void (*)()>(dlsym(library, function_.code.c_str()));
  if (address_ == nullptr) {
    problem_ = fmt::format("`{}` has no function `{}`", function_.library, function_.code);
    return;
  }
  std::size_t extent_count = 0;
  for (const ForeignFormal& output : function_.outputs) extent_count += output.rank;
  const std::span<const ForeignFormal> inputs = function_.inputs;
  for (const ForeignFormal& input : inputs.first(inputs.size() - extent_count)) {
    if (input.type.kind == ValueKind::void_) continue;
    argument_types_.push_back(type_of(input.type.kind));
    if (input.type.kind == ValueKind::array && input.rank == 0) argument_types_.push_back(&ffi_type_sint64);
  }
  for (const ForeignFormal& output : function_.outputs) {
    if (output.rank == 0) continue;
    argument_types_.push_back(&ffi_type_pointer);
    argument_types_.insert(argument_types_.end(), output.rank, &ffi_type_sint64);
  }
  const auto count = static_cast<unsigned>(argument_types_.size());
  if (ffi_prep_cif(&interface_, FFI_DEFAULT_ABI, count, type_of(returned_kind(function_)), argument_types_.data()) !=
      FFI_OK) {
    problem_ = fmt::format("`{}` can not be called on this machine", function_.code);
  }
}

std::string LibraryFunction::call(std::span<const Value> inputs, std::span<Value> outputs) {
  std::call_once(once_, [this] { load(); });
  if (!problem_.empty()) return problem_;
  const bool is_isolated = function_.kind == ForeignKind::isolated_library;
  thread_local CArguments arguments;  // its memory is kept
  const auto way = is_isolated ? CArguments::Way::other_process : CArguments::Way::returns;
  if (std::string problem = arguments.set(function_, way, inputs); !problem.empty()) return problem;
  Value returned = Value::of_void();
  const auto call = [&] { return call_here(arguments, returned); };
  std::string problem = is_isolated ? call_isolated(function_.name, returned_kind(function_), returned, call) : call();
  if (!problem.empty()) {
    arguments.drop();
    return problem;
  }
  arguments.take_outputs(function_, outputs);
  if (const std::size_t output = returned_output(function_); output != outputs.size()) outputs[output] = returned;
  return {};
}

std::string LibraryFunction::call_here(CArguments& arguments, Value& returned) {
  // small results come as a whole word
  union {
    ffi_arg word;
    std::int64_t number;
    double real;
    float real32;
    const char* text;
  } result{};
  const std::string problem = call_that_may_leave(function_, [&]() -> std::string {
    try {
      ffi_call(&interface_, address_, &result, arguments.pointers());
    } catch (const std::exception& thrown) {  // it may be C++
      return fmt::format("`{}` threw an exception: {}", function_.name, thrown.what());
    } catch (...) {
      return fmt::format("`{}` threw an exception of a type without a text", function_.name);
    }
    return {};
  });
  write_output_of_c();
  if (!problem.empty()) return problem;
  switch (returned_kind(function_)) {
    case ValueKind::int_: returned = Value::of(result.number); break;
    case ValueKind::float_: returned = Value::of(result.real); break;
    case ValueKind::boolean: returned = Value::of((result.word & 0xFF) != 0); break;
    case ValueKind::int32: returned = Value::of_int32(static_cast<std::int32_t>(result.number)); break;
    case ValueKind::float32: returned = Value::of_float32(result.real32); break;
    case ValueKind::string:
      if (result.text == nullptr) return fmt::format("`{}` gave no string", function_.name);
      returned = Value::of(std::string(result.text));
      break;
    case ValueKind::none:
    case ValueKind::void_:
    case ValueKind::array:
    case ValueKind::bag:
    case ValueKind::structure:
    case ValueKind::file:
    case ValueKind::blob:
    case ValueKind::updateable:
    case ValueKind::failure: returned = Value::of_void();
  }
  return {};
}

}  // namespace raddle::vm
