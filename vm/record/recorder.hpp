#pragma once
// Writes one run into the record. A thread of its own gathers what arrives and writes it in batches.
#include <atomic>
#include <condition_variable>
#include <expected>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "vm/record/run_record.hpp"

namespace raddle::vm {

class Recorder {
 public:
  /// Begins a run: gives it its id and stores its row. @throws RecordError
  explicit Recorder(RunRow run);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// Writes what is left. A run that end() was not called for stays without an end.
  ~Recorder();

  const std::string& id() const { return run_.id; }
  /// Any thread. The row is in the file some 50 ms later; waits if very many rows can not be written.
  void add(PointRow row);
  /// The same for points that were done together; waits if more than a few batches can not be written.
  void add(BatchRow batch);
  /// Writes what is left, and the run's end: its counts and state.
  /// @error  what could not be written
  std::expected<void, std::string> end(const RunRow& run);
  /// True once something could not be written; nothing is written any more.
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }

 private:
  void work();
  void write(const std::vector<PointRow>& rows, const std::vector<BatchRow>& batches);
  void insert(const std::vector<PointRow>& rows);
  void insert(const std::vector<BatchRow>& batches);
  void stop();

  RunRow run_;
  std::int64_t run_row_ = 0;
  std::mutex mutex_;  // guards the next five
  std::condition_variable arrived_, written_;
  std::vector<PointRow> waiting_;
  std::vector<BatchRow> waiting_batches_;
  bool ending_ = false;
  std::string error_;
  std::atomic<bool> has_failed_{false};
  RunRecord record_;  // of thread_, once that is started
  std::thread thread_;
};

}  // namespace raddle::vm
