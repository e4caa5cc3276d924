// Nests whose inner loops are not long, as in `d[k, c] = p[k, c] - p[i, c]` with three coordinates: to look for rows,
// streams and keys of each inner loop would take longer than its points. So all that is the same for many inner
// loops is looked up once, and what is left of one is the call of machine code.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "vm/interpret/run_state.hpp"
#include "vm/launch/launch_elements.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/point_launch.hpp"
#include "vm/schedule/leaf_forks.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t longest_row = 4096;        ///< points: longer ones are run as blocks
constexpr std::int64_t longest_bounded_row = 64;  ///< where memory has a limit: blocks tell it what they read

/// Where the elements lie that a read or sink is about: those of the first point of a row follow `base + offset`.
std::optional<RowPlace> row_place(const PointLaunch& points, Array& array, std::uint32_t key_number, ValueKind kind) {
  const LaunchKey& key = points.piece.site.launch.keys[key_number];
  RowPlace place{.array = &array, .kind = kind};
  if (Buffer* const packed = array.packed_numbers()) {
    place.numbers = static_cast<std::byte*>(packed->at_index(0));
    place.count = static_cast<std::int64_t>(packed->count());
    if (packed->kind() != kind) return std::nullopt;
  }
  place.offset = key.offset + points.low();
  place.value = key.base.value;
  if (place.value == no_id && !key.base.operand.is_absent())
    place.offset += static_cast<std::int64_t>(points.piece.frame.at(key.base.operand).peek());
  return place;
}

Array* array_in(Future& variable) {
  return variable.is_resolved() && variable.kind() == ValueKind::array ? &object_in<Array>(variable) : nullptr;
}

}  // namespace

/// Looks up what all rows have in common, if they can be run so.
void Launcher::open_rows(PointLaunch& points) {
  const RangeTask& piece = points.piece;
  const IndexLaunch& launch = piece.site.launch;
  const auto is_small = [](std::int64_t number) { return -affine_base_limit < number && number < affine_base_limit; };
  if (!points.is_plain || !points.is_contiguous || is_perturbed_ || forces_points(piece) || !piece.inner.is_whole() ||
      piece.inner.count > (BoundedMemory::get() ? longest_bounded_row : longest_row) || points.projection ||
      points.prelude->function.is_heavy || points.prelude->function.calls_library)
    return;
  for (std::size_t i = 0; i < launch.reads.size(); ++i) {
    Array* const array = array_in(piece.frame.at(launch.reads[i].array));
    const ValueKind kind = kind_of(points.computation.function.leaf_parameters[i + 1]);
    if (!array || launch.reads[i].key_count != 1) return;
    const auto place = row_place(points, *array, launch.reads[i].first_key, kind);
    if (!place || !place->numbers || !is_small(place->offset)) return;
    points.row_places.push_back(*place);
  }
  for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
    const LaunchSink& sink = launch.sinks[i];
    Array& array = object_in<Array>(piece.frame.at(sink.target));
    OpenNumbers* const open = array.numbers();
    if (sink.key_count != 1 || !sink.row_keys.empty() || !open || array.is_closed()) return;
    auto place = row_place(points, array, sink.first_key, open->kind());
    if (!place || !is_small(place->offset)) return;
    place->numbers = static_cast<std::byte*>(open->numbers().at_index(0));
    place->count = static_cast<std::int64_t>(open->count());
    points.row_places.push_back(*place);
  }
  points.runs_rows = true;
}

/// Rows from `points.iteration` on, as far as the prelude's values are there and all goes well.
/// @param end  of the iterations that the piece has  @return how many it has run
std::int64_t Launcher::run_rows(PointLaunch& points, std::int64_t end, ValuesAhead& ahead) {
  const std::int64_t first = points.iteration, length = points.piece.inner.count;
  if (!points.runs_rows || !find_values(points, first, end, ahead, points.values.data())) return 0;
  const RowKeys keys{points.row_places, ahead.rows.data() + (first - ahead.first)};
  std::int64_t count = std::min(ahead.end, end) - first;
  for (std::size_t i = 0; i < points.row_places.size(); ++i) count = keys.within(i, length, count);
  std::int64_t done = 0;
  for (std::int64_t rows = 1; done < count && rows != 0; done += rows) {
    std::int64_t together = count - done;
    for (std::size_t i = points.piece.site.launch.reads.size(); i < points.row_places.size(); ++i)
      together = keys.following(i, done, length, together);
    rows = run_rows_together(points, keys, done, together);
  }
  points.computation.use_own_inputs();
  here_.wake();
  here_.counters.iterations += static_cast<std::uint64_t>(done * length);
  here_.counters.iterations_native += static_cast<std::uint64_t>(done * length);
  return done;
}

/// Rows that follow each other where they are written. @return how many it has run; fewer: the next one fails
std::int64_t Launcher::run_rows_together(PointLaunch& points, const RowKeys& keys, std::int64_t first,
                                         std::int64_t count) {
  const std::vector<RowPlace>& places = points.row_places;
  const std::size_t read_count = points.piece.site.launch.reads.size(), sink_count = places.size() - read_count;
  const std::int64_t length = points.piece.inner.count;
  launch_chunks_.clear();
  launch_chunks_.resize(sink_count);
  SinkArrays arrays;
  SinkKeys written;
  for (std::size_t i = 0; i < sink_count; ++i) {
    arrays[i] = places[read_count + i].array;
    written[i] = keys.of(read_count + i, first);
  }
  const std::int64_t claimed = claim_places(arrays, written, count * length);
  LaunchedLeaf& leaf = points.computation;
  std::array<std::int64_t, leaf_word_limit> own;
  std::int64_t made = 0;
  for (std::int64_t row = 0; row < claimed / length && made == row * length; ++row) {
    for (std::size_t k = 0; k < points.prelude->function.leaf_results.size(); ++k)
      own[k] = keys.values[static_cast<std::int64_t>(k) * points_at_once + first + row];
    leaf.set_values(own.data());
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::byte* const at = places[i].numbers + keys.of(i, first + row) * places[i].bytes();
      if (i < read_count)
        leaf.set_input(i, at);
      else
        leaf.set_results(i - read_count, at);
    }
    made += leaf.call(worker_->leaf_worker(), points.low(), points.step(), length);
  }
  const std::int64_t rows = made / length;
  give_back_places(arrays, written, rows * length, claimed);
  for (std::size_t i = 0; rows > 0 && i < sink_count; ++i)
    arrays[i]->tell_written(written[i], rows * length, here_.wakes());
  return rows;
}

}  // namespace raddle::vm
