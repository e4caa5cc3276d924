#pragma once
// Why a loop is not for devices.
#include <string>

#include "vm/program/program.hpp"

namespace raddle::vm {

/// @return "": its points may go there; else in words, after the loop's name
std::string obstacle_of(const Program& program, const ForeachSite& site);

}  // namespace raddle::vm
