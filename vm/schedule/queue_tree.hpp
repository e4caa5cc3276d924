#pragma once
// The queue tree: a leaf for each worker, a node for each NUMA domain, a root. See Note [queue tree].
// Source: Mari Barcelo, "Improving the scheduler of the OmpSs-2 runtime" (Master thesis, UPC).
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "vm/schedule/meter.hpp"
#include "vm/schedule/task_queue.hpp"
#include "vm/schedule/work_stealing_deque.hpp"

namespace raddle::vm {

/// Note [queue tree]. A queue holds as many tasks as the threshold says, one number for the whole tree, 0 at first;
/// what is more goes up, half a threshold at a time: from a leaf to its node, from there to the root. So few tasks are
/// seen by all, and many stay where they were made. If the root overflows, there is work for all: the threshold
/// doubles. If a leaf has to ask at the root, work is short: it halves, and whoever has more than the new threshold
/// gives it up, when it next takes a task of its own. The tasks of the thesis are short; here a worker may be at one
/// for hours, so that a leaf that got nothing at the root takes the surplus of others itself: nearest first, and with
/// the threshold at 0 to the last task.
///
/// Immediate successors: the task that a worker made ready last lies in a slot of its own and is next, whatever the
/// order of the queues; the one before moves on to the leaf. So chains and trees pass the queues by.
///
/// Polling slots: a worker that found nothing opens its slot and looks there while it spins. A task that is pushed
/// meanwhile is put straight into it, in the pusher's domain if there is one. Of the tasks that one task makes only the
/// first goes that way: whoever makes many would lose more time with each slot than with the queues.
template <typename Meter = NoMeter>
class QueueTree {
 public:
  /// @param domain_of_worker  a number from 0 for each worker that may come
  QueueTree(const std::vector<unsigned>& domain_of_worker, QueueOrder order, Meter meter = {})
      : order_(order),
        meter_(meter),
        capacity_(static_cast<unsigned>(domain_of_worker.size())),
        leaves_(std::make_unique<Leaf[]>(capacity_)),
        root_(std::make_unique<TaskQueue>(order)) {
    const unsigned domains = *std::max_element(domain_of_worker.begin(), domain_of_worker.end()) + 1;
    for (unsigned i = 0; i < domains; ++i) nodes_.push_back(std::make_unique<Node>(order));
    for (unsigned i = 0; i < capacity_; ++i) {
      leaves_[i].node = nodes_[domain_of_worker[i]].get();
      leaves_[i].node->workers.push_back(i);
    }
  }

  bool push(unsigned self, Task& task) {
    Leaf& own = leaves_[self];
    if (!own.has_handed_over) {
      meter_.read(polling_line_, self);
      if (polling_count_.load(std::memory_order_relaxed) > 0 && hand_over(self, task)) {
        own.has_handed_over = true;
        return false;
      }
    }
    meter_.write(own.line, self);
    Task* earlier = own.successor.exchange(&task, std::memory_order_seq_cst);  // seq_cst: before the look for sleepers
    if (earlier) {
      own.queue.push(earlier);
      bool has_moved = false;
      if (own.queue.size() > threshold()) give_up_surplus(self, has_moved);
    }
    return true;
  }

  bool push(unsigned self, TaskBatch batch) {
    bool is_queued = false;
    while (Task* task = batch.take_first()) is_queued |= push(self, *task);
    return is_queued;
  }

  template <typename Filter = WorkStealingDeque::AnyTask>
  Task* take(unsigned self, bool& has_moved, const Filter& is_wanted = {}) {
    Leaf& own = leaves_[self];
    meter_.write(own.line, self);
    own.has_handed_over = false;
    if (const Task* successor = own.successor.load(std::memory_order_relaxed)) {
      if (!is_wanted(successor)) return nullptr;
      if (Task* task = take_successor(own)) return task;
    }
    Task* task = order_ == QueueOrder::lifo ? own.queue.take(is_wanted) : own.queue.steal(is_wanted);
    if (task && own.seen_falls != falls_.load(std::memory_order_relaxed)) {
      own.seen_falls = falls_.load(std::memory_order_relaxed);
      if (own.queue.size() > threshold()) give_up_surplus(self, has_moved);
    }
    return task;
  }
  Task* take_oldest(unsigned self) {
    if (Task* task = leaves_[self].queue.steal()) return task;
    return take_successor(leaves_[self]);
  }

