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
#include "vm/launch/spread_numbers.hpp"
#include "vm/schedule/leaf_forks.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t longest_row = 4096;         ///< points: longer ones are run as blocks
constexpr std::int64_t longest_repeated_row = 64;  ///< for a longer one a call of its own takes little
constexpr std::int64_t longest_bounded_row = 64;   ///< where memory has a limit: blocks tell it what they read
constexpr std::int64_t spread_at_once = 4096;      ///< numbers of rows that are made before they are spread
constexpr std::int64_t factor_limit = std::int64_t{1} << 30;  ///< of what a key is multiplied from

/// Where the elements lie that a read or sink is about: those of the first point of a row follow `base + offset`.
std::optional<RowPlace> row_place(const PointLaunch& points, Array& array, std::uint32_t key_number, ValueKind kind) {
  const LaunchKey& key = points.piece.site.launch.keys[key_number];
  RowPlace place{.array = &array, .kind = kind};
  if (Buffer* const packed = array.packed_numbers()) {
    place.numbers = static_cast<std::byte*>(packed->at_index(0));
    place.count = static_cast<std::int64_t>(packed->count());
    if (packed->kind() != kind) return std::nullopt;
  }
  place.stride = key.stride * points.step();
  place.offset = key.offset + key.stride * points.low();
  place.value = key.base.value;
  if (place.value == no_id && !key.base.operand.is_absent())
    place.offset += static_cast<std::int64_t>(points.piece.frame.at(key.base.operand).peek());
  return place;
}

Array* array_in(Future& variable) {
  return variable.is_resolved() && variable.kind() == ValueKind::array ? &object_in<Array>(variable) : nullptr;
}

/// Where rows are written.
struct WrittenRows {
  WrittenRows(const PointLaunch& points, const RowKeys& keys)
      : keys(keys), read_count(points.piece.site.launch.reads.size()), count(keys.places.size() - read_count) {
    for (std::size_t i = 0; i < count; ++i) arrays[i] = keys.places[read_count + i].array;
  }
  std::span<Array* const> all() const { return {arrays.data(), count}; }
  /// No sink writes to chunks.
  void begin_launch(std::vector<NumberChunk::Owner>& chunks) const {
    chunks.clear();
    chunks.resize(count);
  }
  SinkKeys keys_of(std::int64_t row) const {
    SinkKeys first;
    for (std::size_t i = 0; i < count; ++i) first[i] = keys.of(read_count + i, row);
    return first;
  }
  void tell(const SinkKeys& first, std::int64_t numbers, WakeList& wakes) const {
    for (std::size_t i = 0; i < count; ++i) arrays[i]->tell_written({first[i], numbers}, wakes);
  }
  SinkRows rows(std::int64_t number) const {
    SinkRows rows{all()};
    for (std::size_t i = 0; i < count; ++i)
      rows.rows[i] = {keys.of(read_count + i, 0), keys.length, number, number > 1 ? keys.distance(read_count + i) : 0,
                      keys.places[read_count + i].stride};
    return rows;
  }
  /// Copies the first rows to their places, from where they were made.
  void spread(std::int64_t number) const {
    for (const RowPlace& place : keys.places.subspan(read_count)) {
      const auto i = static_cast<std::size_t>(&place - keys.places.data());
      const auto size = static_cast<std::size_t>(place.bytes());
      for (std::int64_t row = 0; row < number; ++row)
        SpreadNumbers{keys.begin(i, row), 1, size}.copy_to(
            {place.numbers + keys.of(i, row) * place.bytes(), place.stride, size}, keys.length);
    }
  }

  const RowKeys& keys;
  std::size_t read_count, count;
  SinkArrays arrays;
};

}  // namespace

