#include "gpu/simulated/simulated_calls.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "gpu/simulated/host_clocks.hpp"
#include "vm/foreign/crash_notice.hpp"
#include "vm/foreign/foreign_code.hpp"

namespace raddle::gpu {

namespace {

constexpr std::int64_t lanes_of_warp = 32;

class SimulatedAppKernel final : public vm::DeviceKernel {
 public:
  SimulatedAppKernel(vm::AppKernelCode code, std::int64_t lanes, std::int64_t ready_ns)
      : DeviceKernel(lanes), code(code), ready_ns(ready_ns) {}
  const vm::AppKernelCode code;
  const std::int64_t ready_ns;  ///< on the model's clock
};

const SimulatedAppKernel& app_kernel_of(const vm::DeviceCall& call) {
  return static_cast<const SimulatedAppKernel&>(*call.kernel);
}

/// As AppKernelFunction does. @return whether it has ended well
bool makes(const vm::DeviceCall& call) {
  if (!call.is_wanted()) return false;
  std::array<char, 256> thrown{};
  const std::int64_t status = app_kernel_of(call).code(call.words.data(), thrown.data(), thrown.size());
  vm::write_output_of_c();
  return status == 0 && thrown[0] == 0;
}

void run_call(const vm::DeviceCall& call) {
  vm::DeviceOutcome outcome{.start_ns = steady_ns()};
  outcome.made = makes(call) ? 1 : 0;
  outcome.spent_ns = steady_ns() - outcome.start_ns;
  vm::tell(std::array{vm::EndedCall{&call, outcome}});
}

std::uint64_t bytes_of(std::span<const vm::AddressedMemory> all) {
  std::uint64_t bytes = 0;
  for (const vm::AddressedMemory& memory : all) bytes += memory.size_bytes;
  return bytes;
}

}  // namespace

SimulatedCalls::~SimulatedCalls() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void SimulatedCalls::prepare(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler,
                             const vm::Devices::Prepared& done) {
  vm::tell_of_crashes();
  if (clock_) clock_->open();
  const auto code = compiler.load(function);
  if (!code) return done(std::unexpected("it can not be compiled"));  // why says the call, which fails
  const auto kernel = std::make_shared<SimulatedAppKernel>(
      *code, clock_ ? clock_->model().lanes : warps_ * lanes_of_warp, clock_ ? clock_->load_kernel() : 0);
  // what no GPU would take does not go here, either
  compiler.request_ptx(function, [kernel, done](const std::expected<std::string, std::string>& ptx) {
    if (!ptx) return done(std::unexpected(ptx.error()));
    done(kernel);
  });
}

void SimulatedCalls::submit(vm::DeviceCall call) {
  if (clock_) clock_->give();
  {
    const std::lock_guard lock(mutex_);
    try {
      while (threads_.size() < warps_) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {  // those there are do it
    }
    if (!threads_.empty()) return queue_.push(std::move(call));
  }
  if (clock_) clock_->drop();
  vm::tell(std::array{vm::EndedCall{&call, {.is_lost = true}}});
}

void SimulatedCalls::work(const std::stop_token& stop) {
  while (true) {
    const std::vector<vm::DeviceCall> calls = queue_.take(stop, clock_ ? CallQueue::most_calls : 1);
    if (calls.empty()) return;
    if (clock_)
      run_for_model(calls);
    else
      run_call(calls.front());
  }
}

/// A bundle is one launch. What calls read and fill crosses the bus for each of them, as a model has it.
void SimulatedCalls::run_for_model(const std::vector<vm::DeviceCall>& bundle) const {
  ModelledWork work{.launches = 1};
  std::vector<vm::EndedCall> ended;
  const auto [card, now] = clock_->take();
  for (const vm::DeviceCall& call : bundle) {
    const std::int64_t begun = processor_ns();
    ended.push_back({&call, {.made = makes(call) ? 1 : 0, .device = card}});
    const std::int64_t spent = processor_ns() - begun;
    work.host_ns += spent;
    work.longest_ns = std::max(work.longest_ns, spent / lanes_of_warp);
    work.traffic.bytes_up += call.words.size_bytes() + bytes_of(call.read);
    work.traffic.bytes_down += call.words.size_bytes() + bytes_of(call.filled);
  }
  const std::int64_t from = std::max(now, app_kernel_of(bundle.front()).ready_ns);
  const ModelClock::Passed passed = clock_->end(card, from, work, static_cast<std::int64_t>(bundle.size()));
  for (vm::EndedCall& call : ended) {
    call.outcome.start_ns = clock_->on_host(passed.begin_ns);
    call.outcome.spent_ns = passed.end_ns - passed.begin_ns;
  }
  ended.front().outcome.traffic = work.traffic;
  vm::tell(ended);
}

}  // namespace raddle::gpu
