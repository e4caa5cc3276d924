#pragma once

namespace raddle::check_detail {

/// The help of findings about an updateable that is not at its end.
inline constexpr const char* wait_for_updates =
    "wait for what tells that the updates are done, as an array that the same loop fills; or take `sum` or `min` of "
    "one";

}  // namespace raddle::check_detail
