#include "vm/device/device_calls.hpp"

#include <utility>

namespace raddle::vm {

namespace {

constexpr std::int64_t clang_ns = 1'000'000'000;  ///< that clang takes for PTX
constexpr std::int64_t warp_lanes = 32;
constexpr std::int64_t warp_slowness = 8;

}  // namespace

DeviceCalls::DeviceCalls(std::shared_ptr<Devices> devices, AppKernelCompiler* compiler, const Program& program,
                         WorkerPool& pool)
    : DeviceCalls(std::move(devices), compiler, program, pool,
                  std::make_shared<Receiver>(pool, program.foreigns.size())) {}

DeviceCalls::DeviceCalls(std::shared_ptr<Devices> devices, AppKernelCompiler* compiler, const Program& program,
                         WorkerPool& pool, std::shared_ptr<Receiver> receiver)
    : CallSharing(std::move(devices), pool,
                  {.lanes = warp_lanes, .slowness = warp_slowness, .code_ns = clang_ns, .part = DevicePart::app_kernel},
                  receiver),
      compiler_(compiler),
      program_(program),
      copied_parts_(program),
      receiver_(std::move(receiver)) {
  for (const Function& function : program.functions) {
    if (function.foreign == no_id) continue;
    Entry& entry = receiver_->entries[function.foreign];
    entry.placement = function.placement;
    entry.place = function.place;
    entry.name = function.name;
    if (program.foreigns[function.foreign].kind == ForeignKind::app_kernel && compiler != nullptr &&
        function.placement != Placement::cpu)
      continue;
    entry.stage.store(Stage::impossible, std::memory_order_relaxed);
  }
}

void DeviceCalls::prepare(std::uint32_t foreign) {
  devices_->prepare_calls(program_.foreigns[foreign], *compiler_,
                          [shared = receiver_, foreign](auto kernel) { shared->prepared(foreign, std::move(kernel)); });
}

void DeviceCalls::submit(std::uint32_t foreign, DeviceCall call, DeviceOutcome& outcome, Task& task) {
  const Entry& entry = receiver_->entries[foreign];
  call.begun_ns = receiver_->begin_call(foreign);
  call.kernel = entry.kernel;
  call.expected_ns = entry.device_ns.load(std::memory_order_relaxed);
  call.run = &receiver_->run;
  call.receiver = receiver_;
  call.foreign = foreign;
  call.outcome = &outcome;
  call.task = &task;
  devices_->submit(std::move(call));
}

void DeviceCalls::Receiver::ended(std::span<const EndedCall> calls) {
  TaskBatch tasks;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [call, outcome] : calls) note_outcome(call->foreign, outcome);
  }
  for (const auto& [call, outcome] : calls) {
    end_call(call->foreign, call->begun_ns, outcome.made == 1);
    *call->outcome = outcome;
    tasks.add(*call->task);
  }
  end(tasks);
}

}  // namespace raddle::vm
