#pragma once
// Points of an index launch that one worker runs one after the other.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vm/launch/launch_point.hpp"
#include "vm/launch/launched_leaf.hpp"
#include "vm/launch/sink_rows.hpp"
#include "vm/schedule/worker_pool.hpp"
#include "vm/value/range.hpp"

namespace raddle::vm {

inline constexpr std::int64_t points_at_once = 64;  ///< whose keys, or values of a prelude, are computed together
inline constexpr std::int64_t apart_at_once = 512;  ///< whose elements lie apart, and are copied together
inline constexpr std::int64_t least_block = 8;      ///< shorter blocks are better run point by point

/// Bounds of what affine keys are computed from: beyond them a point is interpreted, as keys might overflow on the way.
inline constexpr std::int64_t affine_point_limit = std::int64_t{1} << 40, affine_base_limit = std::int64_t{1} << 60;

/// Elements of an array among which the last one was: mostly the next one is there, too.
struct KnownPart {
  ElementTable::Part part;
  /// @return null: only the array knows
  Element* find(const Array& array, std::int64_t key) {
    if (Element* const element = part.find(key)) return element;
    part = array.part(key);
    return part.find(key);
  }
};

/// The row that a read has led to for another point: mostly the same one again.
struct KnownRow {
  std::int64_t key = 0;
  Array* row = nullptr;
  KnownPart part;
  /// @param keys  of the read
  bool leads(const LaunchRead& read, const std::int64_t* keys) const {
    return row && (read.key_count == 1 || (read.key_count == 2 && key == keys[0]));
  }
};

/// Waits a while for what a neighbour is just computing. It takes some hundred ns to get there; to come back to a point
/// by a queue takes as long, and much longer if the neighbour's worker has to do it. As long as something lies in this
/// worker's own queue, that may be what the neighbour is to compute: a worker that is awake takes it at once; if none
/// does, which may be so for many milliseconds if the system runs something else, this one is to do it itself.
class Patience {
 public:
  /// @param worker  that waits; null: there is no patience
  explicit Patience(const Worker* worker) : worker_(worker) {}
  /// @param check  is asked again and again  @return true: it was true. Once it was not in time, nobody waits any more
  template <typename Check>
  bool is_rewarded(const Check& check) {
    if (!worker_) return false;
    std::optional<std::chrono::steady_clock::time_point> start;
    std::chrono::nanoseconds waited{0};
    do {
      for (int looks = 0; looks < looks_at_once; ++looks)
        if (check()) return true;
      const auto now = std::chrono::steady_clock::now();
      if (!start) start = now;
      waited = now - *start;
    } while (waited < (worker_->has_own_work() ? limit_with_work : limit));
    worker_ = nullptr;
    is_at_end_ = true;
    return false;
  }
  bool is_at_end() const { return is_at_end_; }

 private:
  static constexpr std::chrono::microseconds limit{20}, limit_with_work{2};
  static constexpr int looks_at_once = 16;  ///< at what is waited for: a look at the clock takes as long as ten of them
  const Worker* worker_;
  bool is_at_end_ = false;
};

/// What the prelude of a nest computes, for some iterations of the outer loop.
struct ValuesAhead {
  std::vector<std::int64_t> rows;   ///< one of points_at_once words for each value
  std::int64_t first = 0, end = 0;  ///< iterations
};

/// Keys of some points that follow each other.
struct PartKeys {
  std::span<const LaunchKey> keys;
  std::int64_t step;             ///< of the loop
  const std::int64_t* computed;  ///< by the projection: a row of points_at_once words for each of its results
  std::array<std::int64_t, leaf_word_limit> first = {};  ///< affine keys of the first point

  /// @param point  0: the first one  @param found  as many as there are keys
  void find(std::int64_t point, std::int64_t* found) const {
    for (std::size_t k = 0; k < keys.size(); ++k)
      found[k] = keys[k].result == no_id ? range_value(first[k], range_value(0, keys[k].stride, step), point)
                                         : computed[keys[k].result * points_at_once + static_cast<std::size_t>(point)];
  }
  /// Those of the first `count` points are equally far apart.
  bool are_steady(std::int64_t count) const {
    return std::ranges::all_of(keys, [&](const LaunchKey& key) {
      if (key.result == no_id) return true;
      const std::int64_t* const all = computed + key.result * points_at_once;
      const auto apart = [&](std::int64_t i) {  // without overflow
        return static_cast<std::uint64_t>(all[i]) - static_cast<std::uint64_t>(all[i - 1]);
      };
      for (std::int64_t i = 2; i < count; ++i)
        if (apart(i) != apart(1)) return false;
      return true;
    });
  }
};

/// Where the numbers lie that a read or sink of a nest is about: those of a row begin at `offset`, plus a value of the
/// prelude, and lie `stride` apart.
struct RowPlace {
  Array* array = nullptr;
  std::byte* numbers = nullptr;
  std::int64_t count = 0;  ///< of all numbers
  std::int64_t offset = 0;
  std::uint32_t value = no_id;  ///< result of the prelude; no_id: none
  ValueKind kind = ValueKind::none;
  std::int64_t stride = 1;    ///< 0: all points of a row read the first number
  std::byte* made = nullptr;  ///< where rows are made one after the other, to be copied to the numbers; null: there
  bool is_same() const { return stride == 0; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(size_of_number(kind)); }
};

/// Where some rows lie, whose values the prelude has computed.
struct RowKeys {
  std::span<const RowPlace> places;
  const std::int64_t*
      values;           ///< of the first row; those of one value lie points_at_once words behind those of another
  std::int64_t length;  ///< points of a row

