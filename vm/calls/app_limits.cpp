#include "vm/calls/app_limits.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "vm/math/random.hpp"

namespace raddle::vm {

namespace {

using Check = std::expected<void, std::string>;

Check refuse(const char* name, const std::string& value, const char* rule) {
  return std::unexpected(fmt::format("`@{}` is {}: it must {}", name, value, rule));
}

Check read_attempts(std::int64_t retries, AppLimits& limits) {
  if (retries < 0) return refuse("retry", std::to_string(retries), "not be negative");
  limits.attempts = std::min(retries, std::numeric_limits<std::int64_t>::max() - 1) + 1;
  return {};
}

Check read_timeout(double seconds, AppLimits& limits) {
  if (!(seconds > 0)) return refuse("timeout", fmt::format("{}", seconds), "be more than 0");
  limits.timeout_s = seconds;
  return {};
}

Check read_cores(std::int64_t cores, const ProcessBudget& budget, AppLimits& limits) {
  if (cores < 1) return refuse("cores", std::to_string(cores), "be at least 1");
  if (cores > budget.cores) {
    return std::unexpected(fmt::format("`@cores` asks for {}, but there are {} at all", cores, budget.cores));
  }
  limits.cores = cores;
  return {};
}

Check read_memory(double bytes, const ProcessBudget& budget, AppLimits& limits) {
  if (!(bytes >= 0)) return refuse("memory", fmt::format("{}", bytes), "not be negative");
  if (bytes > budget.memory_bytes) {
    return std::unexpected(fmt::format("`@memory` asks for {} bytes, which is more than there is at all", bytes));
  }
  limits.memory_bytes = bytes;
  return {};
}

}  // namespace

std::expected<AppLimits, std::string> read_limits(Frame& frame, const AppSite& site, const RunOptions& options) {
  AppLimits limits{.attempts = options.apps.attempts};
  Check check;
  const auto is_given = [&](Operand operand) { return check && !operand.is_absent(); };
  if (is_given(site.retry)) check = read_attempts(frame.at(site.retry).get().as_int(), limits);
  if (is_given(site.timeout)) check = read_timeout(frame.at(site.timeout).get().as_float(), limits);
  if (is_given(site.cores)) check = read_cores(frame.at(site.cores).get().as_int(), options.process_budget, limits);
  if (is_given(site.memory))
    check = read_memory(frame.at(site.memory).get().as_float(), options.process_budget, limits);
  if (is_given(site.priority)) limits.priority = frame.at(site.priority).get().as_int();
  if (is_given(site.ok)) {
    std::istringstream codes(frame.at(site.ok).get().as_string());
    limits.ok_codes.assign(std::istream_iterator<int>(codes), {});
  }
  if (!check) return std::unexpected(std::move(check.error()));
  return limits;
}

double back_off_s(const AppSettings& settings, std::int64_t failed, std::uint64_t stream) {
  constexpr std::int64_t most_doublings = 12;  // an hour with the usual second
  const double longest = settings.backoff_s * std::exp2(static_cast<double>(std::min(failed - 1, most_doublings)));
  return longest * (0.5 + 0.5 * uniform(math::mix_stream(stream, static_cast<std::uint64_t>(failed))));
}

double uniform(std::uint64_t stream) {
  return static_cast<double>(math::mix_stream(stream, std::uint64_t{1}) >> 11) * 0x1p-53;
}

}  // namespace raddle::vm
