#pragma once
// What many numbers come to: number, sum, extremes, mean, deviation. Parts can be joined in one fixed tree, so that the
// result has the same bits whoever has computed which part, and when.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace raddle::vm {

/// A sum of floats beside what rounding has lost of it: its error does not grow with the number of terms.
/// Source: Knuth's TwoSum (The Art of Computer Programming, vol. 2, 4.2.2, theorem B).
struct CompensatedSum {
  double sum = 0, lost = 0;
  void add(double term) {
    const double next = sum + term, part = next - sum;
    lost += (sum - (next - part)) + (term - part);
    sum = next;
  }
  void add(const CompensatedSum& other) {
    add(other.sum);
    lost += other.lost;
  }
  double total() const { return std::isfinite(lost) ? sum + lost : sum; }  // with Inf there is nothing to correct
};

/// A sum of at most 2^63 ints.
struct WideSum {
  __extension__ using Wide = __int128;
  Wide sum = 0;
  void add(const WideSum& other) { sum += other.sum; }
  double total() const { return static_cast<double>(sum); }
  /// Rounded once. @pre count > 0
  double mean(std::int64_t count) const;
};

/// Number i of a block goes to lane i % 8: so many floats are each alone in one, and are added one after the other.
inline constexpr std::size_t reduction_lanes = 8;
/// Floats nearer to 0 are reduced as they are: their squares are far from being too large.
inline constexpr double plain_float_end = 1e140;

/// @tparam T  std::int64_t or double
template <typename T>
struct Reduction {
  std::int64_t count = 0;
  std::conditional_t<std::is_same_v<T, double>, CompensatedSum, WideSum> sum;
  T least = 0, greatest = 0;  ///< of those that are not NaN
  bool has_nan = false;
  double m2 = 0;              ///< the sum of squared distances from the mean
  bool has_deviation = true;  ///< false: m2 is not that sum, and nobody asks for it
  int exponent = 0;           ///< of floats whose sum or m2 would be too large: these are of numbers divided by 2 to it

  double total() const { return std::ldexp(sum.total(), exponent); }
  /// @pre has_deviation, of these two
  double squares() const {
    check_deviation();
    return std::ldexp(m2, 2 * exponent);
  }
  /// @pre count > 0
  double mean() const {
    if constexpr (std::is_same_v<T, double>)
      return std::ldexp(sum.total() / static_cast<double>(count), exponent);
    else
      return sum.mean(count);
  }
  /// @param freedom  count, or one less for that of a sample
  double deviation(std::int64_t freedom) const {
    check_deviation();
    return std::ldexp(std::sqrt(m2 / static_cast<double>(freedom)), exponent);
  }
  /// Beyond rounding: the mean is the sum of both. A double alone would be as far from the mean of large numbers that
  /// lie near each other as these are. Divided by 2 to the exponent.
  struct ExactMean {
    T near = 0;
    double rest = 0;
  };
  /// @pre count > 0
  ExactMean exact_mean() const;

  /// Of up to some hundred numbers.
  /// @param has_deviation  false: all but m2, with the same bits, as long as it is joined with such
  static Reduction of(std::span<const T> numbers, bool has_deviation = true);
  /// Of the numbers of both. Source: Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing
  /// sample variances" (1979).
  Reduction joined(const Reduction& later) const;

 private:
  void check_deviation() const {
    if (!has_deviation) throw std::logic_error("a deviation that was not computed");
  }
  bool is_too_large() const;
  Reduction divided() const;
};

template <>
bool Reduction<double>::is_too_large() const;
template <>
bool Reduction<std::int64_t>::is_too_large() const;
template <>
Reduction<double> Reduction<double>::divided() const;
template <>
Reduction<std::int64_t> Reduction<std::int64_t>::divided() const;
template <>
Reduction<double>::ExactMean Reduction<double>::exact_mean() const;
template <>
Reduction<std::int64_t>::ExactMean Reduction<std::int64_t>::exact_mean() const;

/// Joins the reductions of blocks that come in any order, each with its number: two halves of a block of 2, 4, 8, ...
/// as soon as both are there. So it has few parts however many blocks there are, and joins the same ones in every
/// order.
template <typename T>
class ReductionTree {
 public:
  static constexpr std::size_t block_size = 256;

  /// @param number  of the block, 0 or more; each at most once
  void add(std::uint64_t number, Reduction<T> block) { add(Place{0, number}, std::move(block)); }
  /// @pre the two have no block in common
  void add(const ReductionTree& other) {
    for (const auto& [place, part] : other.parts_) add(place, part);
  }
  /// Of all blocks that were added.
  Reduction<T> total() const;

 private:
  using Place = std::pair<unsigned, std::uint64_t>;  ///< level; number of the block of 2^level blocks
  void add(Place place, Reduction<T> part);
  std::map<Place, Reduction<T>> parts_;
};

extern template struct Reduction<std::int64_t>;
extern template struct Reduction<double>;
extern template class ReductionTree<std::int64_t>;
extern template class ReductionTree<double>;

}  // namespace raddle::vm
