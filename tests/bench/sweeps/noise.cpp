// noise.df's model in a loop over points, with their lines of a table. noise POINTS
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

int main(int, char** words) {
  const long points = std::atol(words[1]);
  std::puts("contact,peak,last");
  for (long point = 0; point < points; ++point) {
    const double contact = 0.2 + 0.6 * static_cast<double>(point) / static_cast<double>(points - 1);
    std::mt19937_64 bits(static_cast<unsigned long>(point));
    std::normal_distribution<double> normal;
    double healthy = 0.999, ill = 0.001, most = 0.001;
    for (int day = 0; day < 400; ++day) {
      const double next = std::max(ill + (contact * healthy - 0.1) * ill + 0.02 * std::sqrt(ill) * normal(bits), 0.0);
      most = std::max(most, ill);
      healthy -= contact * healthy * ill;
      ill = next;
    }
    std::printf("%.17g,%.17g,%.17g\n", contact, most, ill);
  }
}
