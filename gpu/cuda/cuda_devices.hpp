#pragma once
// GPUs of NVIDIA, by the driver that is found at run time.
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "gpu/cuda/card.hpp"
#include "gpu/server/server_process.hpp"
#include "vm/device/devices.hpp"
#include "vm/place/policy.hpp"

namespace raddle::gpu {

/// Opens nothing until the first kernel is to be prepared: then the driver's library is looked for, at once, and if
/// there is one a thread begins with it, which opens the cards and loads kernels as their text comes. The driver of
/// each card is in a process of its own: whatever happens to it, no task is lost (Note [cards that fail] in
/// cuda_state.hpp), and nobody waits for it who does not want it any more. Each card has eight threads, which take
/// batches from one queue: while one of them copies, another one's kernel runs, and small batches share the card. Four
/// more take bundles of calls.
///
/// Batches are launches of their own. Or, if it is resident, a super kernel stays on each card, whose functions are the
/// kernels that were prepared so far: with each one comes a new one, for whose loading the one before ends. Kernels
/// with many registers are launched as ever, as they would take those of all others; so are those that the driver does
/// not take as a function.
class CudaDevices final : public vm::Devices {
 public:
  static constexpr const char* usual_library = "libcuda.so.1";

  enum class Way : std::uint8_t { launches, resident };

  /// @param most    cards that are used, those with the least numbers
  /// @param server  the program whose processes have the drivers. None: they are in this process, and a card that fails
  ///                gets nothing more
  /// @param policy  of vm/place, for calls with large arrays
  CudaDevices(unsigned most, vm::DeviceTakes takes, Way way = Way::launches, std::string library = usual_library,
              const CardLimits& limits = {}, ServerProgram server = {},
              std::string policy = std::string(vm::default_policy));
  ~CudaDevices() override;

  /// Opens all now. Once, before anything else.
  /// @return how many cards there are; only the first `most` of them are opened  @error  why there are none, in words
  std::expected<unsigned, std::string> open();

  void prepare(const vm::KernelGroup& kernels, vm::KernelEntry entry, std::shared_ptr<vm::CompilerLink> compiler,
               Prepared done) override;
  void submit(vm::DeviceBatch batch) override;
  void prepare_calls(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler, Prepared done) override;
  void submit(vm::DeviceCall call) override;
  bool is_hungry() const override;
  vm::DeviceCosts costs() const override;
  std::vector<vm::DeviceFacts> facts() const override;
  std::string problem() const override;

 private:
  static constexpr unsigned threads_of_card = ResidentCard::most_threads;
  struct State;
  const vm::DeviceTakes takes_;
  const std::shared_ptr<State> state_;  ///< the compiler's callbacks look whether it is still there
};

}  // namespace raddle::gpu
