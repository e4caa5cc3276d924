#pragma once
// Copies to a simulated card, and when they would be there on one that a model stands for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/memory/transfer_times.hpp"
#include "gpu/simulated/card_model.hpp"
#include "gpu/simulated/host_copies.hpp"

namespace raddle::gpu {

/// What goes there from the host until it is waited for is one copy of the model's, and so is what other cards have.
class ModelledCopies final : public HostCopies {
 public:
  /// @param clock  null: no model  @param from_ns  by it
  ModelledCopies(ModelClock* clock, unsigned card, std::int64_t from_ns)
      : clock_(clock), card_(card), from_ns_(from_ns) {}

  int copy_in(std::uint64_t to, const void* from, std::size_t bytes) override {
    add(bytes);
    if (clock_ == nullptr) times_.begin(vm::DeviceLane::from_host, bytes);
    return HostCopies::copy_in(to, from, bytes);
  }
  int copy_out(void* to, std::uint64_t from, std::size_t bytes) override {
    if (clock_ == nullptr) times_.begin(vm::DeviceLane::to_host, bytes);
    return HostCopies::copy_out(to, from, bytes);
  }
  int copy_between(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::int64_t ready_ns) override {
    bytes_between_ += bytes;
    between_from_ns_ = std::max(between_from_ns_, ready_ns);
    return copy_within(to, from, bytes);
  }
  /// More of what goes there, which the host computes where it lies.
  void add(std::size_t bytes) { bytes_ += bytes; }
  int wait() override {
    times_.end();
    if (clock_ == nullptr) return 0;
    done_ns_ = std::max(done_ns_, from_ns_);
    if (const std::size_t bytes = std::exchange(bytes_, 0); bytes != 0)
      note(vm::DeviceLane::from_host, bytes, clock_->copy_up(card_, from_ns_, bytes));
    if (const std::size_t bytes = std::exchange(bytes_between_, 0); bytes != 0)
      note(vm::DeviceLane::from_devices, bytes,
           clock_->copy_between(card_, std::max(from_ns_, between_from_ns_), bytes));
    return 0;
  }
  std::vector<vm::DeviceTransfer> take_transfers() override {
    return clock_ == nullptr ? times_.take() : std::exchange(transfers_, {});
  }
  /// What comes back, which the clock has told with what was computed.
  void note_results(std::size_t bytes, const ModelClock::Ended& ended) {
    if (bytes == 0) return;
    transfers_.push_back({.lane = vm::DeviceLane::to_host,
                          .start_ns = clock_->on_host(ended.back_ns),
                          .duration_ns = ended.end_ns - ended.back_ns,
                          .bytes = bytes});
  }
  void begin_after(std::int64_t ns) override { from_ns_ = std::max(from_ns_, ns); }
  std::int64_t done_ns() const override { return done_ns_; }
  std::int64_t from_ns() const { return from_ns_; }
  /// When the first copy began; none: there was none.
  std::optional<std::int64_t> begun_ns() const { return begun_ns_; }

 private:
  void note(vm::DeviceLane lane, std::size_t bytes, const ModelClock::Passed& passed) {
    transfers_.push_back({.lane = lane,
                          .start_ns = clock_->on_host(passed.begin_ns),
                          .duration_ns = passed.end_ns - passed.begin_ns,
                          .bytes = bytes});
    begun_ns_ = std::min(passed.begin_ns, begun_ns_.value_or(passed.begin_ns));
    done_ns_ = std::max(done_ns_, passed.end_ns);
  }

  ModelClock* const clock_;
  const unsigned card_;
  std::int64_t from_ns_, between_from_ns_ = 0, done_ns_ = 0;
  std::optional<std::int64_t> begun_ns_;
  std::size_t bytes_ = 0, bytes_between_ = 0;
  std::vector<vm::DeviceTransfer> transfers_;  ///< of a model
  TransferTimes times_;                        ///< of none
};

}  // namespace raddle::gpu
