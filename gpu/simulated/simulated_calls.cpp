#include "gpu/simulated/simulated_calls.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

#include "vm/foreign/crash_notice.hpp"
#include "vm/foreign/foreign_code.hpp"

namespace raddle::gpu {

namespace {

constexpr std::int64_t lanes_of_warp = 32;

class SimulatedAppKernel final : public vm::DeviceKernel {
 public:
  SimulatedAppKernel(vm::AppKernelCode code, std::int64_t lanes) : DeviceKernel(lanes), code(code) {}
  const vm::AppKernelCode code;
};

/// As AppKernelFunction does.
void run_call(const vm::DeviceCall& call) {
  const auto begin = std::chrono::steady_clock::now();
  vm::DeviceOutcome outcome;
  if (call.is_wanted()) {
    std::array<char, 256> thrown{};
    const auto code = static_cast<const SimulatedAppKernel&>(*call.kernel).code;
    const std::int64_t status = code(call.words.data(), thrown.data(), thrown.size());
    vm::write_output_of_c();
    outcome.made = status == 0 && thrown[0] == 0 ? 1 : 0;
  }
  outcome.spent_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  vm::tell(std::array{vm::EndedCall{&call, outcome}});
}

}  // namespace

SimulatedCalls::~SimulatedCalls() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void SimulatedCalls::prepare(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler,
                             const vm::Devices::PreparedCalls& done) {
  vm::tell_of_crashes();
  if (const auto code = compiler.load(function))
    done(std::make_shared<SimulatedAppKernel>(*code, warps_ * lanes_of_warp));
  else
    done(std::unexpected(code.error()));
}

void SimulatedCalls::submit(vm::DeviceCall call) {
  {
    const std::lock_guard lock(mutex_);
    try {
      while (threads_.size() < warps_) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {  // those there are do it
    }
    if (!threads_.empty()) return queue_.push(std::move(call));
  }
  vm::tell(std::array{vm::EndedCall{&call, {.is_lost = true}}});
}

void SimulatedCalls::work(const std::stop_token& stop) {
  for (auto call = queue_.take(stop, 1); !call.empty(); call = queue_.take(stop, 1)) run_call(call.front());
}

}  // namespace raddle::gpu