/// Looks up what all rows have in common, if they can be run so.
void Launcher::open_rows(PointLaunch& points) {
  const RangeTask& piece = points.piece;
  const IndexLaunch& launch = piece.site.launch;
  const auto is_small = [](std::int64_t number) { return -affine_base_limit < number && number < affine_base_limit; };
  const auto is_factor = [](std::int64_t number) { return -factor_limit < number && number < factor_limit; };
  const auto has_small_stride = [&](const LaunchKey& key) { return is_factor(key.stride); };
  if (!points.is_plain || !is_factor(points.low()) || !is_factor(points.step()) ||
      !std::ranges::all_of(launch.keys, has_small_stride) || is_perturbed_ || forces_points(piece) ||
      !piece.inner.is_whole() || piece.inner.count > (BoundedMemory::get() ? longest_bounded_row : longest_row) ||
      points.projection || points.prelude->function.is_heavy || points.prelude->function.calls_library)
    return;
  points.row_places.reserve(launch.reads.size() + launch.sinks.size());
  for (std::size_t i = 0; i < launch.reads.size(); ++i) {
    Array* const array = array_in(piece.frame.at(launch.reads[i].array));
    const ValueKind kind = kind_of(points.computation.function.leaf_parameters[i + 1]);
    if (!array || launch.reads[i].key_count != 1) return;
    const auto place = row_place(points, *array, launch.reads[i].first_key, kind);
    if (!place || !place->numbers || !is_small(place->offset) || place->stride < 0 || place->stride > 1) return;
    points.row_places.push_back(*place);
  }
  for (std::size_t i = 0; i < launch.sinks.size(); ++i) {
    const LaunchSink& sink = launch.sinks[i];
    Array& array = object_in<Array>(piece.frame.at(sink.target));
    OpenNumbers* const open = array.numbers();
    if (sink.key_count != 1 || !sink.row_keys.empty() || !open || array.is_closed()) return;
    auto place = row_place(points, array, sink.first_key, open->kind());
    if (!place || !is_small(place->offset) || place->stride < 1) return;
    points.spreads_rows |= place->stride != 1;
    place->numbers = static_cast<std::byte*>(open->numbers().at_index(0));
    place->count = static_cast<std::int64_t>(open->count());
    points.row_places.push_back(*place);
  }
  points.runs_rows = !points.spreads_rows || (piece.inner.count <= apart_at_once && !BoundedMemory::get());
}

/// Rows from `points.iteration` on, as far as the prelude's values are there, all goes well, and they begin as far
/// apart as the first two. @param end  of the iterations that the piece has  @return how many it has run
std::int64_t Launcher::run_rows(PointLaunch& points, std::int64_t end, ValuesAhead& ahead) {
  const std::int64_t first = points.iteration, length = points.piece.inner.count;
  if (!points.runs_rows || !find_values(points, first, end, ahead, points.values.data())) return 0;
  const RowKeys keys{points.row_places, ahead.rows.data() + (first - ahead.first), length};
  std::int64_t count = std::min(ahead.end, end) - first;
  std::array<std::int64_t, leaf_word_limit> steady;  // by value, which many places have in common
  steady.fill(-1);
  for (std::size_t i = 0; i < keys.places.size() && count > 0; ++i) {
    if (const std::uint32_t value = keys.places[i].value; value != no_id) {
      if (steady[value] < 0) steady[value] = keys.steady(value, count);
      count = std::min(count, steady[value]);
    }
    count = keys.inside(i, count);
  }
  const std::size_t read_count = points.piece.site.launch.reads.size();
  if (points.spreads_rows) {
    const std::size_t sinks = keys.places.size() - read_count;
    count = std::min(count, spread_at_once / length);
    made_rows_.resize(std::max(made_rows_.size(), sinks * spread_at_once));
    for (std::size_t i = 0; i < sinks; ++i)
      points.row_places[read_count + i].made = reinterpret_cast<std::byte*>(&made_rows_[i * spread_at_once]);
  }
  bool are_together = count > 1 && !points.spreads_rows;
  for (std::size_t i = read_count; i < keys.places.size() && are_together; ++i)
    are_together = keys.distance(i) == length;
  points.computation.stores_past_cache = !points.spreads_rows && exceed_cache(WrittenRows(points, keys).all());
  const std::int64_t done = are_together ? run_rows_together(points, keys, count) : run_rows_apart(points, keys, count);
  points.computation.stores_past_cache = false;
  points.computation.use_own_inputs();
  here_.wake();
  here_.counters.iterations += static_cast<std::uint64_t>(done * length);
  here_.counters.iterations_native += static_cast<std::uint64_t>(done * length);
  return done;
}

/// The first rows, which follow each other where they are written. @return how many it has run; fewer: the next one
/// fails
std::int64_t Launcher::run_rows_together(PointLaunch& points, const RowKeys& keys, std::int64_t count) {
  const WrittenRows written(points, keys);
  written.begin_launch(launch_chunks_);
  const SinkKeys first = written.keys_of(0);
  const std::int64_t claimed = claim_places(written.arrays, first, count * keys.length),
                     possible = claimed / keys.length;
  const std::int64_t rows = possible > 1 && can_call_once(points, keys) ? call_once(points, keys, possible)
                                                                        : call_by_rows(points, keys, possible);
  points.computation.finish_stores();
  give_back_places(written.arrays, first, rows * keys.length, claimed);
  if (rows > 0) written.tell(first, rows * keys.length, here_.wakes());
  return rows;
}

/// The same of rows between which there is something that they do not write.
std::int64_t Launcher::run_rows_apart(PointLaunch& points, const RowKeys& keys, std::int64_t count) {
  const WrittenRows written(points, keys);
  SinkRows rows = written.rows(count);
  const std::int64_t possible = rows.claim();
  const bool is_one_call = points.spreads_rows && possible > 1 && can_call_once(points, keys);
  const std::int64_t made = is_one_call ? call_once(points, keys, possible) : call_by_rows(points, keys, possible);
  points.computation.finish_stores();
  if (points.spreads_rows) written.spread(made);
  rows.tell(made, possible, here_.wakes());
  return made;
}

