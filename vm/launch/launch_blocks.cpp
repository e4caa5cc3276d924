// Projected launches whose points read and write elements that follow each other: machine code gets, for each read, the
// address of a whole block of numbers. It is that of the row's buffer where the row is closed and packed; else what is
// there is copied. So are those that lie apart.
#include <algorithm>
#include <array>

#include "vm/interpret/run_state.hpp"
#include "vm/launch/launch_elements.hpp"
#include "vm/launch/launcher.hpp"
#include "vm/launch/point_launch.hpp"
#include "vm/launch/spread_numbers.hpp"
#include "vm/schedule/leaf_forks.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t block_limit = 16'384;  ///< points: between two looks whether the run is to stop

}  // namespace

/// A block of points, which ends where a chunk of the numbers that are written does, or where an element is missing.
/// @param low  the value of the first one  @pre PointLaunch::is_plain, has_streams
/// @return how many it has run, up to `count`; the next one may be one that does not end well, or has to wait
std::int64_t Launcher::run_block(PointLaunch& points, std::int64_t low, std::int64_t count) {
  const IndexLaunch& launch = points.piece.site.launch;
  LaunchedLeaf& leaf = points.computation;
  std::array<std::int64_t, leaf_word_limit> keys;
  std::int64_t part = std::min(count, block_limit);
  if (!start_keys(points, low, part, keys.data()) || !find_rows(points, keys.data())) return 0;
  const std::span rows(points.rows.data(), launch.sinks.size());
  // of two that write to one row it matters which one does first
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (std::ranges::find(rows.first(i), rows[i]) != rows.first(i).end()) return 0;
  const auto is_direct = [](Array* row) { return takes_numbers(row, 1); };
  if (!std::ranges::all_of(rows, is_direct)) {
    const std::int64_t in_chunk = element_key(launch.sinks[0], keys.data(), low) & (NumberChunk::size - 1);
    part = std::min(part, NumberChunk::size - in_chunk);
  }
  streams_.resize(launch.reads.size() * NumberChunk::size);
  for (std::size_t i = 0; i < launch.reads.size() && part > 0; ++i) part = find_stream(points, i, keys.data(), part);
  std::int64_t made = 0;
  if (part > 0) {
    make_chunks(launch, points.rows, 1);
    SinkKeys written;
    for (std::size_t i = 0; i < launch.sinks.size(); ++i) written[i] = element_key(launch.sinks[i], keys.data(), low);
    part = claim_places(points.rows, written, part);
    for (std::size_t i = 0; i < launch.sinks.size() && part > 0; ++i)
      leaf.set_results(i, place_of(i, points.rows, written[i]));
    leaf.stores_past_cache = std::ranges::all_of(rows, is_direct) && exceed_cache(rows);
    if (part > 0) made = leaf.call(worker_->leaf_worker(), low, points.step(), part);
    leaf.finish_stores();
    leaf.stores_past_cache = false;
    give_back_places(points.rows, written, made, part);
  }
  leaf.use_own_inputs();
  here_.counters.iterations += static_cast<std::uint64_t>(made);
  here_.counters.iterations_native += static_cast<std::uint64_t>(made);
  for (std::size_t i = 0; made > 0 && i < launch.sinks.size(); ++i)
    write_part(points.piece, i, rows[i], element_key(launch.sinks[i], keys.data(), low), 1, made);
  return made;
}

