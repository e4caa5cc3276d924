#pragma once
// Copies to a simulated card, and when they would be there on one that a model stands for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

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
    return HostCopies::copy_in(to, from, bytes);
  }
  int copy_between(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::int64_t ready_ns) override {
    bytes_between_ += bytes;
    between_from_ns_ = std::max(between_from_ns_, ready_ns);
    return copy_within(to, from, bytes);
  }
  /// More of what goes there, which the host computes where it lies.
  void add(std::size_t bytes) { bytes_ += bytes; }
  int wait() override {
    if (clock_ == nullptr) return 0;
    done_ns_ = std::max(done_ns_, from_ns_);
    if (bytes_ != 0) note(clock_->copy_up(card_, from_ns_, std::exchange(bytes_, 0)));
    if (bytes_between_ != 0)
      note(clock_->copy_between(card_, std::max(from_ns_, between_from_ns_), std::exchange(bytes_between_, 0)));
    return 0;
  }
  void begin_after(std::int64_t ns) override { from_ns_ = std::max(from_ns_, ns); }
  std::int64_t done_ns() const override { return done_ns_; }
  std::int64_t from_ns() const { return from_ns_; }
  /// When the first copy began; none: there was none.
  std::optional<std::int64_t> begun_ns() const { return begun_ns_; }

 private:
  void note(const ModelClock::Passed& passed) {
    begun_ns_ = std::min(passed.begin_ns, begun_ns_.value_or(passed.begin_ns));
    done_ns_ = std::max(done_ns_, passed.end_ns);
  }

  ModelClock* const clock_;
  const unsigned card_;
  std::int64_t from_ns_, between_from_ns_ = 0, done_ns_ = 0;
  std::optional<std::int64_t> begun_ns_;
  std::size_t bytes_ = 0, bytes_between_ = 0;
};

}  // namespace raddle::gpu
