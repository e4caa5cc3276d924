// Molecular dynamics of a Lennard-Jones fluid in a periodic box, in reduced units: velocity Verlet, all pairs, minimum
// image. One call takes one replica some steps on.
#include "raddle_kernel.h"

namespace {

using Vectors = raddle::Out<double, 2>;  // [particle, 3]

double nearest(double distance, double box) { return distance - box * std::round(distance / box); }

/// The forces; the potential energy of all pairs.
double forces(raddle::Warp warp, Vectors x, double box, Vectors force) {
  const int64_t n = x.extent(0);
  const double twice = warp.sum(n, [&](int64_t i) {
    double energy = 0, f[3] = {0, 0, 0};
    for (int64_t j = 0; j < n; ++j) {
      if (j == i) continue;
      double d[3], r2 = 0;
      for (int axis = 0; axis < 3; ++axis) {
        d[axis] = nearest(x(i, axis) - x(j, axis), box);
        r2 += d[axis] * d[axis];
      }
      const double inverse = 1 / r2, sixth = inverse * inverse * inverse;
      energy += 4 * sixth * (sixth - 1);
      const double strength = 24 * sixth * (2 * sixth - 1) * inverse;
      for (int axis = 0; axis < 3; ++axis) f[axis] += strength * d[axis];
    }
    for (int axis = 0; axis < 3; ++axis) force(i, axis) = f[axis];
    return energy;
  });
  return twice / 2;
}

}  // namespace

/// @param moved  [3, particle, 3]: places and velocities after the last step, and the forces there
/// @param drift  of the energy of all, kinetic and potential, which would stay the same if steps were small enough
RADDLE_KERNEL void md_lite(raddle::Warp warp, raddle::In<double, 2> places, raddle::In<double, 2> velocities, double box,
                           double step, int64_t steps, raddle::Out<double, 3> moved, double& potential, double& kinetic,
                           double& drift) {
  const int64_t n = places.extent(0), size = places.size();
  const Vectors x{moved.data, {n, 3}}, v{moved.data + size, {n, 3}}, force{moved.data + 2 * size, {n, 3}};
  warp.for_each(size, [&](int64_t i) {
    x[i] = places[i];
    v[i] = velocities[i];
  });
  const auto kinetic_energy = [&] { return warp.sum(size, [&](int64_t i) { return v[i] * v[i]; }) / 2; };
  potential = forces(warp, x, box, force);
  const double before = potential + kinetic_energy();
  for (int64_t k = 0; k < steps; ++k) {
    warp.for_each(size, [&](int64_t i) {
      v[i] += step / 2 * force[i];
      x[i] += step * v[i];
    });
    potential = forces(warp, x, box, force);
    warp.for_each(size, [&](int64_t i) { v[i] += step / 2 * force[i]; });
  }
  kinetic = kinetic_energy();
  drift = potential + kinetic - before;
}
