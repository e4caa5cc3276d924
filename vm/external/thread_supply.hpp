#pragma once
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace raddle::vm {

/// Threads that look for work, do what they find, and look again: started when there is work and none is free, and
/// kept. One that looks is enough at a time: when it has found something it wakes the next. Everything but join() is
/// called with the owner's mutex held.
class ThreadSupply {
 public:
  struct Thread {
    std::thread thread;
    bool is_lost = false;  ///< what it does may never end; nobody waits for it
  };

  /// @param body  of each thread, which begins as one that looks
  explicit ThreadSupply(std::function<void(Thread&)> body) : body_(std::move(body)) {}

  /// Starts a thread if there is none. @throws std::system_error
  void begin();
  /// There is work: some thread looks for it, now or when it is free.
  void wake_one();
  /// The calling thread will look in a moment.
  void begin_looking() { ++looking_; }
  /// It has looked.
  void end_looking() { --looking_; }
  /// The calling thread has found nothing. Returns when it is to look again, or is_closing().
  void wait(std::unique_lock<std::mutex>& lock);

  /// Threads that find nothing are to end.
  void close();
  bool is_closing() const { return closing_; }
  /// After close(), without the mutex. @return whether all have ended: no thread was lost
  bool join();

 private:
  void start();

  const std::function<void(Thread&)> body_;
  std::condition_variable wanted_;
  std::list<Thread> threads_;
  std::size_t idle_ = 0;
  std::size_t woken_ = 0;    // no more idle, and not yet awake
  std::size_t looking_ = 0;  // woken or just started, or about to look
  bool closing_ = false;
};

}  // namespace raddle::vm