/// Points whose elements lie apart. What they read is copied side by side, and what they write from there. All is read
/// before any is claimed, and told of when all is written: a claim waits for what was read and written before it, which
/// lies somewhere in memory, so a processor gets one element at a time else.
/// @param count  apart_at_once at most  @return how many it has run, from the first one on
/// @pre PointLaunch::is_plain
std::int64_t Launcher::run_apart(PointLaunch& points, std::int64_t low, std::int64_t count, const PartKeys& part) {
  const IndexLaunch& launch = points.piece.site.launch;
  LaunchedLeaf& leaf = points.computation;
  const std::size_t reads = launch.reads.size(), sinks = launch.sinks.size();
  std::array<std::int64_t, leaf_word_limit> keys, words;
  part.find(0, keys.data());
  if (count < least_block || !points.has_fixed_rows || leaf.function.is_heavy || BoundedMemory::get() ||
      !find_rows(points, keys.data()))
    return 0;
  std::array<OpenNumbers*, std::tuple_size_v<decltype(points.known_parts)>> open;
  for (std::size_t s = 0; s < sinks; ++s) {
    open[s] = points.rows[s]->numbers();
    if (!open[s] || open[s]->kind() != kind_of(leaf.function.leaf_results[s])) return 0;
  }
  if (const std::int64_t made = run_steady(points, low, count, part); made != 0) return made;
  streams_.resize(std::max(streams_.size(), (reads + 2 * sinks) * apart_at_once));
  const auto row = [&](std::size_t number) { return &streams_[number * apart_at_once]; };
  const auto key_of = [&](std::size_t sink, std::int64_t i) -> std::int64_t& { return row(reads + sinks + sink)[i]; };

  std::int64_t ready = 0;
  for (; ready < count; ++ready) {
    part.find(ready, keys.data());
    if (find_present(points.piece.frame, launch, leaf.function, keys.data(), words.data(), points.known_rows) !=
        all_bits(reads))
      break;
    for (std::size_t r = 0; r < reads; ++r)
      set_number(row(r), kind_of(leaf.function.leaf_parameters[r + 1]), static_cast<std::size_t>(ready), words[r]);
    for (std::size_t s = 0; s < sinks; ++s)
      key_of(s, ready) = element_key(launch.sinks[s], keys.data(), range_value(low, points.step(), ready));
  }
  for (std::int64_t i = 0; i < ready; ++i) {
    std::size_t claimed = 0;
    while (claimed < sinks && open[claimed]->claim(key_of(claimed, i), 1) == 1) ++claimed;
    if (claimed == sinks) continue;
    while (claimed-- > 0) open[claimed]->give_back(static_cast<std::size_t>(key_of(claimed, i)), 1);
    ready = i;
  }
  if (ready == 0) return 0;

  for (std::size_t r = 0; r < reads; ++r) leaf.set_input(r, row(r));
  for (std::size_t s = 0; s < sinks; ++s) leaf.set_results(s, row(reads + s));
  const std::int64_t made = leaf.call(worker_->leaf_worker(), low, points.step(), ready);
  leaf.use_own_inputs();
  for (std::size_t s = 0; s < sinks; ++s) {
    void* const numbers = open[s]->numbers().at_index(0);
    for (std::int64_t i = 0; i < made; ++i)
      set_number(numbers, open[s]->kind(), static_cast<std::size_t>(key_of(s, i)),
                 number_at(row(reads + s), open[s]->kind(), static_cast<std::size_t>(i)));
  }
  for (std::size_t s = 0; s < sinks; ++s) {
    for (std::int64_t i = 0; i < made; ++i) points.rows[s]->tell_written({key_of(s, i), 1}, here_.wakes());
    for (std::int64_t i = made; i < ready; ++i) open[s]->give_back(static_cast<std::size_t>(key_of(s, i)), 1);
  }
  here_.wake();
  here_.counters.iterations += static_cast<std::uint64_t>(made);
  here_.counters.iterations_native += static_cast<std::uint64_t>(made);
  return made;
}

/// Points whose elements lie equally far apart, those that they read in arrays that are closed: they are copied without
/// a look at each, and claimed and told of many at a time. @param part  see run_apart()
/// @return how many it has run, from the first one on; 0: not all lie so
/// @pre find_rows(); all sinks write to numbers of their type
std::int64_t Launcher::run_steady(PointLaunch& points, std::int64_t low, std::int64_t count, const PartKeys& part) {
  const IndexLaunch& launch = points.piece.site.launch;
  LaunchedLeaf& leaf = points.computation;
  const std::size_t reads = launch.reads.size(), sinks = launch.sinks.size();
  if (!part.are_steady(count)) return 0;
  std::array<std::int64_t, leaf_word_limit> keys, next, last;
  std::array<SpreadNumbers, leaf_word_limit> read;  // copied once it is known that all lie so
  part.find(0, keys.data());
  part.find(1, next.data());
  part.find(count - 1, last.data());
  for (std::size_t r = 0; r < reads; ++r) {
    const LaunchRead& what = launch.reads[r];
    Array* const row = what.key_count == 1 ? row_of_read(points, r, keys.data()) : nullptr;
    Buffer* const numbers = row ? row->packed_numbers() : nullptr;
    if (!numbers || numbers->kind() != kind_of(leaf.function.leaf_parameters[r + 1])) return 0;
    const auto size = static_cast<std::int64_t>(numbers->count());
    const auto is_inside = [&](std::int64_t key) { return 0 <= key && key < size; };
    const std::size_t key = what.first_key;
    if (!is_inside(keys[key]) || !is_inside(next[key]) || !is_inside(last[key])) return 0;
    read[r] = {numbers->at_index(static_cast<std::size_t>(keys[key])), next[key] - keys[key],
               size_of_number(numbers->kind())};
  }
  SinkRows rows{{points.rows.data(), sinks}};
  for (std::size_t s = 0; s < sinks; ++s) {
    const std::int64_t first = element_key(launch.sinks[s], keys.data(), low),
                       second = element_key(launch.sinks[s], next.data(), range_value(low, points.step(), 1));
    rows.rows[s] = {first, 1, count, second - first};
  }
  const std::int64_t claimed = rows.claim();
  if (claimed == 0) return 0;

  streams_.resize(std::max(streams_.size(), (reads + sinks) * apart_at_once));
  for (std::size_t r = 0; r < reads; ++r) {
    void* const copy = &streams_[r * apart_at_once];
    leaf.set_input(r, read[r].distance == 1 ? read[r].first : copy);
    if (read[r].distance != 1) read[r].copy_to({copy, 1, read[r].size}, claimed);
  }
  const auto written = [&](std::size_t s) {
    Buffer& numbers = points.rows[s]->numbers()->numbers();
    return SpreadNumbers{numbers.at_index(static_cast<std::size_t>(rows.rows[s].first)), rows.rows[s].distance,
                         size_of_number(numbers.kind())};
  };
  for (std::size_t s = 0; s < sinks; ++s)
    leaf.set_results(s, written(s).distance == 1 ? written(s).first : &streams_[(reads + s) * apart_at_once]);
  const std::int64_t made = leaf.call(worker_->leaf_worker(), low, points.step(), claimed);
  leaf.use_own_inputs();
  for (std::size_t s = 0; s < sinks; ++s)
    if (const SpreadNumbers to = written(s); to.distance != 1)
      SpreadNumbers{&streams_[(reads + s) * apart_at_once], 1, to.size}.copy_to(to, made);
  rows.tell(made, claimed, here_.wakes());
  here_.wake();
  here_.counters.iterations += static_cast<std::uint64_t>(made);
  here_.counters.iterations_native += static_cast<std::uint64_t>(made);
  return made;
}

