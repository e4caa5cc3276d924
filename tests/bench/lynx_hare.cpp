// The search of examples/lynx_hare.df in C++: the same arithmetic in the same order. With -fopenmp the chunks of a grid
// are shared among the threads. Usage: lynx_hare CSV [POINTS]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr int steps_per_year = 4;
constexpr int axis_count = 6;
constexpr std::int64_t max_parts = 2000;
using Point = std::array<double, axis_count>;  // alpha beta gamma delta hare lynx

struct Counts {
  std::vector<double> log_hare, log_lynx;
};

struct Grid {
  Point low, step;
  std::array<std::int64_t, axis_count> count, stride;
  double coordinate(std::int64_t point, int axis) const {
    return low[axis] + step[axis] * static_cast<double>(point / stride[axis] % count[axis]);
  }
  Point at(std::int64_t point) const {
    Point result;
    for (int axis = 0; axis < axis_count; ++axis) result[axis] = coordinate(point, axis);
    return result;
  }
};

double square(double x) { return x * x; }
double log_count(double count) { return std::log(std::max(count, 1e-9)); }

void next_year(double& u, double& v, const Point& p) {
  const auto [alpha, beta, gamma, delta, hare, lynx] = p;
  const double h = 1.0 / steps_per_year;
  for (int step = 0; step < steps_per_year; ++step) {
    const double du1 = (alpha - beta * v) * u, dv1 = (delta * u - gamma) * v;
    const double u2 = u + h / 2.0 * du1, v2 = v + h / 2.0 * dv1;
    const double du2 = (alpha - beta * v2) * u2, dv2 = (delta * u2 - gamma) * v2;
    const double u3 = u + h / 2.0 * du2, v3 = v + h / 2.0 * dv2;
    const double du3 = (alpha - beta * v3) * u3, dv3 = (delta * u3 - gamma) * v3;
    const double u4 = u + h * du3, v4 = v + h * dv3;
    const double du4 = (alpha - beta * v4) * u4, dv4 = (delta * u4 - gamma) * v4;
    u += h / 6.0 * (du1 + 2.0 * du2 + 2.0 * du3 + du4);
    v += h / 6.0 * (dv1 + 2.0 * dv2 + 2.0 * dv3 + dv4);
  }
}

double misfit(const Point& p, const Counts& counts) {
  double u = p[4], v = p[5];
  double error = square(log_count(u) - counts.log_hare[0]) + square(log_count(v) - counts.log_lynx[0]);
  for (std::size_t year = 1; year < counts.log_hare.size(); ++year) {
    next_year(u, v, p);
    error = error + square(log_count(u) - counts.log_hare[year]) + square(log_count(v) - counts.log_lynx[year]);
  }
  return error;
}

struct Best {
  std::int64_t point = 0;
  double error = std::numeric_limits<double>::infinity();
};

Best scan(std::int64_t first, std::int64_t last, const Grid& grid, const Counts& counts) {
  Best best{first};
  for (std::int64_t point = first; point <= last; ++point) {
    const double error = misfit(grid.at(point), counts);
    if (error < best.error) best = {point, error};
  }
  return best;
}

Best search(const Grid& grid, const Counts& counts) {
  const std::int64_t total = grid.stride[0] * grid.count[0], parts = std::min(total, max_parts);
  std::vector<Best> part_best(parts);
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t part = 0; part < parts; ++part) {
    part_best[part] = scan(total * part / parts, total * (part + 1) / parts - 1, grid, counts);
  }
  return *std::min_element(part_best.begin(), part_best.end(),
                           [](const Best& a, const Best& b) { return a.error < b.error; });
}

Counts read_counts(const char* path) {
  Counts counts;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // the header
  int year = 0;
  double lynx = 0, hare = 0;
  while (std::getline(file, line) && std::sscanf(line.c_str(), "%d,%lf,%lf", &year, &lynx, &hare) == 3) {
    counts.log_lynx.push_back(std::log(lynx));
    counts.log_hare.push_back(std::log(hare));
  }
  return counts;
}

Grid make_grid(std::int64_t points) {
  Grid grid;
  const auto wanted = static_cast<double>(points);
  const auto n = std::max<std::int64_t>(2, static_cast<std::int64_t>(std::pow(wanted, 1.0 / 6.0) + 1e-9));
  for (int axis = 0; axis < axis_count; ++axis) {
    const auto narrow = static_cast<double>(n);
    grid.count[axis] = std::pow(narrow + 1, axis + 1) * std::pow(narrow, 5 - axis) <= wanted ? n + 1 : n;
  }
  grid.stride[axis_count - 1] = 1;
  for (int axis = axis_count - 2; axis >= 0; --axis) grid.stride[axis] = grid.stride[axis + 1] * grid.count[axis + 1];
  return grid;
}

}  // namespace

int main(int argc, char** argv) {
  const Counts counts = read_counts(argc > 1 ? argv[1] : "examples/lynx_hare.csv");
  if (counts.log_hare.empty()) return std::fputs("no data\n", stderr), 1;
  Grid grid = make_grid(argc > 2 ? std::atoll(argv[2]) : 1000000);
  Point low{0.3, 0.010, 0.4, 0.01, 20.0, 2.0}, high{0.9, 0.055, 1.2, 0.04, 50.0, 10.0}, best{};
  std::array<double, 3> errors{};
  for (double& error : errors) {
    grid.low = low;
    for (int axis = 0; axis < axis_count; ++axis) grid.step[axis] = (high[axis] - low[axis]) / (grid.count[axis] - 1);
    const Best found = search(grid, counts);
    error = found.error;
    best = grid.at(found.point);
    for (int axis = 0; axis < axis_count; ++axis) {
      low[axis] = std::max(best[axis] - grid.step[axis], best[axis] / 2.0);
      high[axis] = best[axis] + grid.step[axis];
    }
  }
  std::printf("three grids of %lld points, errors %.4f, %.4f, %.4f\n",
              static_cast<long long>(grid.stride[0] * grid.count[0]), errors[0], errors[1], errors[2]);
  std::printf("alpha %.3f  beta %.4f  gamma %.3f  delta %.4f  hare %.2f  lynx %.2f\n", best[0], best[1], best[2],
              best[3], best[4], best[5]);
}
