// Calls of kernels in the form that raddle_kernel.h has where this is included, once for each of both.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/kernels/kernels.cu"

namespace {

/// Runs it in each lane that the form has.
using EachLane = std::function<void(const std::function<void()>& body)>;

/// Makes arrays for kernels and keeps what they have filled.
class KernelCalls {
 public:
  KernelCalls(unsigned seed, EachLane each_lane) : generator_(seed), each_lane_(std::move(each_lane)) {}

  In<double, 1> random(int64_t n) { return {filled(n), {n}}; }
  Matrix random(int64_t n, int64_t m) { return {filled(n * m), {n, m}}; }
  Out<double, 1> out(int64_t n) { return {room(n), {n}}; }
  Out<double, 2> out(int64_t n, int64_t m) { return {room(n * m), {n, m}}; }
  double& number() { return *room(1); }
  Out<int64_t, 1> whole(int64_t n) { return {whole_.emplace_back(static_cast<std::size_t>(n)).data(), {n}}; }

  /// kernel(warp) is the call. What it returns is taken as `call_text` takes it.
  template <typename Kernel>
  void call(Kernel kernel) {
    int64_t status = 0;
    each_lane_([&] {
      const Warp warp;
      if constexpr (std::is_void_v<decltype(kernel(warp))>)
        kernel(warp);
      else
        status = warp.any(kernel(warp));
    });
    statuses_.push_back(status);
  }
  forms::KernelResults results() const {
    forms::KernelResults results{{}, {}, statuses_};
    for (const std::vector<double>& part : outputs_)
      for (const double number : part) results.numbers.push_back(std::isnan(number) ? -1e300 : number);  // to be equal
    for (const std::vector<int64_t>& part : whole_) results.whole.insert(results.whole.end(), part.begin(), part.end());
    return results;
  }

 private:
  const double* filled(int64_t count) {
    std::vector<double>& part = inputs_.emplace_back(static_cast<std::size_t>(count));
    for (double& number : part) number = std::uniform_real_distribution<double>(0.1, 2)(generator_);
    return part.data();
  }
  double* room(int64_t count) { return outputs_.emplace_back(static_cast<std::size_t>(count)).data(); }

  std::mt19937 generator_;
  const EachLane each_lane_;
  std::vector<std::vector<double>> inputs_, outputs_;
  std::vector<std::vector<int64_t>> whole_;
  std::vector<int64_t> statuses_;
};

forms::KernelResults results_of(unsigned seed, int64_t n, EachLane each_lane) {
  KernelCalls calls(seed, std::move(each_lane));
  const int64_t m = n / 2 + 1;
  const auto x = calls.random(n), y = calls.random(n), z = calls.random(n);
  const auto a = calls.random(n, m), b = calls.random(m, n), square = calls.random(n, n), filter = calls.random(3, 3);
  const auto sum = calls.out(n), by_vector = calls.out(n), call = calls.out(n), put = calls.out(n);
  const auto c = calls.out(n, n), turned = calls.out(m, n), inverted = calls.out(n, n), work = calls.out(n, n);
  const auto grid = calls.out(n, m), other = calls.out(n, m), image = calls.out(n, m), smooth = calls.out(n, m);
  const auto counts = calls.whole(5), found = calls.whole(2);
  double &product = calls.number(), &least = calls.number(), &mean = calls.number(), &most = calls.number(),
         &value = calls.number(), &estimate = calls.number();
  calls.call([&](Warp warp) { add(warp, x, y, sum); });
  calls.call([&](Warp warp) { dot(warp, x, y, product); });
  calls.call([&](Warp warp) { return summary(warp, x, least, mean, most); });
  calls.call([&](Warp warp) { product_with_vector(warp, b, x, {by_vector.data, {m}}); });
  calls.call([&](Warp warp) { ::product(warp, a, b, c); });
  calls.call([&](Warp warp) { transposed(warp, a, turned); });
  calls.call([&](Warp warp) { return inverse(warp, square, inverted, work); });
  calls.call([&](Warp warp) { determinant(warp, square, value, work); });
  calls.call([&](Warp warp) { return stencil(warp, a, 3, grid, other); });
  calls.call([&](Warp warp) { return black_scholes(warp, x, y, z, 0.03, 0.2, call, put); });
  calls.call([&](Warp warp) { return histogram(warp, x, 0.0, 1.5, 5, counts); });
  calls.call([&](Warp warp) { return convolution(warp, a, filter, image); });
  calls.call([&](Warp warp) { return bilateral(warp, a, 2, 1.5, 0.5, smooth); });
  calls.call(
      [&](Warp warp) { common_substring(warp, "implicitly parallel", "in parallel lanes", found[0], found[1]); });
  calls.call([&](Warp warp) { return pi(warp, 100 * n, 3, estimate); });
  return calls.results();
}

int64_t status_of(const std::vector<double>& numbers, EachLane each_lane) {
  KernelCalls calls(0, std::move(each_lane));
  calls.call([&](Warp warp) {
    int status = 0;
    warp.for_each(static_cast<int64_t>(numbers.size()), [&](int64_t i) {
      if (numbers[static_cast<std::size_t>(i)] < 0) status = 7;
    });
    return status;
  });
  return calls.results().statuses.front();
}

}  // namespace
