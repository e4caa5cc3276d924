#include "tests/bench/scheduler/simulated_pool.hpp"

namespace raddle::simulated {

template <typename Queues>
static double run_on(Machine& machine, Queues& queues, const Load& load) {
  SimulatedPool<Queues> pool(machine, queues);
  const auto time = static_cast<double>(pool.run(load));
  if (pool.ended() != load.tasks) return 0;
  const auto work = static_cast<double>(load.tasks) * static_cast<double>(load.task_time);
  return work / time / static_cast<double>(machine.domain_of_worker.size());
}

double efficiency(Which which, unsigned workers, unsigned domains, const Load& load) {
  Machine machine;
  for (unsigned i = 0; i < workers; ++i) machine.domain_of_worker.push_back(i * domains / workers);
  if (which == Which::stealing) {
    vm::StealingQueues<Meter> queues(workers, Meter(machine));
    return run_on(machine, queues, load);
  }
  const auto order = which == Which::tree ? vm::QueueOrder::lifo : vm::QueueOrder::fifo;
  vm::QueueTree<Meter> queues(machine.domain_of_worker, order, Meter(machine));
  return run_on(machine, queues, load);
}

}  // namespace raddle::simulated
