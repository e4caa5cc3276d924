#pragma once
// Retries and limits of a program: its annotations, else the settings of the run.
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/interpret/run.hpp"

namespace raddle::vm {

struct AppLimits {
  std::int64_t attempts = 1;
  double timeout_s = 0;  ///< 0: none
  std::int64_t priority = 0;
  std::int64_t cores = 1;
  double memory_bytes = 0;
  std::vector<int> ok_codes = {0};  ///< exit codes of programs that have ended well
};

/// @return  the text of the error: a value that makes no sense, or more than the budget has at all
std::expected<AppLimits, std::string> read_limits(Frame& frame, const AppSite& site, const RunOptions& options);

/// How long to wait before the next attempt: random between half and all of `backoff_s`, doubled with each attempt.
/// @param failed  attempts that have failed so far, 1 or more
double back_off_s(const AppSettings& settings, std::int64_t failed, std::uint64_t stream);

/// Uniform in [0, 1): the same for one stream.
double uniform(std::uint64_t stream);

}  // namespace raddle::vm
