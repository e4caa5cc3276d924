#pragma once
// A task for tests of queues.
#include "vm/schedule/task.hpp"

namespace raddle::vm {

struct Nothing final : Task {
  void run(Worker&) override {}
};

}  // namespace raddle::vm
