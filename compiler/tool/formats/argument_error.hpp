#pragma once
#include <cstddef>
#include <string>

namespace raddle::sweep {

/// What is wrong with a word of the command line, and where: the bytes [begin, end) of that word.
struct ArgumentError {
  std::string message;
  std::size_t begin = 0, end = 0;
  std::string help = "";
};

}  // namespace raddle::sweep
