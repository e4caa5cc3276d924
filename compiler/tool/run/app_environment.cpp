#include "compiler/tool/run/app_environment.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace raddle::tool {

namespace {

/// Reads a number that is not negative; leaves `value` if the variable is unset or empty. @return false: it is none
template <typename Number>
bool read(const char* name, Number& value, std::string& problem) {
  const char* found = std::getenv(name);
  if (!found || !*found) return true;
  const std::string_view text(found);
  Number number{};
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error == std::errc() && end == text.end() && number >= 0) {
    value = number;
    return true;
  }
  problem = fmt::format("{} is `{}`: it must be a number, not negative", name, text);
  return false;
}

}  // namespace

std::expected<vm::AppSettings, std::string> app_settings() {
  std::string problem;
  vm::AppSettings settings;
  std::int32_t local = 0, reput = 0;
  const bool good = read("TURBINE_APP_RETRIES", local, problem) && read("TURBINE_APP_RETRIES_LOCAL", local, problem) &&
                    read("TURBINE_APP_RETRIES_REPUT", reput, problem) &&
                    read("TURBINE_APP_BACKOFF", settings.backoff_s, problem) &&
                    read("TURBINE_APP_DELAY", settings.delay_s, problem);
  if (!good) return std::unexpected(std::move(problem));
  settings.attempts = (std::int64_t{local} + 1) * (std::int64_t{reput} + 1);
  return settings;
}

bool traces_apps() {
  const char* found = std::getenv("TURBINE_APP_DEBUG");
  return found && *found && std::string_view(found) != "0";
}

}  // namespace raddle::tool
