// C functions that machine code calls: Note [own functions] in stdlib/own_functions.hpp. Each copies its arrays, as the
// library's functions take values: that costs some 200 ns a call.
#include "stdlib/own_functions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "stdlib/builtin_names.hpp"
#include "stdlib/builtins.hpp"
#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"

namespace raddle::stdlib {
namespace {

using vm::Value;
using Ints = std::int64_t*;
using Floats = double*;
using Count = std::int64_t;

constexpr std::string_view words[] = {"sum", "prod", "max", "min", "left", "right", "mean", "var", "std"};

template <typename T>
Value array(const T* numbers, Count count) {
  return native::number_array(std::vector<T>(numbers, numbers + count));
}
Value word_text(Count number) { return Value::of(std::string(words[number])); }

/// Where an output goes: to as many numbers.
template <typename T>
struct OwnOutput {
  T* to;
  Count count;
};

template <typename T>
bool take(const Value& result, const OwnOutput<T>& output) {
  if (result.kind() != vm::ValueKind::array) {
    if constexpr (std::is_same_v<T, double>) *output.to = result.as_float();
    return output.count == 1;
  }
  if (result.as_array().size() != static_cast<std::size_t>(output.count)) return false;
  T* to = output.to;
  native::visit_numbers<T>(result, [&](T number) { *to++ = number; });
  return true;
}

template <typename... T>
bool call(vm::BuiltinFunction function, std::initializer_list<Value> inputs, OwnOutput<T>... outputs) {
  static const vm::RunSettings none;
  std::array<Value, sizeof...(T)> results;
  if (!function({.settings = none, .stream = 0}, std::span(inputs.begin(), inputs.size()), results)) return false;
  std::size_t next = 0;
  return (take(results[next++], outputs) && ...);
}

/// An exception must not pass through machine code: the interpreter meets it again.
template <typename Work>
bool goes_well(const Work& work) {
  try {
    return work();
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

extern "C" {
#define RADDLE_OWN [[gnu::visibility("default")]] bool
RADDLE_OWN raddle_own_sort_floats(const double* a, Count n, Floats to, Count count) {
  return goes_well([&] { return call(native::sort_floats, {array(a, n)}, OwnOutput{to, count}); });
}
RADDLE_OWN raddle_own_sort_ints(const std::int64_t* a, Count n, Ints to, Count count) {
  return goes_well([&] { return call(native::sort_ints, {array(a, n)}, OwnOutput{to, count}); });
}
RADDLE_OWN raddle_own_argsort_floats(const double* a, Count n, Ints to, Count count) {
  return goes_well([&] { return call(native::argsort_floats, {array(a, n)}, OwnOutput{to, count}); });
}
RADDLE_OWN raddle_own_argsort_ints(const std::int64_t* a, Count n, Ints to, Count count) {
  return goes_well([&] { return call(native::argsort_ints, {array(a, n)}, OwnOutput{to, count}); });
}
RADDLE_OWN raddle_own_searchsorted_floats(const double* a, Count n, const double* v, Count m, Count side, Ints to,
                                          Count count) {
  return goes_well([&] {
    return call(native::searchsorted_floats, {array(a, n), array(v, m), word_text(side)}, OwnOutput{to, count});
  });
}
RADDLE_OWN raddle_own_searchsorted_ints(const std::int64_t* a, Count n, const std::int64_t* v, Count m, Count side,
                                        Ints to, Count count) {
  return goes_well([&] {
    return call(native::searchsorted_ints, {array(a, n), array(v, m), word_text(side)}, OwnOutput{to, count});
  });
}
RADDLE_OWN raddle_own_running_floats(Count what, const double* a, Count n, Count apart, Count length, Floats to,
                                     Count count) {
  return goes_well([&] {
    return call(native::running_floats, {word_text(what), array(a, n), Value::of(apart), Value::of(length)},
                OwnOutput{to, count});
  });
}
RADDLE_OWN raddle_own_running_ints(Count what, const std::int64_t* a, Count n, Count apart, Count length, Ints to,
                                   Count count) {
  return goes_well([&] {
    return call(native::running_ints, {word_text(what), array(a, n), Value::of(apart), Value::of(length)},
                OwnOutput{to, count});
  });
}
// Of lines of an array: what is wanted of each, the array, their length, how far apart their elements are, the first
// line, how many.
#define RADDLE_OWN_LINES(function, Of, To)                                                                         \
  RADDLE_OWN raddle_own_##function(Count what, const Of* a, Count n, Count length, Count apart, Count first,       \
                                   Count lines, To to, Count count) {                                              \
    return goes_well([&] {                                                                                         \
      return call(                                                                                                 \
          native::function,                                                                                        \
          {word_text(what), array(a, n), Value::of(length), Value::of(apart), Value::of(first), Value::of(lines)}, \
          OwnOutput{to, count});                                                                                   \
    });                                                                                                            \
  }
RADDLE_OWN_LINES(along_floats, double, Floats)
RADDLE_OWN_LINES(along_ints, std::int64_t, Ints)
RADDLE_OWN_LINES(places_of_floats, double, Ints)
RADDLE_OWN_LINES(places_of_ints, std::int64_t, Ints)
#undef RADDLE_OWN_LINES
RADDLE_OWN raddle_own_middle(const double* a, Count n, Floats to, Count count) {
  return goes_well([&] { return call(native::middle, {array(a, n)}, OwnOutput{to, count}); });
}
RADDLE_OWN raddle_own_quantile(const double* a, Count n, double share, Floats to, Count count) {
  return goes_well([&] { return call(native::quantile, {array(a, n), Value::of(share)}, OwnOutput{to, count}); });
}
RADDLE_OWN raddle_own_solve(const double* a, Count n, Count rows, Count columns, const double* b, Count m, Count extent,
                            Floats to, Count count) {
  return goes_well([&] {
    return call(native::solve, {array(a, n), Value::of(rows), Value::of(columns), array(b, m), Value::of(extent)},
                OwnOutput{to, count});
  });
}
RADDLE_OWN raddle_own_inv(const double* a, Count n, Count rows, Count columns, Floats to, Count count) {
  return goes_well([&] {
    return call(native::inv, {array(a, n), Value::of(rows), Value::of(columns)}, OwnOutput{to, count});
  });
}
RADDLE_OWN raddle_own_det(const double* a, Count n, Count rows, Count columns, Floats to, Count count) {
  return goes_well([&] {
    return call(native::det, {array(a, n), Value::of(rows), Value::of(columns)}, OwnOutput{to, count});
  });
}
RADDLE_OWN raddle_own_fft(const double* re, Count n, const double* im, Count m, Floats re_to, Count re_count,
                          Floats im_to, Count im_count) {
  return goes_well([&] {
    return call(native::fft, {array(re, n), array(im, m)}, OwnOutput{re_to, re_count}, OwnOutput{im_to, im_count});
  });
}
RADDLE_OWN raddle_own_ifft(const double* re, Count n, const double* im, Count m, Floats re_to, Count re_count,
                           Floats im_to, Count im_count) {
  return goes_well([&] {
    return call(native::ifft, {array(re, n), array(im, m)}, OwnOutput{re_to, re_count}, OwnOutput{im_to, im_count});
  });
}
#undef RADDLE_OWN
}

const OwnFunction* find_own_function(std::uint32_t builtin) {
  if (!builtins()[builtin].name.ends_with('_')) return nullptr;
  static const OwnFunction functions[] = {
#define RADDLE_OWN_FUNCTION(builtin, function, input_count, counts) \
  {builtin, "raddle_own_" #function, input_count, counts, reinterpret_cast<const void*>(&raddle_own_##function)},
#include "stdlib/numbers/own_functions.def"
  };
  static const std::vector<std::optional<std::uint32_t>> indices = [] {
    std::vector<std::optional<std::uint32_t>> all;
    for (const OwnFunction& function : functions) all.push_back(find_builtin(function.builtin));
    return all;
  }();
  const auto found = std::ranges::find(indices, builtin);
  return found == indices.end() ? nullptr : &functions[found - indices.begin()];
}

std::int64_t word_number(std::string_view text) {
  const auto found = std::ranges::find(words, text);
  return found == std::end(words) ? -1 : found - std::begin(words);
}

}  // namespace raddle::stdlib
