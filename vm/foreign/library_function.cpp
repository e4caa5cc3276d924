#include "vm/foreign/library_function.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

#include "vm/foreign/crash_notice.hpp"
#include "vm/foreign/isolated_call.hpp"
#include "vm/value/array.hpp"
#include "vm/value/zero_byte.hpp"

namespace raddle::vm {

namespace {

ffi_type* type_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::int_: return &ffi_type_sint64;
    case ValueKind::float_: return &ffi_type_double;
    case ValueKind::boolean: return &ffi_type_uint8;
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

ValueKind output_kind(const ForeignFunction& function) {
  return function.outputs.empty() ? ValueKind::void_ : function.outputs[0].type.kind;
}

}  // namespace

/// The arguments of one call as C has them.
class LibraryFunction::Arguments {
 public:
  /// Of another call. @param word_count  of all that will be added
  void begin(std::size_t word_count) {
    words_.clear();
    words_.reserve(word_count);
  }
  /// @return what is wrong with them, or ""
  std::string add(const std::string& name, const Value& value) {
    Word& word = words_.emplace_back();
    switch (value.kind()) {
      case ValueKind::int_: word.number = value.as_int(); break;
      case ValueKind::float_: word.real = value.as_float(); break;
      case ValueKind::boolean: word.truth = value.as_bool() ? 1 : 0; break;
      case ValueKind::string: word.pointer = value.as_string().c_str(); break;
      case ValueKind::void_: words_.pop_back(); break;  // only waited for
      case ValueKind::array: return add_array(name, value.as_array());
      case ValueKind::none:
      case ValueKind::bag:
      case ValueKind::structure:
      case ValueKind::file:
      case ValueKind::blob:
      case ValueKind::updateable:
      case ValueKind::failure: return fmt::format("input `{}` has no form in C", name);
    }
    return {};
  }
  void** pointers() {
    pointers_.clear();
    for (Word& word : words_) pointers_.push_back(&word);
    return pointers_.data();
  }

 private:
  union Word {
    std::int64_t number;
    double real;
    std::uint8_t truth;
    const void* pointer;
  };

  std::string add_array(const std::string& name, Array& array) {
    std::size_t count = 0;
    words_.back().pointer = array.packed(count);
    if (words_.back().pointer == nullptr && array.size() != 0) {
      return fmt::format("input `{}` must have the keys 0 to {}: a library gets its elements side by side", name,
                         array.size() - 1);
    }
    words_.emplace_back().number = static_cast<std::int64_t>(count);
    return {};
  }

  std::vector<Word> words_;  // addresses last: it does not grow beyond what was reserved
  std::vector<void*> pointers_;
};

void LibraryFunction::load() {
  tell_of_crashes();
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
  for (const ForeignFormal& input : function_.inputs) {
    if (input.type.kind == ValueKind::void_) continue;
    argument_types_.push_back(type_of(input.type.kind));
    if (input.type.kind == ValueKind::array) argument_types_.push_back(&ffi_type_sint64);
  }
  const auto count = static_cast<unsigned>(argument_types_.size());
  if (ffi_prep_cif(&interface_, FFI_DEFAULT_ABI, count, type_of(output_kind(function_)), argument_types_.data()) !=
      FFI_OK) {
    problem_ = fmt::format("`{}` can not be called on this machine", function_.code);
  }
}

std::string LibraryFunction::call(std::span<const Value> inputs, std::span<Value> outputs) {
  std::call_once(once_, [this] { load(); });
  if (!problem_.empty()) return problem_;
  thread_local Arguments arguments;             // its memory is kept
  arguments.begin(argument_types_.size() + 1);  // and a void one, for a moment
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::string problem = arguments.add(function_.inputs[i].name, inputs[i]);
    if (!problem.empty()) return problem;
  }
  if (function_.kind == ForeignKind::isolated_library)
    return call_isolated(function_, outputs, [&] { return call_here(arguments, outputs); });
  return call_here(arguments, outputs);
}

std::string LibraryFunction::call_here(Arguments& arguments, std::span<Value> outputs) {
  // small results come as a whole word
  union {
    ffi_arg word;
    std::int64_t number;
    double real;
    const char* text;
  } result{};
  ffi_call(&interface_, address_, &result, arguments.pointers());
  write_output_of_c();
  if (outputs.empty()) return {};
  Value& output = outputs[0];
  switch (output_kind(function_)) {
    case ValueKind::int_: output = Value::of(result.number); break;
    case ValueKind::float_: output = Value::of(result.real); break;
    case ValueKind::boolean: output = Value::of((result.word & 0xFF) != 0); break;
    case ValueKind::string:
      if (result.text == nullptr) return fmt::format("`{}` gave no string", function_.code);
      output = Value::of(std::string(result.text));
      break;
    case ValueKind::none:
    case ValueKind::void_:
    case ValueKind::array:
    case ValueKind::bag:
    case ValueKind::structure:
    case ValueKind::file:
    case ValueKind::blob:
    case ValueKind::updateable:
    case ValueKind::failure: output = Value::of_void();
  }
  return {};
}

}  // namespace raddle::vm
