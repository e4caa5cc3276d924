#include "vm/kernel/reduce_points.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "vm/kernel/kernel.hpp"
#include "vm/value/reduction.hpp"

namespace raddle::vm {

namespace {

constexpr std::int64_t block_size = ReductionTree<double>::block_size;

template <typename T>
std::int64_t word_of(T number) {
  return std::bit_cast<std::int64_t>(number);
}

/// @return none: the library function fails
template <typename T>
std::optional<std::int64_t> outcome(KernelReducer reducer, const Reduction<T>& all) {
  const auto extreme = [&all](T which) {
    return word_of(all.has_nan ? std::numeric_limits<T>::quiet_NaN() : which);  // of ints there is none
  };
  if (reducer == KernelReducer::sum) {
    if constexpr (std::is_same_v<T, double>) return word_of(all.total());
    const auto sum = static_cast<std::int64_t>(all.sum.sum);
    return sum == all.sum.sum ? std::optional(sum) : std::nullopt;
  }
  if (all.count == 0) return std::nullopt;
  switch (reducer) {
    case KernelReducer::mean: return word_of(all.mean());
    case KernelReducer::deviation: return word_of(all.deviation(all.count));
    case KernelReducer::variance: return word_of(all.squares() / static_cast<double>(all.count));
    case KernelReducer::greatest: return extreme(all.greatest);
    default: return extreme(all.least);
  }
}

/// As many as take longer than it takes to begin anew.
constexpr std::int64_t worth_sharing = 1 << 14;

bool has_idle_workers(const raddle_leaf_worker& worker) {
  return __atomic_load_n(worker.idle_workers, __ATOMIC_RELAXED) != 0;
}

bool is_interrupted(const raddle_leaf_worker& worker) {
  const void* const limit = __atomic_load_n(&worker.stack_limit, __ATOMIC_RELAXED);
  return reinterpret_cast<std::uintptr_t>(limit) == ~std::uintptr_t{0};
}

template <typename T>
std::int32_t reduce(raddle_leaf_worker& worker, const raddle_leaf_reduction& what, std::int64_t count,
                    std::int64_t* words, std::int64_t& result, raddle_leaf_failure* failure) {
  if (what.may_share != 0 && count >= worth_sharing && has_idle_workers(worker)) return raddle_leaf_shareable;
  alignas(64) T numbers[block_size];
  const bool needs_deviation = vm::needs_deviation(static_cast<KernelReducer>(what.reducer));
  ReductionTree<T> tree;  // of the blocks but one
  Reduction<T> block;
  for (std::int64_t first = 0; first < count; first += block_size) {
    if (first != 0) tree.add(static_cast<std::uint64_t>(first / block_size - 1), std::move(block));
    const std::int64_t length = std::min(count - first, block_size);
    words[0] = first;
    words[1] = 1;
    words[2] = length;
    words[3] = reinterpret_cast<std::int64_t>(&numbers[0]);
    std::int64_t made = 0;
    what.points(&worker, words, &made, failure);
    if (is_interrupted(worker)) return raddle_leaf_interrupted;
    if (made < length) return raddle_leaf_domain_error;
    block = Reduction<T>::of({&numbers[0], static_cast<std::size_t>(length)}, needs_deviation);
  }
  if (count > block_size) {
    tree.add(static_cast<std::uint64_t>((count - 1) / block_size), std::move(block));
    block = tree.total();
  }
  const std::optional<std::int64_t> found = outcome(static_cast<KernelReducer>(what.reducer), block);
  if (!found) return raddle_leaf_domain_error;
  result = *found;
  return raddle_leaf_ok;
}

}  // namespace

std::int32_t reduce_points(raddle_leaf_worker* worker, const raddle_leaf_reduction* what, std::int64_t count,
                           std::int64_t* words, std::int64_t* result, raddle_leaf_failure* failure) {
  return what->is_float != 0 ? reduce<double>(*worker, *what, count, words, *result, failure)
                             : reduce<std::int64_t>(*worker, *what, count, words, *result, failure);
}

}  // namespace raddle::vm
