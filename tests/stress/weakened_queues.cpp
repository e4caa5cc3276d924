// For weakened_queues.py: what RADDLE_WEAKENED names in the protocol of the queues is weaker in this process.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <thread>

#include "gpu/superkernel/accesses.hpp"

namespace raddle::gpu::superkernel {

int weakened_access = -1, weakened_step = -1;

namespace {

constexpr std::size_t place_count = 1 << 20;
std::uint64_t places[place_count];  ///< plain: two that come to one place without an order between them are a report
std::uint64_t& place_like(const std::uint64_t* place) {
  return places[reinterpret_cast<std::uintptr_t>(place) / sizeof *place % place_count];
}

/// Before main().
[[maybe_unused]] const bool is_chosen = [] {
  const char* const wanted = std::getenv("RADDLE_WEAKENED");
  if (wanted == nullptr) return false;
  const bool lists = std::strcmp(wanted, "list") == 0;
  for (int i = 0; i < static_cast<int>(std::size(access_forms)); ++i) {
    if (access_forms[i].order == Order::relaxed) continue;
    if (lists) std::puts(access_forms[i].name);
    if (std::strcmp(access_forms[i].name, wanted) == 0) weakened_access = i;
  }
  for (int i = 0; i < static_cast<int>(std::size(step_names)); ++i) {
    if (lists) std::puts(step_names[i]);
    if (std::strcmp(step_names[i], wanted) == 0) weakened_step = i;
  }
  if (lists) std::exit(0);
  if (weakened_access < 0 && weakened_step < 0) std::fprintf(stderr, "no access or step %s\n", wanted), std::exit(2);
  return true;
}();

}  // namespace

void own_to_read(const std::uint64_t* place) {
  [[maybe_unused]] const std::uint64_t value = static_cast<volatile std::uint64_t&>(place_like(place));
}
void own_to_write(const std::uint64_t* place) { ++place_like(place); }

void hesitate() {
  thread_local unsigned calls = 0;
  if (calls++ % 32 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
}

}  // namespace raddle::gpu::superkernel
