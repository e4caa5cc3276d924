#pragma once
// One GPU: kernels are loaded and run on it.
#include <cstdint>
#include <expected>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/cuda/driver.hpp"
#include "gpu/cuda/resident_card.hpp"
#include "gpu/memory/batch_run.hpp"
#include "gpu/memory/card_memory.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// A function of a module that is loaded on one card.
struct CardFunction {
  void* function = nullptr;  ///< null: the card does not take it
  unsigned block = 0;        ///< threads, at most
  std::int64_t lanes = 0;    ///< threads that the card has under way at once
  int registers = 0;
  int error = 0;                          ///< the driver's, if the card does not take it
  std::optional<std::uint64_t> number{};  ///< of the super kernel's functions, which computes it; none: launches do
};

/// What cards are not to exceed.
struct CardLimits {
  std::size_t memory = std::numeric_limits<std::size_t>::max();  ///< bytes, and most of what is free when it is opened
  std::uint64_t silent_ns = 30'000'000'000;  ///< a super kernel that has not beaten for so long is given up
  /// A process with the driver that does not answer for so long is ended; sooner, where it is known how long it takes.
  std::uint64_t answer_ns = 120'000'000'000;
  unsigned threads = std::numeric_limits<unsigned>::max();  ///< for batches, all cards': tests have fewer
};

/// Any number of threads use one card, each with a stream of its own.
class Card {
 public:
  /// @param driver  has begun; outlives this   @param number  below its count of GPUs
  /// @error  in words
  static std::expected<std::unique_ptr<Card>, std::string> open(const CudaDriver& driver, unsigned number,
                                                                const CardLimits& limits);
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;
  ~Card();

  const vm::DeviceFacts& facts() const { return facts_; }
  /// To be called on each thread that runs batches. @return its stream, to be given to close_stream() there
  /// @error the driver's
  std::expected<void*, int> open_stream();
  void close_stream(void* stream);
  /// Compiles the text for this card, or finds what was made of it before; it stays as long as the card. Any thread.
  /// @param kernel  its name in the text
  CardFunction load(const std::string& ptx, const char* kernel);
  /// A super kernel stays on the card from now on, when it has something to do. Before the first load().
  /// @return an error's number
  int make_resident();
  /// It is this one, in place of the one before. @return its lanes; 0: the card does not take it, and has the one
  /// before
  std::int64_t load_super(const std::string& ptx);

  /// What lies in it; it is not asked to do anything after the card is gone.
  std::shared_ptr<CardMemory> memory() const { return memory_; }
  /// Computes it, by launches of its own or by the super kernel. @param thread  below ResidentCard::most_threads, of
  /// each one at a time
  BatchRun run(const vm::DeviceBatch& batch, const CardFunction& code, void* stream, unsigned thread);
  /// Runs calls of one kernel, a warp for each, as a launch of its own; writes what they fill and their results.
  /// @param outcome  of all of them: gets what was copied, and when what was done
  /// @return what each has returned, 0 if all is well  @error  the driver's number, or CardMemory::no_room
  std::expected<std::vector<std::int64_t>, int> run(std::span<const vm::DeviceCall> calls, const CardFunction& code,
                                                    void* stream, vm::DeviceOutcome& outcome);

 private:
  Card(const CudaDriver& driver, int device, void* context) : driver_(driver), device_(device), context_(context) {}
  CardFunction load_module(const std::string& ptx, const char* name);
  void unload_module(const std::string& ptx);
  std::expected<std::int64_t, int> compute_by_launch(const CardFunction& code, std::vector<std::int64_t>& words,
                                                     std::uint64_t least, void* stream);
  int launch(const CardFunction& code, std::vector<std::int64_t>& words, std::int64_t count, void* stream);

  const CudaDriver& driver_;
  const int device_;
  void* const context_;
  vm::DeviceFacts facts_;
  unsigned multiprocessors_ = 0;
  ResidentPatience patience_;
  std::mutex modules_mutex_;  ///< guards modules_, also while one is compiled
  struct Module {
    void* module = nullptr;
    CardFunction function;
  };
  std::map<std::string, Module> modules_;  ///< by text
  std::shared_ptr<CardMemory> memory_;     ///< made by open()
  std::string super_;                      ///< text of the super kernel; of who loads
  std::unique_ptr<ResidentCard> resident_;
};

}  // namespace raddle::gpu