  Task* take_elsewhere(unsigned self, std::uint64_t random, bool& has_moved) {
    if (Task* task = poll(self)) return task;
    Leaf& own = leaves_[self];
    if (Task* task = take_batch(self, own.node->queue, own.node->line, has_moved)) return task;
    Task* task = take_batch(self, *root_, root_line_, has_moved);
    lower_threshold();
    return task ? task : take_surplus(self, random, has_moved);
  }
  void start_looking(unsigned self) { open_slot(self); }
  Task* stop_looking(unsigned self) { return leaves_[self].is_polling ? close_slot(self) : nullptr; }

  bool has_own(unsigned self) const {
    return leaves_[self].successor.load(std::memory_order_relaxed) || !leaves_[self].queue.is_empty();
  }
  std::int64_t waiting(unsigned self) const {
    const Leaf& own = leaves_[self];
    return own.queue.size() + static_cast<std::int64_t>(own.node->queue.size() + root_->size());
  }
  bool is_empty() const {
    if (!root_->is_empty()) return false;
    for (const std::unique_ptr<Node>& node : nodes_)
      if (!node->queue.is_empty()) return false;
    for (unsigned i = 0; i < capacity_; ++i)
      if (leaves_[i].successor.load(std::memory_order_seq_cst) || !leaves_[i].queue.is_empty()) return false;
    return true;
  }
  TaskBatch drain(unsigned self) {
    TaskBatch all;
    Leaf& own = leaves_[self];
    if (Task* task = stop_looking(self)) all.add(*task);
    if (Task* task = take_successor(own)) all.add(*task);
    while (Task* task = own.queue.take()) all.add(*task);
    return all;
  }

  std::int64_t threshold() const { return threshold_.load(std::memory_order_relaxed); }  // relaxed: a hint

 private:
  struct Node {
    explicit Node(QueueOrder order) : queue(order) {}
    TaskQueue queue;
    std::mutex mutex;               // guards polling
    std::vector<unsigned> polling;  // workers whose slot is open, or about to be closed
    std::vector<unsigned> workers;  // of this domain
    [[no_unique_address]] typename Meter::Line line;
    [[no_unique_address]] typename Meter::Line polling_line;
  };
  struct alignas(64) Leaf {
    std::atomic<Task*> successor{nullptr};  // filled by the owner, emptied by any
    WorkStealingDeque queue;
    Node* node = nullptr;
    std::uint64_t seen_falls = 0;  // owner only, as the next two
    bool is_polling = false;       // its slot is open, or has been filled
    bool has_handed_over = false;  // since it last took a task
    /// Opened by the owner; filled by whoever takes it off the node's list.
    alignas(64) std::atomic<Task*> slot{nullptr};
    [[no_unique_address]] typename Meter::Line line;
    [[no_unique_address]] typename Meter::Line slot_line;
  };

  static Task* take_successor(Leaf& leaf) {
    if (!leaf.successor.load(std::memory_order_relaxed)) return nullptr;
    return leaf.successor.exchange(nullptr, std::memory_order_acquire);
  }
  std::size_t batch_size() const { return static_cast<std::size_t>(std::max<std::int64_t>(threshold() / 2, 1)); }

  // ---------------------------------------------------------------- the threshold

  void raise_threshold() {
    constexpr std::int64_t limit = 1 << 20;
    std::int64_t now = threshold();
    const std::int64_t next = now == 0 ? 2 : std::min(now * 2, limit);
    threshold_.compare_exchange_strong(now, next, std::memory_order_relaxed);
  }
  void lower_threshold() {
    std::int64_t now = threshold();
    if (now == 0 || !threshold_.compare_exchange_strong(now, now / 2, std::memory_order_relaxed)) return;
    falls_.fetch_add(1, std::memory_order_relaxed);
  }

  /// The oldest tasks of a leaf go to its node, of the node to the root.
  void give_up_surplus(unsigned self, bool& has_moved) {
    Leaf& own = leaves_[self];
    TaskBatch batch;
    // as much as makes room for half a threshold again: after a fall that is more than half a threshold
    const auto surplus = static_cast<std::size_t>(std::max<std::int64_t>(own.queue.size() - threshold(), 0));
    for (std::size_t most = std::max(batch_size(), surplus); batch.count < most;) {
      Task* task = own.queue.steal();
      if (!task) break;  // a thief was faster
      batch.add(*task);
    }
    has_moved = true;
    meter_.lock(own.node->line, self);
    const std::size_t in_node = own.node->queue.push(batch);
    if (in_node <= static_cast<std::size_t>(threshold())) return;
    const TaskBatch more =
        own.node->queue.take(std::max(batch_size(), in_node - static_cast<std::size_t>(threshold())));
    meter_.lock(root_line_, self);
    const std::size_t in_root = root_->push(more);
    if (in_root > static_cast<std::size_t>(threshold())) raise_threshold();
  }