/// @return how many of the first rows: the next one does not end well
std::int64_t Launcher::call_by_rows(PointLaunch& points, const RowKeys& keys, std::int64_t count) {
  if (count == 0) return 0;
  LaunchedLeaf& leaf = points.computation;
  const std::size_t read_count = points.piece.site.launch.reads.size(), place_count = keys.places.size();
  repeated_.resize(std::max(repeated_.size(), read_count * static_cast<std::size_t>(keys.length)));
  std::array<std::int64_t, leaf_word_limit> apart;
  for (std::size_t i = 0; i < place_count; ++i) apart[i] = keys.distance_bytes(i, count);
  for (std::size_t i = 0; i < read_count; ++i) leaf.set_input(i, keys.begin(i, 0));
  for (std::size_t i = read_count; i < place_count; ++i) leaf.set_results(i - read_count, keys.begin(i, 0));
  const auto is_same = [](const RowPlace& place) { return place.is_same(); };
  const bool repeats = std::ranges::any_of(keys.places.first(read_count), is_same);
  if (!repeats && !leaf.takes_values() && read_count != 0)
    return leaf.call_rows(worker_->leaf_worker(), points.low(), points.step(), keys.length, count, apart.data()) /
           keys.length;
  for (std::int64_t row = 0; row < count; ++row) {
    leaf.set_values(keys.values + row, points_at_once);
    for (std::size_t i = 0; i < read_count; ++i)
      leaf.set_input(i, keys.places[i].is_same() ? repeated(keys, i, row, 1) : keys.begin(i, row));
    for (std::size_t i = read_count; i < place_count; ++i) leaf.set_results(i - read_count, keys.begin(i, row));
    if (leaf.call(worker_->leaf_worker(), points.low(), points.step(), keys.length) != keys.length) return row;
  }
  return count;
}

/// A single call makes all the rows: only their elements tell the points apart, and these follow each other, or are few
/// that are there again and again.
bool Launcher::can_call_once(const PointLaunch& points, const RowKeys& keys) {
  const IndexLaunch& launch = points.piece.site.launch;
  if (keys.length > longest_repeated_row || launch.reads_point || points.computation.takes_values()) return false;
  for (std::size_t i = 0; i < launch.reads.size(); ++i)
    if (!keys.places[i].is_same() && keys.distance(i) != keys.length && keys.distance(i) != 0) return false;
  return true;
}

/// @return how many of the first rows
std::int64_t Launcher::call_once(PointLaunch& points, const RowKeys& keys, std::int64_t count) {
  LaunchedLeaf& leaf = points.computation;
  const std::size_t read_count = points.piece.site.launch.reads.size();
  const std::int64_t numbers = count * keys.length;
  repeated_.resize(std::max(repeated_.size(), read_count * static_cast<std::size_t>(numbers)));
  for (std::size_t i = 0; i < read_count; ++i) {
    const bool follows = !keys.places[i].is_same() && keys.distance(i) == keys.length;
    leaf.set_input(i, follows ? keys.begin(i, 0) : repeated(keys, i, 0, count));
  }
  for (std::size_t i = read_count; i < keys.places.size(); ++i) leaf.set_results(i - read_count, keys.begin(i, 0));
  return leaf.call(worker_->leaf_worker(), points.low(), points.step(), numbers) / keys.length;
}

/// What the points of some rows read, one after the other, where all rows, or the points of each, read the same.
/// @pre repeated_ has room for it
void* Launcher::repeated(const RowKeys& keys, std::size_t place, std::int64_t first, std::int64_t count) {
  const std::int64_t length = keys.length, numbers = count * length;
  std::int64_t* const room = repeated_.data() + static_cast<std::int64_t>(place) * numbers;
  const auto repeat = [&]<typename T>(T* to) {
    if (!keys.places[place].is_same()) {
      std::copy_n(reinterpret_cast<const T*>(keys.begin(place, first)), length, to);
      for (std::int64_t done = length; done < numbers; done *= 2)
        std::copy_n(to, std::min(done, numbers - done), to + done);
      return;
    }
    for (std::int64_t row = first; row < first + count; ++row) {
      const T number = *reinterpret_cast<const T*>(keys.begin(place, row));
      for (std::int64_t i = 0; i < length; ++i) *to++ = number;
    }
  };
  switch (keys.places[place].bytes()) {
    case 1: repeat(reinterpret_cast<std::uint8_t*>(room)); break;
    case 4: repeat(reinterpret_cast<std::uint32_t*>(room)); break;
    default: repeat(room);
  }
  return room;
}

}  // namespace raddle::vm
