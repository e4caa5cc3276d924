#pragma once
// The files of page/, as they are.
#include <string_view>

namespace raddle::report {

std::string_view page_style();
std::string_view page_script();

}  // namespace raddle::report