  /// Half a threshold of tasks to the own leaf. @return the first of them
  Task* take_batch(unsigned self, TaskQueue& queue, const typename Meter::Line& line, bool& has_moved) {
    meter_.read(line, self);
    if (queue.is_empty()) return nullptr;
    meter_.lock(line, self);
    TaskBatch batch = queue.take(batch_size());
    Task* task = batch.take_first();
    while (Task* other = batch.take_first()) {
      leaves_[self].queue.push(other);
      has_moved = true;
    }
    return task;
  }

  // ---------------------------------------------------------------- rebalancing by those without work

  Task* take_surplus(unsigned self, std::uint64_t random, bool& has_moved) {
    const auto home = static_cast<std::size_t>(
        std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& node) { return node.get() == leaves_[self].node; }) -
        nodes_.begin());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = *nodes_[(home + i) % nodes_.size()];
      if (i > 0) {
        if (Task* task = take_batch(self, node.queue, node.line, has_moved)) return task;
      }
      const std::size_t count = node.workers.size();
      for (std::size_t j = 0; j < count; ++j) {
        const unsigned victim = node.workers[(random + j) % count];
        if (victim == self) continue;
        if (Task* task = take_surplus_of(leaves_[victim], self)) return task;
      }
    }
    return nullptr;
  }
  Task* take_surplus_of(Leaf& victim, unsigned self) {
    meter_.read(victim.line, self);
    const std::int64_t spared = threshold();
    if (victim.queue.size() > spared) {
      meter_.write(victim.line, self);
      if (Task* task = victim.queue.steal()) return task;
    }
    if (spared > 0 || !victim.successor.load(std::memory_order_relaxed)) return nullptr;
    meter_.write(victim.line, self);
    return take_successor(victim);
  }

  // ---------------------------------------------------------------- polling slots

  void open_slot(unsigned self) {
    Leaf& own = leaves_[self];
    meter_.lock(own.node->polling_line, self);
    meter_.write(polling_line_, self);
    const std::lock_guard lock(own.node->mutex);
    own.is_polling = true;
    own.node->polling.push_back(self);
    polling_count_.fetch_add(1, std::memory_order_relaxed);
  }
  Task* close_slot(unsigned self) {
    Leaf& own = leaves_[self];
    meter_.lock(own.node->polling_line, self);
    meter_.write(polling_line_, self);
    const std::lock_guard lock(own.node->mutex);
    if (std::erase(own.node->polling, self) > 0) polling_count_.fetch_sub(1, std::memory_order_relaxed);
    own.is_polling = false;
    return own.slot.exchange(nullptr, std::memory_order_acquire);
  }
  Task* poll(unsigned self) {
    Leaf& own = leaves_[self];
    if (!own.is_polling) return nullptr;
    meter_.read(own.slot_line, self);
    if (!own.slot.load(std::memory_order_relaxed)) return nullptr;
    return close_slot(self);
  }

  bool hand_over(unsigned self, Task& task) {
    if (hand_over_in(*leaves_[self].node, self, task)) return true;
    for (const std::unique_ptr<Node>& node : nodes_)
      if (node.get() != leaves_[self].node && hand_over_in(*node, self, task)) return true;
    return false;
  }
  /// The slot is filled under the node's mutex: whoever closes it afterwards finds the task.
  bool hand_over_in(Node& node, unsigned self, Task& task) {
    meter_.lock(node.polling_line, self);
    const std::lock_guard lock(node.mutex);
    if (node.polling.empty()) return false;
    const unsigned to = node.polling.back();
    node.polling.pop_back();
    polling_count_.fetch_sub(1, std::memory_order_relaxed);
    leaves_[to].slot.store(&task, std::memory_order_release);
    return true;
  }

  const QueueOrder order_;
  [[no_unique_address]] Meter meter_;
  const unsigned capacity_;
  std::vector<std::unique_ptr<Node>> nodes_;
  const std::unique_ptr<Leaf[]> leaves_;
  const std::unique_ptr<TaskQueue> root_;
  alignas(64) std::atomic<std::int64_t> threshold_{0};  // written by whoever overflows or asks at the root: hints
  std::atomic<std::uint64_t> falls_{0};                 // how often it has halved
  alignas(64) std::atomic<unsigned> polling_count_{0};  // slots that are open: a hint, so relaxed
  [[no_unique_address]] typename Meter::Line root_line_;
  [[no_unique_address]] typename Meter::Line polling_line_;
};

}  // namespace raddle::vm
