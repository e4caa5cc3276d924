#pragma once
// A leaf function of an index launch with the arguments that are the same for all points.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/program/leaf_abi.hpp"
#include "vm/program/program.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::vm {

/// Its words: for machine code as Note [stretches] of leaf_abi.hpp says, else for registers as for any leaf.
class LaunchedLeaf {
 public:
  /// @param code         null: it is run in registers
  /// @param input_count  parameters between the point and the captures: elements that a point reads
  LaunchedLeaf(const Function& function, raddle_leaf_function code, std::size_t input_count)
      : function(function),
        code(code),
        inputs_at_((code ? 3 + result_words() : 1)),
        count_(inputs_at_ + input_count),
        input_count_(input_count),
        has_float32_inputs_(std::ranges::any_of(std::views::iota(std::size_t{0}, input_count),
                                                [this](std::size_t input) { return is_float32(input); })) {
    if (has_room(0)) use_own_inputs();
  }
  /// Copies are bound as the original is: a worker that calls writes into its own.
  LaunchedLeaf(const LaunchedLeaf& other)
      : function(other.function),
        code(other.code),
        inputs_at_(other.inputs_at_),
        count_(other.count_),
        input_count_(other.input_count_),
        has_float32_inputs_(other.has_float32_inputs_),
        value_count_(other.value_count_) {
    std::copy_n(other.words_.data(), count_, words_.data());
    std::copy_n(other.values_.data(), value_count_, values_.data());
    use_own_inputs();
  }

  /// @return false: a capture is not there, is no dense array, or there are too many
  bool bind(Frame& frame, const std::vector<Operand>& captures) {
    return has_room(captures.size()) &&
           std::ranges::all_of(captures, [&](Operand capture) { return add(frame.at(capture)); }) && is_callable();
  }
  /// The same for one that takes values of a nest's prelude, too: set_values() is to follow.
  bool bind(Frame& frame, const std::vector<LaunchInput>& captures) {
    return has_room(captures.size()) &&
           std::ranges::all_of(captures,
                               [&](const LaunchInput& capture) {
                                 return capture.value == no_id ? add(frame.at(capture.operand))
                                                               : add_value(capture.value);
                               }) &&
           is_callable();
  }
  bool takes_values() const { return value_count_ != 0; }
  /// @param values  results of the prelude, so many words apart
  void set_values(const std::int64_t* values, std::size_t apart = 1) {
    for (std::size_t i = 0; i < value_count_; ++i) words_[values_[i].word] = values[values_[i].value * apart];
  }
  /// Where the words of the elements are put that a single point reads.
  std::int64_t* inputs() { return code ? own_inputs_.data() : words_.data() + inputs_at_; }
  /// Where machine code finds an element for each of the next points, until use_own_inputs().
  void set_input(std::size_t input, const void* elements) {
    words_[inputs_at_ + input] = reinterpret_cast<std::int64_t>(elements);
  }
  void use_own_inputs() {
    for (std::size_t i = 0; code && i < input_count_; ++i) set_input(i, own_input(i));
  }
  /// For registers.
  std::span<const std::int64_t> arguments(std::int64_t point) {
    words_[0] = point;
    return {words_.data(), count_};
  }
  /// Where machine code is to write the results of a stretch.
  void set_results(std::size_t result, void* elements) {
    words_[3 + result] = reinterpret_cast<std::int64_t>(elements);
  }
  /// The same of a row, behind all other results. @param width  elements of each point
  void set_row(std::size_t result, void* elements, std::int64_t width) {
    const std::size_t before = static_cast<std::size_t>(
        std::ranges::count_if(function.leaf_results, [](KernelType type) { return !is_array(type); }));
    std::int64_t* const words = words_.data() + 3 + before + 2 * (result - before);
    words[0] = reinterpret_cast<std::int64_t>(elements);
    words[1] = width;
  }
  /// Calls machine code for `count` points from `first` on. @return of how many: the next one does not end well
  std::int64_t call(raddle_leaf_worker& worker, std::int64_t first, std::int64_t step, std::int64_t count) {
    static constexpr std::array<std::int64_t, leaf_word_limit> distances = {};
    return call_rows(worker, first, step, count, 1, distances.data());
  }
  /// The same for some rows of so many points: Note [rows]. @pre rows: 1, or more if there are inputs
  std::int64_t call_rows(raddle_leaf_worker& worker, std::int64_t first, std::int64_t step, std::int64_t count,
                         std::int64_t rows, const std::int64_t* distances) {
    words_[0] = first;
    words_[1] = step;
    words_[2] = stores_past_cache ? -count : count;
    for (std::size_t i = 0; has_float32_inputs_ && i < input_count_; ++i)
      if (is_float32(i) && words_[inputs_at_ + i] == reinterpret_cast<std::int64_t>(own_input(i)))
        set_number(own_float32s_.data(), ValueKind::float32, i, own_inputs_[i]);
    if (input_count_ != 0) {
      words_[count_] = rows;
      words_[count_ + 1] = reinterpret_cast<std::int64_t>(distances);
    }
    std::int64_t made = 0;
    raddle_leaf_failure failure;
    failure.call_count = 0;
    code(&worker, words_.data(), &made, &failure);
    return made;
  }

