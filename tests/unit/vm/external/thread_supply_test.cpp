#include "vm/external/thread_supply.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

using raddle::vm::ThreadSupply;

namespace {

/// Pieces that wait until all of `together` are being done at a time.
class Work {
 public:
  explicit Work(int together) : together_(together) {}
  ~Work() {
    {
      const std::lock_guard lock(mutex_);
      threads_.close();
    }
    CHECK(threads_.join());
  }
  void add(int count) {
    const std::lock_guard lock(mutex_);
    left_ += count;
    threads_.wake_one();
  }
  void wait_until_done(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ == count; });
  }
  int most_at_once() {
    const std::lock_guard lock(mutex_);
    return most_at_once_;
  }
  int thread_count() {
    const std::lock_guard lock(mutex_);
    return thread_count_;
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    ++thread_count_;
    threads_.end_looking();
    while (!threads_.is_closing()) {
      if (left_ == 0) {
        threads_.wait(lock);
        continue;
      }
      if (--left_ > 0) threads_.wake_one();
      most_at_once_ = std::max(++doing_, most_at_once_);
      changed_.notify_all();
      changed_.wait(lock, [this] { return most_at_once_ >= together_; });
      --doing_;
      ++done_;
      changed_.notify_all();
    }
  }

  const int together_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int left_ = 0, doing_ = 0, done_ = 0, most_at_once_ = 0, thread_count_ = 0;
  ThreadSupply threads_{[this](ThreadSupply::Thread&) { serve(); }};
};

}  // namespace

TEST_CASE("there are as many threads as pieces of work that wait for each other, and all are done") {
  Work work(20);
  work.add(20);
  work.wait_until_done(20);
  CHECK(work.most_at_once() == 20);
  CHECK(work.thread_count() == 20);
}

TEST_CASE("nothing is forgotten, and threads are kept") {
  Work work(1);
  for (int i = 1; i <= 2000; ++i) {
    work.add(1);
    if (i % 3 == 0) work.wait_until_done(i);
  }
  work.wait_until_done(2000);
  CHECK(work.thread_count() <= 4);
}

TEST_CASE("a supply that nobody asks has no thread") {
  ThreadSupply threads([](ThreadSupply::Thread&) { FAIL("nobody asked"); });
  threads.close();
  CHECK(threads.join());
}
