#pragma once
// What every stress goes through.
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

/// Both schedulers, the tree with either order of its queues.
inline const PoolOptions schedulers[] = {{.scheduler = Scheduler::stealing},
                                         {.scheduler = Scheduler::tree},
                                         {.scheduler = Scheduler::tree, .order = QueueOrder::fifo}};

}  // namespace raddle::vm
