#pragma once
// A leaf that computes for some microseconds: the model of tests/bench/sweeps/growth.df, with its bits on host and GPU.

namespace raddle::gpu::bench {

/// Logistic growth with harvest, a thousand steps.
inline double grow(double rate, double harvest) {
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
  double x = 0.5;
  for (int i = 0; i < 1000; ++i) x += 0.005 * (rate * x * (1.0 - x) - harvest * x);
  return x;
}

/// Of a point of a range, as growth_loop.df has it.
inline double growth_of_point(unsigned long number) { return grow(1.0 + 0.0000001 * static_cast<double>(number), 0.1); }

}  // namespace raddle::gpu::bench
