#pragma once
// What a policy's decisions cost.
#include <chrono>
#include <memory>
#include <type_traits>

#include "vm/place/policy.hpp"

namespace raddle::locality {

/// Another policy, whose time is measured. What it takes to read the clock is found out at first, and taken off.
class MeasuredPolicy final : public vm::Policy {
 public:
  MeasuredPolicy(const vm::PlacementView& view, std::unique_ptr<vm::Policy> policy)
      : Policy(view), policy_(std::move(policy)) {
    constexpr int reads = 1000;
    for (int i = 0; i < reads; ++i) measure([] {});
    clock_cost_ = spent_ / reads;
    spent_ = {};
    calls_ = 0;
  }
  std::int64_t spent_ns() const { return std::chrono::nanoseconds(spent_ - calls_ * clock_cost_).count(); }

  void expected(vm::DataId data, std::uint64_t order) override {
    measure([&] { policy_->expected(data, order); });
  }
  void released(std::span<const vm::TaskId> tasks, std::optional<vm::DeviceId> by, std::int64_t now_ns) override {
    measure([&] { policy_->released(tasks, by, now_ns); });
  }
  std::optional<vm::TaskId> next(vm::DeviceId device) override {
    return measure([&] { return policy_->next(device); });
  }
  std::optional<vm::DataId> victim(vm::DeviceId device, vm::LoadKind load) override {
    return measure([&] { return policy_->victim(device, load); });
  }
  void came(vm::DeviceId device, vm::DataId data) override {
    measure([&] { policy_->came(device, data); });
  }
  void went(vm::DeviceId device, vm::DataId data) override {
    measure([&] { policy_->went(device, data); });
  }
  void dropped(vm::DeviceId device, vm::DataId data) override {
    measure([&] { policy_->dropped(device, data); });
  }

 private:
  using Clock = std::chrono::steady_clock;
  template <typename Call>
  std::invoke_result_t<Call> measure(Call call) {
    struct Stopwatch {
      Clock::duration& spent;
      Clock::time_point start = Clock::now();
      ~Stopwatch() { spent += Clock::now() - start; }
    } const stopwatch{spent_};
    ++calls_;
    return call();
  }

  const std::unique_ptr<vm::Policy> policy_;
  Clock::duration spent_{}, clock_cost_{};
  std::int64_t calls_ = 0;
};

}  // namespace raddle::locality
