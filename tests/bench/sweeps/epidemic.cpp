// epidemic.df's model in a loop over points, with their lines of a table. epidemic POINTS
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

int main(int, char** words) {
  const long points = std::atol(words[1]);
  constexpr double recovery = 0.1;
  constexpr std::size_t days = 400;
  std::puts("contact,peak,average,total");
  for (long point = 0; point < points; ++point) {
    const double contact = 0.2 + 0.6 * static_cast<double>(point) / static_cast<double>(points - 1);
    std::vector<double> healthy(days), ill(days);
    healthy[0] = 0.999;
    ill[0] = 0.001;
    for (std::size_t t = 1; t < days; ++t) {
      const double infected = contact * healthy[t - 1] * ill[t - 1];
      healthy[t] = healthy[t - 1] - infected;
      ill[t] = ill[t - 1] + infected - recovery * ill[t - 1];
    }
    std::printf("%.17g,%.17g,%.17g,%.17g\n", contact, *std::ranges::max_element(ill),
                std::accumulate(ill.begin(), ill.end(), 0.0) / days, 1.0 - healthy[days - 1]);
  }
}