  /// The number with which a row begins.
  std::int64_t of(std::size_t place, std::int64_t row) const {
    const RowPlace& what = places[place];
    return what.offset + (what.value == no_id ? 0 : values[what.value * points_at_once + row]);
  }
  std::byte* begin(std::size_t place, std::int64_t row) const {
    const RowPlace& what = places[place];
    return what.made ? what.made + row * length * what.bytes() : what.numbers + of(place, row) * what.bytes();
  }
  /// How far apart rows begin, by the first two of them. @pre there are two
  std::int64_t distance(std::size_t place) const { return of(place, 1) - of(place, 0); }
  /// How far apart begin() is of `count` rows.
  std::int64_t distance_bytes(std::size_t place, std::int64_t count) const {
    return count > 1 ? begin(place, 1) - begin(place, 0) : 0;
  }
  /// For how many of the first rows a value of the prelude is as far from the one before as for the second one.
  std::int64_t steady(std::uint32_t value, std::int64_t count) const {
    const std::int64_t* const all = values + value * points_at_once;
    const auto is_small = [](std::int64_t number) { return -affine_base_limit < number && number < affine_base_limit; };
    if (!is_small(all[0])) return 0;
    if (count == 1) return count;
    if (!is_small(all[1])) return 1;
    const std::int64_t apart = all[1] - all[0];
    std::uint64_t others = 0;  // mostly there are none: without a branch for each, and without overflow
    for (std::int64_t i = 2; i < count; ++i)
      others |= (static_cast<std::uint64_t>(all[i]) - static_cast<std::uint64_t>(all[i - 1])) ^
                static_cast<std::uint64_t>(apart);
    if (others == 0 && is_small(all[count - 1])) return count;
    std::int64_t row = 2;
    while (row < count && is_small(all[row]) && all[row] - all[row - 1] == apart) ++row;
    return row;
  }
  /// How many of the first rows lie within their array. @pre steady(), for so many
  std::int64_t inside(std::size_t place, std::int64_t count) const {
    const RowPlace& what = places[place];
    const std::int64_t last = what.count - 1 - (length - 1) * what.stride, begin = of(place, 0);
    if (begin < 0 || begin > last) return 0;
    const std::int64_t apart = count > 1 ? distance(place) : 0;
    if (apart == 0) return count;
    return std::min(count, (apart > 0 ? (last - begin) / apart : begin / -apart) + 1);
  }
};

/// What the points of a piece have in common while they are run.
struct PointLaunch {
  /// @param worker  that runs them
  /// @param code    null: run in registers
  PointLaunch(const Worker& worker, RangeTask& piece, const Function& leaf, raddle_leaf_function code)
      : piece(piece),
        computation(leaf, code, piece.site.launch.reads.size()),
        has_fixed_rows(std::ranges::all_of(piece.site.launch.sinks, &LaunchSink::is_fixed)),
        has_streams(piece.site.launch.has_streams(step())),
        is_plain(code && !leaf.calls_library && piece.site.launch.reads.size() <= known_rows.size() &&
                 piece.site.launch.sinks.size() <= known_parts.size() &&
                 std::ranges::all_of(piece.site.launch.sinks,
                                     [](const LaunchSink& sink) { return sink.kind == LaunchSink::Kind::element; })),
        patience(piece.inner.is_whole() || (piece.window && piece.window->was_raised()) ? nullptr : &worker) {}

  std::int64_t low() const { return piece.inner.count != 0 ? piece.inner.low : piece.low; }
  std::int64_t step() const { return piece.inner.count != 0 ? piece.inner.step : piece.step; }
  /// @param point  of the loop that has the points
  PointNumber number(std::int64_t point) const {
    return piece.inner.count != 0 ? PointNumber{iteration, point} : PointNumber{point, 0};
  }

  RangeTask& piece;
  LaunchedLeaf computation;
  std::optional<LaunchedLeaf> projection;
  std::optional<LaunchedLeaf> prelude;               ///< of a nest
  std::array<std::int64_t, leaf_word_limit> values;  ///< results of the prelude
  std::int64_t iteration = 0;                        ///< of a nest's outer loop
  std::optional<std::int64_t> point_ns;              ///< what a point of a nest has taken before; none: not known
  std::int64_t part = 1;                             ///< points of a nest between two looks whether others are hungry
  bool runs_rows = false;                            ///< see launch_rows.cpp
  bool spreads_rows = false;                         ///< of what a row writes not all follows each other
  std::vector<RowPlace> row_places;                  ///< of reads, then of sinks
  const bool has_fixed_rows;  ///< all points write to the same rows; in a nest, all of an iteration
  const bool has_streams;     ///< see IndexLaunch
  const bool is_plain;        ///< machine code computes few numbers of few others: see run_present_point()
  bool knows_rows = false;    ///< `rows` are those of the next point
  SinkArrays rows;
  std::array<KnownPart, SinkRows::most> known_parts;  ///< of the rows
  std::array<KnownRow, 32> known_rows;                ///< of the first reads; rows of others are looked for each time
  Patience patience;
  PointGroup* group = nullptr;  ///< of points that are deferred
  std::int64_t deferred = 0;
  bool waits = false;
};

}  // namespace raddle::vm
