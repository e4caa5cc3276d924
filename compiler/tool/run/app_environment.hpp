#pragma once
// The environment variables that say how app functions run their programs.
#include <expected>
#include <string>

#include "vm/interpret/run.hpp"

namespace raddle::tool {

/// TURBINE_APP_RETRIES_LOCAL (or TURBINE_APP_RETRIES) and TURBINE_APP_RETRIES_REPUT, which multiply on one machine;
/// TURBINE_APP_BACKOFF, TURBINE_APP_DELAY.
/// @return  the text of the error if a value is no number
std::expected<vm::AppSettings, std::string> app_settings();

/// TURBINE_APP_DEBUG: programs are to be traced.
bool traces_apps();

}  // namespace raddle::tool
