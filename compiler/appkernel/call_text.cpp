#include "compiler/appkernel/call_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "vm/foreign/app_kernel.hpp"

namespace raddle::appkernel {
namespace {

const char* type_name(vm::ValueKind kind) {
  switch (kind) {
    case vm::ValueKind::int_: return "std::int64_t";
    case vm::ValueKind::float_: return "double";
    case vm::ValueKind::boolean: return "bool";
    case vm::ValueKind::int32: return "std::int32_t";
    case vm::ValueKind::float32: return "float";
    default: return "const char*";
  }
}

/// Declares a variable for each argument, as messages show the call.
class ArgumentTexts {
 public:
  /// @param is_const  of an input
  void add(const vm::ForeignFormal& formal, bool is_const) {
    const std::string name = formal.name + "_";  // no keyword of C++
    names_.push_back(name);
    const bool is_array = formal.type.kind == vm::ValueKind::array;
    const char* const element = type_name(is_array ? formal.type.element.at(0).kind : formal.type.kind);
    const std::uint32_t dimensions = !is_array ? 0 : formal.rank == 0 ? 1 : formal.rank;
    if (!is_const)
      outputs_ += fmt::format("    copies.add<{}>(\"{}\", {}, {});\n", element, formal.name, next_, dimensions);
    if (!is_array) {
      const std::string type = fmt::format("const {}<{}>", is_const ? "Argument" : "OutputByReference", element);
      declarations_ +=
          fmt::format("  {} {}{{at<{}{}>(words, {})}};\n", type, name, is_const ? "const " : "", element, next_++);
      return;
    }
    const char* const qualifier = is_const ? "const " : "";
    declarations_ += fmt::format("  const raddle::Array<{1}{2}, {3}> {0}{{at<{1}{2}* const>(words, {4}), {{", name,
                                 qualifier, element, dimensions, next_++);
    for (std::uint32_t axis = 0; axis < dimensions; ++axis)  // C has the length of a growing array
      declarations_ += fmt::format("{}at<const std::int64_t>(words, {})", axis == 0 ? "" : ", ", next_++);
    declarations_ += "}};\n";
  }

  const std::string& declarations() const { return declarations_; }
  /// Adds them to OutputCopies.
  const std::string& outputs() const { return outputs_; }
  std::size_t word_count() const { return next_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::size_t next_ = 0;
  std::string declarations_, outputs_;
  std::vector<std::string> names_{"warp"};
};

}  // namespace

static std::string symbol_of(const char* what, const vm::ForeignFunction& function) {
  std::string symbol = what + function.code;
  std::ranges::replace(symbol, ':', '_');
  return symbol;
}
std::string call_symbol(const vm::ForeignFunction& function) { return symbol_of("raddle_kernel_", function); }
std::string check_symbol(const vm::ForeignFunction& function) { return symbol_of("raddle_check_", function); }

std::string call_text(const vm::ForeignFunction& function, const std::string& path) {
  ArgumentTexts arguments;
  std::size_t extent_count = 0;
  for (const vm::ForeignFormal& output : function.outputs) extent_count += output.rank;
  for (std::size_t i = 0; i + extent_count < function.inputs.size(); ++i) {
    const vm::ForeignFormal& input = function.inputs[i];
    if (input.type.kind != vm::ValueKind::void_) arguments.add(input, true);  // void is only waited for
    i += input.rank;                                                          // extents are taken with their array
  }
  for (const vm::ForeignFormal& output : function.outputs) arguments.add(output, false);
  return fmt::format(R"(#include "raddle_kernel_math.h"

#include <cstddef>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <type_traits>

#include "raddle_kernel.h"
#include "{0}"

#line 1 "{3}"
namespace {{

/// Becomes its own type, and no other.
template <typename T>
struct Argument {{
  const T& value;
  template <typename Parameter>
    requires std::is_same_v<Parameter, T>
  operator Parameter() const {{
    return value;
  }}
}};

/// Becomes a reference that is not const: what is written elsewhere would be lost without a word.
template <typename T>
struct OutputByReference {{
  T& value;
  operator T&() const {{
    return value;
  }}
  operator const T&() const = delete;
}};

template <typename Call>
std::int64_t status_of(Call call) {{
  using Status = decltype(call());
  if constexpr (std::is_void_v<Status>) {{
    call();
    return 0;
  }} else {{
    static_assert(std::is_integral_v<Status>, "a kernel returns nothing, or an int that is 0 if all is well");
    return call();
  }}
}}

/// As what one of the words is to be read and written.
template <typename T>
T& at(std::uint64_t* words, int number) {{
  return *static_cast<T*>(static_cast<void*>(words + number));
}}

inline std::int64_t called(raddle::Warp warp, std::uint64_t* words) {{
{2}  return status_of([&] {{ return
#line 1 "{3}"
    {4}({5});
  }});
}}

}}  // namespace

#ifdef __NVPTX__
extern "C" __attribute__((nvptx_kernel)) void {6}(std::uint64_t* words, std::int64_t count_of_words, std::int64_t count,
                                                 std::int64_t* statuses) {{
  const raddle::Warp warp;
  const std::int64_t warps_of_block = __nvvm_read_ptx_sreg_ntid_x() / raddle::Warp::width;
  std::int64_t number = __nvvm_read_ptx_sreg_ctaid_x() * warps_of_block + __nvvm_read_ptx_sreg_tid_x() / raddle::Warp::width;
  for (; number < count; number += __nvvm_read_ptx_sreg_nctaid_x() * warps_of_block) {{
    const std::int64_t status = warp.any(called(warp, words + number * count_of_words));
    warp.once([&] {{ statuses[number] = status; }});
  }}
}}
#elif defined(RADDLE_LANES)
extern "C" std::int64_t {7}(std::uint64_t* words, char* error, std::size_t size) {{
  for (const bool backwards : {{false, true}}) {{
    raddle_lanes::OutputCopies copies(words, {8});
{9}    std::int64_t status = 0;
    std::string fault = raddle_lanes::Lanes::run(backwards, [&] {{
      const raddle::Warp warp;
      const std::int64_t found = warp.any(called(warp, copies.words()));
      if (raddle_lanes::Lanes::lane() == 0) status = found;
    }});
    if (fault.empty() && status != 0) fault = "the call fails";
    if (fault.empty()) fault = copies.difference();
    if (fault.empty()) continue;
    std::snprintf(error, size, " is no kernel for GPUs: where 32 lanes run it%s, %s",
                  backwards ? ", the last one first" : "", fault.c_str());
    return 1;
  }}
  return 0;
}}
#else
extern "C" std::int64_t {1}(std::uint64_t* words, char* error, std::size_t size) {{
  try {{
    return called(raddle::Warp(), words);
  }} catch (const raddle::Failure& failure) {{
    std::snprintf(error, size, ": %s", failure.reason);
  }} catch (const std::exception& thrown) {{
    std::snprintf(error, size, " threw an exception: %s", thrown.what());
  }} catch (...) {{
    std::snprintf(error, size, " threw an exception of a type without a text");
  }}
  return 1;
}}
#endif
)",
                     path, call_symbol(function), arguments.declarations(), call_place, function.code,
                     fmt::join(arguments.names(), ", "), vm::calls_kernel_name, check_symbol(function),
                     arguments.word_count(), arguments.outputs());
}

}  // namespace raddle::appkernel