  /// To be called after calls and before others are told of what these have written: Note [past the cache].
  void finish_stores() const {
    if (!stores_past_cache) return;
#if defined(__x86_64__)
    __builtin_ia32_sfence();  // a fence of C++ says nothing of such stores
#else
    __sync_synchronize();
#endif
  }

  const Function& function;
  const raddle_leaf_function code;
  bool stores_past_cache = false;  ///< if machine code can do so
  bool is_for_devices = false;     ///< it is only bound: devices have code of their own

 private:
  static constexpr std::size_t value_limit = 16, row_words = 2;
  /// The one type of which a word is no element, too.
  bool is_float32(std::size_t input) const { return function.leaf_parameters[1 + input] == KernelType::float32; }
  const void* own_input(std::size_t input) const {
    return is_float32(input) ? static_cast<const void*>(&own_float32s_[input]) : &own_inputs_[input];
  }
  struct ValuePlace {
    std::uint32_t word, value;
  };

  std::size_t result_words() const {
    std::size_t count = 0;
    for (const KernelType type : function.leaf_results) count += words_of(type);
    return count;
  }
  bool is_callable() const { return is_for_devices || code != nullptr || function.scalar_code.exists(); }
  /// For machine code, even if there is none yet: who could be bound once can be bound ever after.
  bool has_room(std::size_t captures) {
    next_parameter_ = function.leaf_parameters.size() - captures;
    const std::size_t others = 3 + result_words() + input_count_ + (input_count_ == 0 ? 0 : row_words);
    return others + 2 * captures <= leaf_word_limit && function.leaf_results.size() <= leaf_word_limit;
  }
  bool add(Future& capture) {
    const KernelType type = function.leaf_parameters[next_parameter_++];
    return capture.is_resolved() && encode(capture, type, words_.data(), count_);
  }
  bool add_value(std::uint32_t value) {
    ++next_parameter_;
    if (value_count_ == value_limit) return false;
    values_[value_count_++] = {static_cast<std::uint32_t>(count_++), value};
    return true;
  }

  std::array<std::int64_t, leaf_word_limit> words_, own_inputs_;
  std::array<float, leaf_word_limit> own_float32s_;
  const std::size_t inputs_at_;
  std::size_t count_;
  const std::size_t input_count_;
  const bool has_float32_inputs_;
  std::size_t next_parameter_ = 0;
  std::array<ValuePlace, value_limit> values_;
  std::size_t value_count_ = 0;
};

/// Arrays, updateables and keys of rows are there, and have not failed.
inline bool has_sinks(Frame& frame, const IndexLaunch& launch) {
  const auto is_there = [&](Operand operand) {
    const Future& variable = frame.at(operand);
    return variable.is_resolved() && !variable.is_failed();
  };
  return std::ranges::all_of(launch.sinks, [&](const LaunchSink& sink) {
    return is_there(sink.target) && (sink.width.is_absent() || is_there(sink.width)) &&
           (sink.row.base.operand.is_absent() || is_there(sink.row.base.operand)) &&
           std::ranges::all_of(sink.row_keys,
                               [&](const LaunchInput& key) { return key.value != no_id || is_there(key.operand); });
  });
}

/// @pre no element
inline Updateable::Mode mode_of(LaunchSink::Kind kind) {
  if (kind == LaunchSink::Kind::increment) return Updateable::Mode::increment;
  return kind == LaunchSink::Kind::minimum ? Updateable::Mode::minimum : Updateable::Mode::scale;
}

}  // namespace raddle::vm
