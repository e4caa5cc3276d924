// AppKernels of Raddle: what a file with functions for a warp includes.
//
//   @kernel="scale.cu" (float y[n]) scale(float x[n], float by);         in the script
//
//   #include "raddle_kernel.h"                                           in scale.cu
//   RADDLE_KERNEL void scale(raddle::Warp warp, raddle::In<double, 1> x, double by, raddle::Out<double, 1> y) {
//     warp.for_each(x.size(), [&](int64_t i) { y[i] = by * x[i]; });
//   }
//
// A kernel gets the warp that runs it, then inputs and outputs in the order of the declaration: int = int64_t,
// float = double, boolean = bool, string = const char*, an array = raddle::In<T, rank> or raddle::Out<T, rank>, an
// output that is no array = a reference. Outputs are 0 when it is called. It returns nothing, or an int: not 0 makes
// the call fail, in whichever lane; better by raddle::failure, which has a reason. It may be called by several threads
// at once.
//
// On a GPU the 32 lanes of a warp run it together. Each of them does all that stands outside of for_each and once: so
// what is written there is assigned, not added to. The functions of a warp are called by all lanes or by none: not
// within each other, nor where only some lanes come by. The same file runs on workers, where one lane does it all.
//
// Atomic operations of C++ have no code for GPUs but raddle::add, as clang makes some of them that have lost their
// order; nor has what traps, or aborts. A kernel that has them runs on workers only, and `raddle run --stats` says so.
#ifndef RADDLE_KERNEL_H
#define RADDLE_KERNEL_H

#include <cmath>
#include <cstdint>

// With RADDLE_LANES the lanes of a warp are threads of the host, and indices are checked: `raddle run --check-kernels`.
#ifdef RADDLE_LANES
#include "raddle_kernel_lanes.h"
#endif

#define RADDLE_KERNEL inline
#ifndef __CUDACC__  // files that were written for nvcc
#define __device__
#define __host__
#define __global__ _Pragma("GCC error \"an AppKernel is RADDLE_KERNEL void name(raddle::Warp warp, ...)\"")
#endif

namespace raddle {

using std::int64_t;

/// Elements in row-major order, with the extent of each dimension.
template <typename T, int rank>
struct Array {
  T* data;
  int64_t extents[rank];

  int64_t size() const {
    int64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) count *= extents[axis];
    return count;
  }
  int64_t extent(int axis) const { return extents[axis]; }
  /// By its number among all elements.
  T& operator[](int64_t number) const {
    check(number, size());
    return data[number];
  }
  /// By an index for each dimension. None is checked but by `raddle run --check-kernels`.
  template <typename... Indices>
  T& operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == rank, "an index for each dimension");
    int64_t number = 0;
    int axis = 0;
    ((check(indices, extents[axis]), number = number * extents[axis++] + static_cast<int64_t>(indices)), ...);
    return data[number];
  }

 private:
#ifdef RADDLE_LANES
  static void check(int64_t index, int64_t extent) { raddle_lanes::check_index(index, extent); }
#else
  static void check(int64_t, int64_t) {}
#endif
};
template <typename T, int rank>
using In = Array<const T, rank>;
template <typename T, int rank>
using Out = Array<T, rank>;

#ifdef RADDLE_LANES
using Failure = raddle_lanes::Fault;
#elif !defined(__NVPTX__)
struct Failure {
  const char* reason;
};
#endif

/// `return raddle::failure("the matrix is singular");` makes the call fail with that reason. On a GPU nobody hears it:
/// a worker makes the call once more.
inline int failure([[maybe_unused]] const char* reason) {
#ifdef __NVPTX__
  return 1;
#else
  throw Failure{reason};
#endif
}

/// Adds, whatever other lanes add to the same number.
inline void add(int64_t& sum, int64_t number) {
#ifdef __PTX__  // not in tests, where lanes are threads of the host that take turns
  asm volatile("red.relaxed.gpu.add.u64 [%0], %1;" ::"l"(&sum), "l"(number) : "memory");
#else
  sum += number;
#endif
}

