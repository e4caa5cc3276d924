#pragma once
// The text of explanations.md, put into a C++ file at build time. Private to compiler/diagnostics.
#include <string_view>

namespace raddle {

std::string_view explanations_source();

}  // namespace raddle
