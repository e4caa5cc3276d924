#pragma once
// What is behind CudaDevices.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "gpu/call_queue.hpp"
#include "gpu/cuda/card.hpp"
#include "gpu/cuda/cuda_devices.hpp"
#include "vm/device/device_load.hpp"

namespace raddle::gpu {

class CudaKernel final : public vm::DeviceKernel {
 public:
  /// @param functions  by card; at least one. Cards of one machine are taken to be alike
  CudaKernel(std::int64_t lanes, std::vector<CardFunction> functions)
      : DeviceKernel(lanes), functions(std::move(functions)) {}
  const std::vector<CardFunction> functions;
};

struct CudaDevices::State : std::enable_shared_from_this<CudaDevices::State> {
  State(unsigned most, Way way, const CardLimits& limits, std::string library)
      : most(most), way(way), limits(limits), library(std::move(library)) {}
  ~State();

  /// A kernel that is being got.
  struct Text {
    vm::KernelGroup kernels;
    vm::KernelEntry entry;
    std::shared_ptr<vm::CompilerLink> compiler;
    std::function<void(std::shared_ptr<const vm::DeviceKernel>)> done;
    std::vector<CardFunction> functions{};  ///< by card
  };

  const unsigned most;
  const Way way;
  const CardLimits limits;
  const std::string library;
  std::once_flag loading;
  std::optional<CudaDriver> driver;  ///< written once, under `loading`

  mutable std::mutex mutex;  ///< guards all below, but what says otherwise
  std::condition_variable_any changed;
  std::deque<std::function<void()>> loads;      ///< to be done once the cards are open
  std::vector<vm::RangeKernel> ranges;          ///< functions of the super kernel, by number
  std::deque<std::shared_ptr<Text>> for_super;  ///< are to become functions, one after the other: the first one now
  std::deque<vm::DeviceBatch> batches;
  CallQueue calls;  ///< has a mutex of its own
  bool has_call_threads = false;
  std::vector<std::unique_ptr<Card>> cards;  ///< changed by open_cards() only, before the first batch
  std::vector<bool> failed;                  ///< by card
  bool is_open = false, is_opening = false;
  bool is_left = false;  ///< nobody waits for the opening: there is nothing to be done after it
  std::string problem;
  vm::DeviceLoad load_of_cards;  ///< any thread, without the mutex
  /// Cards that have not failed. Written under the mutex. For is_hungry() a hint. Seq_cst: who submits a call looks at
  /// it behind the push, and the last one to fail empties the queue behind the write, so that one of them finds the
  /// call.
  std::atomic<unsigned> working = 0;
  std::vector<std::vector<std::jthread>> threads;  ///< by card
  std::jthread opener;

  // opening and loading: cuda_state.cpp
  std::string load();
  std::expected<unsigned, std::string> open_cards();
  static void start_opener(const std::shared_ptr<State>& state);
  void do_loads(const std::stop_token& stop);
  void add_load(std::function<void()> load);
  bool start_call_threads();
  void load_text(const std::shared_ptr<Text>& text, const std::string& ptx);
  void make_next_super();
  void load_super(const std::optional<std::string>& ptx);
  std::shared_ptr<const vm::DeviceKernel> loaded_for_calls(const std::string& ptx);
  static std::shared_ptr<const vm::DeviceKernel> kernel_of(std::vector<CardFunction> functions);

  // work: card_work.cpp
  void work(const std::stop_token& stop, unsigned number, unsigned thread);
  void run(unsigned number, unsigned thread, const vm::DeviceBatch& batch, void* stream);
  void work_on_calls(const std::stop_token& stop, unsigned number);
  void run(unsigned number, std::span<const vm::DeviceCall> bundle, void* stream);
  void note_problem(unsigned number, int error);
  void lose_all();
  void submit(vm::DeviceBatch batch);
  void submit(vm::DeviceCall call);
};

}  // namespace raddle::gpu
