#pragma once
#include <string>

namespace raddle::tool {

/// Says on stderr what is wrong with the command line. @param verb  whose help has more  @return exit_usage
int usage_error(const std::string& message, const std::string& verb = "");

}  // namespace raddle::tool
