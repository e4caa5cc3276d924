#!/usr/bin/awk -f
# The logistic map x' = r x (1 - x): prints its Lyapunov exponent, which is positive where it is chaotic.
#   ./logistic.awk R [X0]
BEGIN {
  r = ARGV[1]; x = ARGC > 2 ? ARGV[2] : 0.3; steps = 20000
  if (r > 4 || r <= 0) { print "r = " r " is outside of (0, 4]" > "/dev/stderr"; exit 3 }
  for (i = 1; i <= steps; i++) {
    x = r * x * (1 - x)
    slope = r * (1 - 2 * x); if (slope < 0) slope = -slope
    if (slope > 0) sum += log(slope)
  }
  printf "r=%s x=%.4f lyapunov=%.4f\n", r, x, sum / steps
}
