#include "gpu/simulated/warp_threads.hpp"

#include <system_error>

namespace raddle::gpu {

WarpThreads::~WarpThreads() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

bool WarpThreads::launch(const superkernel::Queues& queues) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
  try {
    while (threads_.size() < workers_ + 1)
      threads_.emplace_back(
          [this, number = static_cast<unsigned>(threads_.size())](const std::stop_token& stop) { run(stop, number); });
  } catch (const std::system_error&) {
  }
  if (threads_.size() < 2) return false;
  queues_ = queues;
  queues_.workers = static_cast<std::uint32_t>(threads_.size() - 1);
  running_ = static_cast<unsigned>(threads_.size());
  changed_.notify_all();
  return true;
}

void WarpThreads::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
}

void WarpThreads::run(const std::stop_token& stop, unsigned number) {
  const superkernel::Warp warp;
  for (std::uint64_t launches = 0;;) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return queues_.launch > launches; })) return;
    const superkernel::Queues queues = queues_;
    lock.unlock();
    launches = queues.launch;
    if (number == 0)
      superkernel::ingest(queues, warp);
    else
      superkernel::work(queues, warp, dispatch_);
    lock.lock();
    if (--running_ == 0) changed_.notify_all();
  }
}

}  // namespace raddle::gpu
