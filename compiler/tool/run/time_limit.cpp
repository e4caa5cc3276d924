#include "compiler/tool/run/time_limit.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace raddle::tool {

TimeLimit::TimeLimit(double seconds, std::function<void()> over)
    : thread_([seconds, over = std::move(over)](const std::stop_token& gone) {
        constexpr double longest_s = 1e9;  // more does not fit into a clock's time
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock(mutex);
        changed.wait_for(lock, gone, std::chrono::duration<double>(std::min(seconds, longest_s)), [] { return false; });
        if (gone.stop_requested()) return;
        over();
      }) {}

}  // namespace raddle::tool