/// The row of the elements that the next points read; null: it is not there.
Array* Launcher::row_of_read(PointLaunch& points, std::size_t read, const std::int64_t* keys) {
  const IndexLaunch& launch = points.piece.site.launch;
  const LaunchRead& what = launch.reads[read];
  const std::int64_t* const own = keys + what.first_key;
  KnownRow& known = points.known_rows[read];
  if (!known.leads(what, own))
    known = find_known(points.piece.frame, what, own, {launch.reads.data(), read}, points.known_rows);
  return known.row;
}

/// The same where they lie in the row's buffer, and stay.
std::int64_t Launcher::find_lasting(PointLaunch& points, std::size_t read, const std::int64_t* keys,
                                    std::int64_t count) {
  const LaunchRead& what = points.piece.site.launch.reads[read];
  const std::int64_t first = keys[what.first_key + what.key_count - 1];
  const ValueKind kind = kind_of(points.computation.function.leaf_parameters[read + 1]);
  Array* const row = row_of_read(points, read, keys);
  if (!row) return 0;
  if (Buffer* const numbers = row->packed_numbers()) {
    const auto size = static_cast<std::int64_t>(numbers->count());
    if (numbers->kind() != kind || first < 0 || first >= size) return 0;
    count = std::min(count, size - first);
    if (BoundedMemory::get()) {
      count = std::min(count, most_at_once());
      numbers->use(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    }
    points.computation.set_input(read, numbers->at_index(static_cast<std::size_t>(first)));
    return count;
  }
  if (const OpenNumbers* const open = row->numbers(); open && open->kind() == kind)
    if (const std::int64_t there = open->written_from(first, count); there >= least_block) {
      points.computation.set_input(read, open->storage()->at_index(static_cast<std::size_t>(first)));
      return there;
    }
  return 0;
}

/// Tells machine code where the elements lie that the next points read.
/// @param keys  of the first point  @return of how many of `count` points they are there
std::int64_t Launcher::find_stream(PointLaunch& points, std::size_t read, const std::int64_t* keys,
                                   std::int64_t count) {
  const LaunchRead& what = points.piece.site.launch.reads[read];
  const std::size_t last_key = what.first_key + what.key_count - 1;
  const std::int64_t stride = points.piece.site.launch.keys[last_key].stride;
  if (stride != 0)
    if (const std::int64_t there = find_lasting(points, read, keys, count)) return there;
  Array* const row = row_of_read(points, read, keys);
  if (!row) return 0;
  const ValueKind kind = kind_of(points.computation.function.leaf_parameters[read + 1]);
  count = std::min(count, NumberChunk::size);
  std::int64_t* const copied = &streams_[read * NumberChunk::size];
  points.computation.set_input(read, copied);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t word;
    if (!row->find_number(keys[last_key] + stride * i, kind, word)) return i;
    set_number(copied, kind, static_cast<std::size_t>(i), word);
  }
  return count;
}

}  // namespace raddle::vm
