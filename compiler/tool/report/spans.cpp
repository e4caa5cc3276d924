#include "compiler/tool/report/spans.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace raddle::report {

std::uint32_t place_in_lanes(std::vector<Span>& spans, double rounding_s) {
  std::ranges::stable_sort(spans, {}, &Span::start_s);
  using Busy = std::pair<double, std::uint32_t>;  // until when, which lane
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  std::uint32_t lanes = 0;
  for (Span& span : spans) {
    for (; !busy.empty() && busy.top().first <= span.start_s + rounding_s; busy.pop()) free.push(busy.top().second);
    if (free.empty()) free.push(lanes++);
    span.lane = free.top();
    free.pop();
    busy.emplace(span.end_s(), span.lane);
  }
  return lanes;
}

std::vector<LoadBin> load_of(const std::vector<Span>& spans, double from_s, double to_s, std::size_t bins) {
  std::vector<LoadBin> load(bins);
  if (bins == 0 || !(to_s > from_s)) return load;
  const double width = (to_s - from_s) / static_cast<double>(bins);
  const auto bin_of = [&](double time_s) {
    return static_cast<std::size_t>(std::clamp((time_s - from_s) / width, 0.0, static_cast<double>(bins - 1)));
  };
  for (const Span& span : spans) {
    const std::size_t last = bin_of(span.end_s());
    for (std::size_t bin = bin_of(span.start_s); bin <= last; ++bin) {
      const double begin = from_s + width * static_cast<double>(bin);
      const double part = std::min(span.end_s(), begin + width) - std::max(span.start_s, begin);
      (span.failed == 0 ? load[bin].ok : load[bin].failed) += std::max(part, 0.0) / width;
    }
    load[last].ended += span.count;
  }
  return load;
}

}  // namespace raddle::report
