#pragma once
// Drawings of characters with eight dots each.
#include <string>
#include <utility>
#include <vector>

#include "compiler/tool/terminal/screen.hpp"

namespace raddle::terminal {

struct PlotPoint {
  double x = 0, y = 0;
};

/// @param points  where one is not finite, there is none
/// @param joined  a curve through them in their order, with gaps where there is none; else a dot for each
/// @param ends    what stands below the left and the right end
/// @param size    of the drawing, labels included
std::string plot(const std::vector<PlotPoint>& points, bool joined, const std::pair<std::string, std::string>& ends,
                 Size size);

}  // namespace raddle::terminal
