#pragma once
// What one run has devices do of its calls of AppKernels.
#include <cstdint>
#include <memory>
#include <span>

#include "vm/device/call_sharing.hpp"
#include "vm/device/copied_parts.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

/// Functions are indices into Program::foreigns. Each call goes as soon as it is submitted: devices make bundles.
class DeviceCalls final : public CallSharing {
 public:
  /// @param compiler  null: none go. All outlive this
  DeviceCalls(std::shared_ptr<Devices> devices, AppKernelCompiler* compiler, const Program& program, WorkerPool& pool);
  ~DeviceCalls() { close(); }
  /// Has the call made: `outcome` is filled then, and `task` injected. @pre its way was `there`
  /// @param call  without kernel, run and done
  void submit(std::uint32_t foreign, DeviceCall call, DeviceOutcome& outcome, Task& task);
  const CopiedParts& copied_parts() const { return copied_parts_; }

 private:
  struct Receiver final : Shared, CallReceiver {
    using Shared::Shared;
    void ended(std::span<const EndedCall> calls) override;
  };
  void prepare(std::uint32_t foreign) override;

  AppKernelCompiler* const compiler_;
  const Program& program_;
  const CopiedParts copied_parts_;
  const std::shared_ptr<Receiver> receiver_;

  DeviceCalls(std::shared_ptr<Devices> devices, AppKernelCompiler* compiler, const Program& program, WorkerPool& pool,
              std::shared_ptr<Receiver> receiver);
};

}  // namespace raddle::vm
