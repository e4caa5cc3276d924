// Index launches: iterations of a `foreach` run natively, many at a time. Whatever stands in the way (no machine code
// yet, a capture that is not there, an iteration that fails) is no concern here: then iterations are interpreted.
#include <algorithm>

#include "vm/interpret/borrow.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/launched_leaf.hpp"
#include "vm/interpret/leaf_arguments.hpp"
#include "vm/interpret/range_task.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/schedule/leaf_forks.hpp"
#include "vm/value/range.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::vm {

namespace {

LeafType result_type(const Program& program, const IndexLaunch& launch, std::size_t result) {
  return program.functions[launch.leaf].leaf_results[result];
}

}  // namespace

std::optional<std::int64_t> Interpreter::run_launch(const RangeTask& piece, std::int64_t first, std::int64_t count) {
  const IndexLaunch& launch = piece.site.launch;
  const raddle_leaf_function code = run_.leaves.code(launch.leaf);
  if (!code) return std::nullopt;
  const std::size_t result_count = launch.sinks.size();
  LaunchedLeaf leaf(program_.functions[launch.leaf], code, 0);
  if (piece.kind == RangeTask::Kind::elements && !piece.order->is_dense) return std::nullopt;
  if (!has_sinks(piece.frame, launch) || !leaf.bind(piece.frame, launch.captures)) return std::nullopt;
  launch_chunks_.resize(result_count);
  launch_reductions_.resize(result_count);
  std::int64_t done = 0;
  while (done < count) {
    // cut where chunks of numbers begin: a whole one goes into its array as it is
    const std::int64_t key = range_value(piece.low, piece.step, first + done);
    const std::int64_t to_boundary = NumberChunk::size - (piece.step == 1 && key > 0 ? key % NumberChunk::size : 0);
    const std::int64_t part = std::min(count - done, to_boundary);
    for (std::size_t i = 0; i < result_count; ++i) {
      if (!launch_chunks_[i]) launch_chunks_[i] = NumberChunk::make(kind_of(result_type(program_, launch, i)));
      leaf.set_results(i, launch_chunks_[i]->words());
    }
    const std::int64_t made = leaf.call(worker_->leaf_worker(), key, piece.step, part);
    for (std::size_t i = 0; i < result_count; ++i) write_part(piece, i, key, made);
    done += made;
    if (made < part) break;
  }
  for (std::size_t i = 0; i < result_count; ++i)
    if (launch_reductions_[i].count != 0)
      object_in<Array>(piece.frame.at(launch.sinks[i].target)).insert_reduced(launch_reductions_[i]);
  launch_chunks_.clear();
  launch_reductions_.clear();
  counters.iterations += static_cast<std::uint64_t>(done);
  counters.iterations_native += static_cast<std::uint64_t>(done);
  return done;
}

/// Hands on the first `count` numbers of a result's chunk, those of the points from `first` on.
void Interpreter::write_part(const RangeTask& piece, std::size_t result, std::int64_t first, std::int64_t count) {
  const LaunchSink& sink = piece.site.launch.sinks[result];
  NumberChunk::Owner& numbers = launch_chunks_[result];
  if (sink.kind != LaunchSink::Kind::element) {
    const auto* values = static_cast<const double*>(numbers->words());
    object_in<Updateable>(piece.frame.at(sink.target))
        .update(mode_of(sink.kind), {values, static_cast<std::size_t>(count)});
    return;
  }
  Array& array = object_in<Array>(piece.frame.at(sink.target));
  const bool is_whole = count == NumberChunk::size && piece.step == 1 && array.has_number_chunk(first);
  if (is_whole && array.keeps_reductions()) return launch_reductions_[result].add(first, *numbers);
  if (is_whole && array.insert_numbers(first, numbers)) return;
  for (std::int64_t i = 0; i < count; ++i) {
    const Value key = Value::of(range_value(first, piece.step, i));
    if (Future* element = array.insert(key))
      set(*element, numbers->at(i));
    else
      failure_at(piece.frame, sink.place, assigned_twice_text(array.element_name(key)));
  }
}

}  // namespace raddle::vm