/// Lanes that run a kernel together, 32 of them or, on workers, one that does what they do, in an order for the same
/// bits.
class Warp {
 public:
  static constexpr int64_t width = 32;

  /// Calls body(i) for each i from 0 to count - 1. Calls of several lanes run at once: none may need what another
  /// writes.
  template <typename Body>
  void for_each(int64_t count, Body body) const {
    sync();
    {
      [[maybe_unused]] const Inside inside;
      for (int64_t i = first(); i < count; i += step) body(i);
    }
    sync();
  }
  /// Calls body() in one lane.
  template <typename Body>
  void once(Body body) const {
    for_each(1, [&](int64_t) { body(); });
  }
  /// The sum of value(i). Number i is added to part i % 32, then the parts are added pairwise.
  template <typename Value>
  auto sum(int64_t count, Value value) const {
    return reduced(count, decltype(value(int64_t{0}))(0), value, [](auto a, auto b) { return a + b; });
  }
  /// The least value(i), or `most`.
  template <typename T, typename Value>
  T min(int64_t count, T most, Value value) const {
    return reduced(count, most, value, [](T a, T b) { return b < a ? b : a; });
  }
  template <typename T, typename Value>
  T max(int64_t count, T least, Value value) const {
    return reduced(count, least, value, [](T a, T b) { return a < b ? b : a; });
  }
  /// Of what the lanes have for it one that is not 0; 0 if all have 0.
  template <typename T>
  T any(T own) const {
    return reduced(
        width, T(0), [&](int64_t) { return own; }, [](T a, T b) { return a != T(0) ? a : b; });
  }

 private:
#if defined(__NVPTX__) || defined(RADDLE_LANES)
  static constexpr int64_t step = width;
#ifdef RADDLE_LANES
  using Inside = raddle_lanes::Lanes::Inside;
  static int64_t first() { return raddle_lanes::Lanes::lane(); }
  static void sync() { raddle_lanes::Lanes::sync(); }
  static int exchanged(int word, int mask) { return raddle_lanes::Lanes::exchanged(word, mask); }
#else
  struct Inside {};
  static int64_t first() { return __nvvm_read_ptx_sreg_laneid(); }
  /// What lanes have written before is there for all of them.
  static void sync() { __nvvm_bar_warp_sync(~0u); }
  static int exchanged(int word, int mask) { return __nvvm_shfl_sync_bfly_i32(~0u, word, mask, width - 1); }
#endif

  /// What lane `first() ^ mask` has.
  template <typename T>
  static T of_lane(T own, int mask) {
    int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &own, sizeof(T));
    for (int& word : words) word = exchanged(word, mask);
    __builtin_memcpy(&own, words, sizeof(T));
    return own;
  }
  template <typename T, typename Value, typename Join>
  T reduced(int64_t count, T part, Value value, Join join) const {
    sync();
    {
      [[maybe_unused]] const Inside inside;
      for (int64_t i = first(); i < count; i += width) part = join(part, value(i));
    }
    for (int half = width / 2; half != 0; half /= 2) {
      const T other = of_lane(part, half);
      part = (first() & half) == 0 ? join(part, other) : join(other, part);  // both have the bits of the lower lane
    }
    sync();
    return part;
  }
#else
  struct Inside {};
  static constexpr int64_t step = 1;
  static int64_t first() { return 0; }
  static void sync() {}

  template <typename T, typename Value, typename Join>
  T reduced(int64_t count, T first, Value value, Join join) const {
    T parts[width];
    for (T& part : parts) part = first;
    for (int64_t i = 0; i + width <= count; i += width)
      for (int64_t lane = 0; lane < width; ++lane) parts[lane] = join(parts[lane], value(i + lane));
    for (int64_t i = count - count % width; i < count; ++i) parts[i % width] = join(parts[i % width], value(i));
    for (int64_t half = width / 2; half != 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane) parts[lane] = join(parts[lane], parts[lane + half]);
    return parts[0];
  }
#endif
};

}  // namespace raddle

#endif
