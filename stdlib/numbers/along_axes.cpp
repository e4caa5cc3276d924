// What the elements of an array come to along one of its axes. Sums, means and deviations are those of `sum(a[i, :])`
// to the last bit: the same blocks, joined in the same tree.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "vm/value/reduction.hpp"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RADDLE_FOR_EACH_PROCESSOR [[gnu::target_clones("arch=x86-64-v4", "avx2", "default")]]
#else
#define RADDLE_FOR_EACH_PROCESSOR  // sanitizers are not ready yet when the version would be chosen
#endif
#define RADDLE_INLINE __attribute__((always_inline))  // into the version for each processor

namespace raddle::stdlib::native {
namespace {

using vm::Value;

/// Of an array in row-major order: each line has `length` elements, `apart` from each other. Lines 0 to apart - 1 begin
/// one after the other, the next `apart` ones behind the last element of these.
struct Lines {
  std::size_t length, apart;
  std::size_t first, count;  ///< those that are wanted

  std::size_t begin(std::size_t line) const { return line / apart * apart * length + line % apart; }
};

/// What the functions here are given: perhaps what is wanted, the array, then these four numbers.
Lines lines_of(Arguments arguments) {
  const auto number = [&](std::size_t i) { return static_cast<std::size_t>(arguments[i].as_int()); };
  return {number(0), number(1), number(2), number(3)};
}

template <typename T>
const T* elements_of(const Value& array) {
  std::size_t count = 0;
  return static_cast<const T*>(array.as_array().packed(count));
}

/// Calls `visit(line, count)` for wanted lines that have elements and begin one after the other, at most `most` of
/// them.
template <typename Visit>
RADDLE_INLINE inline void visit_neighbours(const Lines& lines, std::size_t most, const Visit& visit) {
  if (lines.length == 0) return;  // then there is no array in memory
  for (std::size_t line = lines.first, end = lines.first + lines.count; line < end;) {
    const std::size_t count = std::min({most, lines.apart - line % lines.apart, end - line});
    visit(line, count);
    line += count;
  }
}

constexpr std::size_t block_size = vm::ReductionTree<double>::block_size;
constexpr std::size_t columns_at_once = 128;  // as many as the second cache takes
constexpr std::size_t longest_short_line = 32;
constexpr std::size_t column_size = block_size + 8;  // neighbours do not lie in the same set of the cache

/// Rows to columns, of which eight numbers make a line of the cache.
template <typename T>
void turn(const T* rows, std::size_t apart, std::size_t row_count, std::size_t column_count, T* columns) {
  for (std::size_t first = 0; first < row_count; first += 8)
    for (std::size_t j = 0; j < column_count; ++j)
      for (std::size_t i = first; i < std::min(first + 8, row_count); ++i)
        columns[j * column_size + i] = rows[i * apart + j];
}

/// Calls `give(line, reduction)` for each wanted line.
template <typename T, typename Give>
void reduce_lines(const T* all, const Lines& lines, bool has_deviation, const Give& give) {
  std::vector<T> columns(lines.apart == 1 ? 0 : columns_at_once * column_size);
  visit_neighbours(lines, columns_at_once, [&](std::size_t line, std::size_t count) {
    const T* const from = all + lines.begin(line);
    std::vector<vm::ReductionTree<T>> trees(count);
    for (std::size_t done = 0; done < lines.length; done += block_size) {
      const std::size_t size = std::min(block_size, lines.length - done);
      if (lines.apart > 1) turn(from + done * lines.apart, lines.apart, size, count, columns.data());
      for (std::size_t j = 0; j < count; ++j) {
        const T* const block = lines.apart == 1 ? from + done : &columns[j * column_size];
        trees[j].add(done / block_size, vm::Reduction<T>::of({block, size}, has_deviation));
      }
    }
    for (std::size_t j = 0; j < count; ++j) give(line + j, trees[j].total());
  });
}

template <typename Part>
RADDLE_INLINE inline void join_last(std::vector<Part>& parts) {
  const Part last = parts.back();
  parts.pop_back();
  parts.back().add(last);
}

/// The sums of lines that lie side by side, as vm::Reduction would give them: number k of a block is added to lane k %
/// 8, the lanes are joined in order, and blocks in the tree of vm::ReductionTree. @param sums  one for each wanted line
RADDLE_FOR_EACH_PROCESSOR void sums_of_columns(const double* all, const Lines& lines, double* sums) {
  struct Columns {
    double sum[columns_at_once] = {}, lost[columns_at_once] = {};
    RADDLE_INLINE void add(const double* __restrict terms, std::size_t count) {
      for (std::size_t j = 0; j < count; ++j) {
        const double next = sum[j] + terms[j], part = next - sum[j];
        lost[j] += (sum[j] - (next - part)) + (terms[j] - part);
        sum[j] = next;
      }
    }
    RADDLE_INLINE void add(const Columns& other) {
      add(other.sum, columns_at_once);
      for (std::size_t j = 0; j < columns_at_once; ++j) lost[j] += other.lost[j];
    }
  };
  visit_neighbours(lines, columns_at_once, [&](std::size_t line, std::size_t count) RADDLE_INLINE {
    std::vector<Columns> parts;  // of 2^k blocks each, the largest first
    for (std::size_t done = 0, block = 0; done < lines.length; done += block_size, ++block) {
      const std::size_t size = std::min(block_size, lines.length - done);
      const auto row = [&](std::size_t i) { return all + lines.begin(line) + (done + i) * lines.apart; };
      Columns joined;
      if (size <= vm::reduction_lanes) {  // each is alone in its lane
        for (std::size_t i = 0; i < size; ++i) joined.add(row(i), count);
      } else {
        std::array<Columns, vm::reduction_lanes> lanes;
        for (std::size_t i = 0; i < size; ++i) lanes[i % lanes.size()].add(row(i), count);
        for (const Columns& lane : lanes) joined.add(lane);
      }
      parts.push_back(joined);
      for (std::size_t before = block; before % 2 != 0; before /= 2) join_last(parts);
    }
    while (parts.size() > 1) join_last(parts);
    for (std::size_t j = 0; j < count; ++j)
      sums[line - lines.first + j] = vm::CompensatedSum{parts[0].sum[j], parts[0].lost[j]}.total();
  });
}

constexpr std::size_t lines_at_once = 512;  // what they have come to stays in the first cache
constexpr std::size_t lane_count = 8;

/// Joins each number with what the ones above it have come to.
template <typename T, typename Join>
RADDLE_INLINE inline void join_row(const T* __restrict numbers, std::size_t count, T* __restrict joined,
                                   const Join& join) {
  for (std::size_t j = 0; j < count; ++j) joined[j] = join(joined[j], numbers[j]);
}

/// @pre lines have elements. @param joined  one for each wanted line
template <typename T, typename Join>
RADDLE_INLINE inline void join_lines(const T* all, const Lines& lines, T* joined, bool is_any_order, const Join& join) {
  visit_neighbours(lines, lines_at_once, [&](std::size_t line, std::size_t count) RADDLE_INLINE {
    const T* const from = all + lines.begin(line);
    T* const to = joined + (line - lines.first);
    if (lines.apart > 1) {
      std::copy_n(from, count, to);
      for (std::size_t k = 1; k < lines.length; ++k) join_row(from + k * lines.apart, count, to, join);
      return;
    }
    T all_before = from[0];
    std::size_t k = 1;
    if (is_any_order && lines.length >= lane_count) {
      T lanes[lane_count];
      std::copy_n(from, lane_count, lanes);
      for (k = lane_count; k + lane_count <= lines.length; k += lane_count) join_row(from + k, lane_count, lanes, join);
      for (const T lane : lanes) all_before = join(all_before, lane);
    }
    for (; k < lines.length; ++k) all_before = join(all_before, from[k]);
    to[0] = all_before;
  });
}

// A NaN is both the largest and the smallest element.
RADDLE_FOR_EACH_PROCESSOR void greatest_of_lines(const double* all, const Lines& lines, double* to) {
  join_lines(all, lines, to, true, [](double a, double b) RADDLE_INLINE { return (b > a) | (b != b) ? b : a; });
}
RADDLE_FOR_EACH_PROCESSOR void greatest_of_lines(const std::int64_t* all, const Lines& lines, std::int64_t* to) {
  join_lines(all, lines, to, true, [](std::int64_t a, std::int64_t b) RADDLE_INLINE { return b > a ? b : a; });
}
RADDLE_FOR_EACH_PROCESSOR void least_of_lines(const double* all, const Lines& lines, double* to) {
  join_lines(all, lines, to, true, [](double a, double b) RADDLE_INLINE { return (b < a) | (b != b) ? b : a; });
}
RADDLE_FOR_EACH_PROCESSOR void least_of_lines(const std::int64_t* all, const Lines& lines, std::int64_t* to) {
  join_lines(all, lines, to, true, [](std::int64_t a, std::int64_t b) RADDLE_INLINE { return b < a ? b : a; });
}
RADDLE_FOR_EACH_PROCESSOR void products_of_lines(const double* all, const Lines& lines, double* to) {
  join_lines(all, lines, to, false, [](double a, double b) RADDLE_INLINE { return a * b; });
}

RADDLE_FOR_EACH_PROCESSOR void counts_of_lines(const std::uint8_t* all, const Lines& lines, std::int64_t* to) {
  visit_neighbours(lines, lines_at_once, [&](std::size_t line, std::size_t count) RADDLE_INLINE {
    const std::uint8_t* const from = all + lines.begin(line);
    std::int64_t* __restrict const counts = to + (line - lines.first);
    if (lines.apart == 1) {
      std::int64_t true_ones = 0;
      for (std::size_t k = 0; k < lines.length; ++k) true_ones += from[k];
      counts[0] = true_ones;
      return;
    }
    for (std::size_t k = 0; k < lines.length; ++k)
      for (std::size_t j = 0; j < count; ++j) counts[j] += from[k * lines.apart + j];
  });
}

template <typename T>
Result extremes_of_lines(const std::string& what, const T* all, const Lines& lines, std::vector<T>& to) {
  if (lines.count == 0) return {};
  const bool is_greatest = what == "max";
  if (lines.length == 0)
    return fail(is_greatest ? "an empty array has no largest element" : "an empty array has no smallest element");
  is_greatest ? greatest_of_lines(all, lines, to.data()) : least_of_lines(all, lines, to.data());
  return {};
}

/// The first place of a number in a line of elements that lie together; of a NaN, if there is one.
template <typename T>
std::int64_t place_of(const T* line, T wanted) {
  std::int64_t k = 0;
  while ((line[k] != wanted) & (line[k] == line[k])) ++k;
  return k;
}

/// The same of short lines, whose elements follow each other: they are laid side by side.
void sums_of_short_lines(const double* all, const Lines& lines, double* sums) {
  std::vector<double> beside(lines.length * std::min(lines.count, columns_at_once));
  visit_neighbours({lines.length, lines.first + lines.count, lines.first, lines.count}, columns_at_once,
                   [&](std::size_t line, std::size_t count) {
                     const double* const from = all + line * lines.length;
                     for (std::size_t j = 0; j < count; ++j)
                       for (std::size_t i = 0; i < lines.length; ++i)
                         beside[i * count + j] = from[j * lines.length + i];
                     sums_of_columns(beside.data(), {lines.length, count, 0, count}, sums + (line - lines.first));
                   });
}

/// In each wanted line the first place of what is there in `extremes`; of a NaN, if there is one.
template <typename T>
std::vector<std::int64_t> places_in_lines(const T* all, const Lines& lines, const std::vector<T>& extremes) {
  std::vector<std::int64_t> places(lines.count);
  visit_neighbours(lines, lines_at_once, [&](std::size_t line, std::size_t count) {
    const T* const from = all + lines.begin(line);
    const T* const wanted = &extremes[line - lines.first];
    std::int64_t* const to = &places[line - lines.first];
    if (lines.apart == 1) {
      *to = place_of(from, *wanted);
      return;
    }
    for (std::size_t k = lines.length; k-- > 0;)
      for (std::size_t j = 0; j < count; ++j) {
        const T number = from[k * lines.apart + j];
        to[j] = (number == wanted[j]) | (number != number) ? static_cast<std::int64_t>(k) : to[j];
      }
  });
  return places;
}

template <typename T>
Result places(Arguments arguments, Results results) {
  const Lines lines = lines_of(arguments.subspan(2));
  const T* const all = elements_of<T>(arguments[1]);
  std::vector<T> extremes(lines.count);
  if (auto found = extremes_of_lines(arguments[0].as_string(), all, lines, extremes); !found) return found;
  return give(results, number_array(places_in_lines(all, lines, extremes)));
}

}  // namespace

/// What: sum, mean, var, std, prod, max or min.
Result along_floats(Call, Arguments arguments, Results results) {
  const std::string& what = arguments[0].as_string();
  const Lines lines = lines_of(arguments.subspan(2));
  const auto* const all = elements_of<double>(arguments[1]);
  std::vector<double> found(lines.count, what == "prod" ? 1.0 : 0.0);
  if (what == "max" || what == "min") {
    if (auto outcome = extremes_of_lines(what, all, lines, found); !outcome) return outcome;
  } else if (what == "prod") {
    products_of_lines(all, lines, found.data());
  } else {
    if (lines.length == 0 && lines.count > 0 && what != "sum") return fail("an empty array has no mean");
    const bool has_deviation = what == "var" || what == "std";
    const bool are_short = lines.apart == 1 && lines.length <= longest_short_line;
    if (!has_deviation && (lines.apart > 1 || are_short)) {
      are_short ? sums_of_short_lines(all, lines, found.data()) : sums_of_columns(all, lines, found.data());
      // one that is not finite may only be so on the way
      if (std::ranges::all_of(found, [](double sum) { return std::isfinite(sum); })) {
        if (what == "mean")
          for (double& sum : found) sum /= static_cast<double>(lines.length);
        return give(results, number_array(std::move(found)));
      }
    }
    reduce_lines(all, lines, has_deviation, [&](std::size_t line, const vm::Reduction<double>& line_of) {
      double& value = found[line - lines.first];
      if (what == "sum") value = line_of.total();
      if (what == "mean") value = line_of.mean();
      if (what == "var") value = line_of.squares() / static_cast<double>(line_of.count);
      if (what == "std") value = line_of.deviation(line_of.count);
    });
  }
  return give(results, number_array(std::move(found)));
}

/// What: sum, prod, max or min.
Result along_ints(Call, Arguments arguments, Results results) {
  const std::string& what = arguments[0].as_string();
  const Lines lines = lines_of(arguments.subspan(2));
  const auto* const all = elements_of<std::int64_t>(arguments[1]);
  std::vector<std::int64_t> found(lines.count, what == "prod" ? 1 : 0);
  bool is_too_large = false;
  if (what == "max" || what == "min") {
    if (auto outcome = extremes_of_lines(what, all, lines, found); !outcome) return outcome;
  } else if (what == "sum") {
    reduce_lines(all, lines, false, [&](std::size_t line, const vm::Reduction<std::int64_t>& line_of) {
      found[line - lines.first] = static_cast<std::int64_t>(line_of.sum.sum);
      is_too_large |= found[line - lines.first] != line_of.sum.sum;
    });
  } else {
    visit_neighbours(lines, lines.count, [&](std::size_t line, std::size_t count) {
      const std::int64_t* from = all + lines.begin(line);
      for (std::size_t k = 0; k < lines.length; ++k, from += lines.apart)
        for (std::size_t j = 0; j < count; ++j) {
          std::int64_t& product = found[line - lines.first + j];
          is_too_large |= __builtin_mul_overflow(product, from[j], &product);
        }
    });
  }
  if (is_too_large) return fail("integer overflow");
  return give(results, number_array(std::move(found)));
}

/// How many are true.
Result along_booleans(Call, Arguments arguments, Results results) {
  const Lines lines = lines_of(arguments.subspan(1));
  std::vector<std::int64_t> found(lines.count);
  counts_of_lines(elements_of<std::uint8_t>(arguments[0]), lines, found.data());
  return give(results, number_array(std::move(found)));
}

/// Where the largest (what: max) or smallest elements are.
Result places_of_floats(Call, Arguments arguments, Results results) { return places<double>(arguments, results); }
Result places_of_ints(Call, Arguments arguments, Results results) { return places<std::int64_t>(arguments, results); }

}  // namespace raddle::stdlib::native
