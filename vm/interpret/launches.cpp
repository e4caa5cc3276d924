// Index launches: iterations of a `foreach` run natively, many at a time. Whatever stands in the way (no machine code
// yet, a capture that is not there, an iteration that fails) is no concern here: then iterations are interpreted.
#include <array>

#include "vm/interpret/borrow.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/leaf_arguments.hpp"
#include "vm/interpret/range_task.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/schedule/leaf_forks.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

std::optional<std::int64_t> Interpreter::run_launch(const RangeTask& piece, std::int64_t first, std::int64_t count) {
  const IndexLaunch& launch = piece.site.launch;
  const raddle_leaf_function code = run_.leaves.code(launch.leaf);
  if (!code) return std::nullopt;
  const Function& leaf = program_.functions[launch.leaf];
  const std::size_t result_count = launch.arrays.size();
  if (3 + result_count + 2 * launch.captures.size() > leaf_word_limit) return std::nullopt;
  for (const Operand array : launch.arrays) {
    const Future& variable = piece.frame.at(array);
    if (!variable.is_resolved() || variable.is_failed()) return std::nullopt;
  }
  std::array<std::int64_t, leaf_word_limit> words;
  std::size_t word_count = 3 + result_count;
  for (std::size_t i = 0; i < launch.captures.size(); ++i) {
    Future& capture = piece.frame.at(launch.captures[i]);
    const LeafType type = leaf.leaf_parameters[i + 1];
    if (missing_part(capture, type) || !encode(capture, type, words.data(), word_count)) return std::nullopt;
  }
  batch_results_.resize(result_count * static_cast<std::size_t>(count));
  const auto results_of = [&](std::size_t result) {
    return batch_results_.data() + result * static_cast<std::size_t>(count);
  };
  words[0] = range_value(piece.low, piece.step, first);
  words[1] = piece.step;
  words[2] = count;
  for (std::size_t i = 0; i < result_count; ++i) words[3 + i] = reinterpret_cast<std::int64_t>(results_of(i));
  std::int64_t done = 0;
  raddle_leaf_failure failure{};
  code(&worker_->leaf_worker(), words.data(), &done, &failure);
  counters.iterations += static_cast<std::uint64_t>(done);
  counters.iterations_native += static_cast<std::uint64_t>(done);
  for (std::size_t i = 0; i < result_count; ++i) write_batch(piece, i, results_of(i), first, done);
  return done;
}

void Interpreter::write_batch(const RangeTask& piece, std::size_t result, const std::int64_t* values,
                              std::int64_t first, std::int64_t count) {
  const IndexLaunch& launch = piece.site.launch;
  const LeafType type = program_.functions[launch.leaf].leaf_results[result];
  Array& array = object_in<Array>(piece.frame.at(launch.arrays[result]));
  const auto* floats = reinterpret_cast<const double*>(values);
  const auto* booleans = reinterpret_cast<const std::uint8_t*>(values);
  for (std::int64_t i = 0; i < count; ++i) {
    const Value key = Value::of(range_value(piece.low, piece.step, first + i));
    Value value = type == LeafType::int_     ? Value::of(values[i])
                  : type == LeafType::float_ ? Value::of(floats[i])
                                             : Value::of(booleans[i] != 0);
    if (Future* element = array.insert(key))
      set(*element, std::move(value));
    else
      failure_at(piece.frame, launch.writes[result], assigned_twice_text(array.element_name(key)));
  }
}

}  // namespace raddle::vm
