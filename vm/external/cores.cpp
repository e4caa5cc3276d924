#include "vm/external/cores.hpp"

#include <optional>

namespace raddle::vm {
namespace {

/// Of the calling thread, where it is kept to a core.
struct Kept {
  cpu_set_t before, only;
  int core;
};
thread_local std::optional<Kept> kept;

}  // namespace

Cores::Cores() {
  CPU_ZERO(&all_);
  if (sched_getaffinity(0, sizeof all_, &all_) == 0) count_ = static_cast<unsigned>(CPU_COUNT(&all_));
}

void Cores::keep_to(unsigned slot) const {
  if (count_ == 0) return;
  unsigned left = (slot - 1) % count_;
  int core = 0;
  while (!CPU_ISSET(core, &all_) || left-- > 0) ++core;
  if (kept && core == kept->core) return;
  Kept wanted{.before = all_, .only = {}, .core = core};
  CPU_ZERO(&wanted.only);
  CPU_SET(core, &wanted.only);
  if (sched_setaffinity(0, sizeof wanted.only, &wanted.only) == 0) kept = wanted;
}

AllCores::AllCores() {
  if (kept) sched_setaffinity(0, sizeof kept->before, &kept->before);
}
AllCores::~AllCores() {
  if (kept) sched_setaffinity(0, sizeof kept->only, &kept->only);
}

}  // namespace raddle::vm
