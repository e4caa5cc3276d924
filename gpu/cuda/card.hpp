#pragma once
// One GPU: kernels are loaded and run on it.
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/cuda/driver.hpp"
#include "gpu/cuda/resident_card.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// A function of a module that is loaded on one card.
struct CardFunction {
  void* function = nullptr;  ///< null: the card does not take it
  unsigned block = 0;        ///< threads, at most
  std::int64_t lanes = 0;    ///< threads that the card has under way at once
  int registers = 0;
  std::optional<std::uint64_t> number{};  ///< of the super kernel's functions, which computes it; none: launches do
};

/// Any number of threads use one card, each with a stream of its own.
class Card {
 public:
  /// @param driver  has begun; outlives this   @param number  below its count of GPUs
  /// @error  in words
  static std::expected<std::unique_ptr<Card>, std::string> open(const CudaDriver& driver, unsigned number);
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;
  ~Card();

  const vm::DeviceFacts& facts() const { return facts_; }
  /// To be called on each thread that runs batches. @return its stream, to be given to close_stream() there; null: none
  void* open_stream();
  void close_stream(void* stream);
  /// Compiles the text for this card, or finds what was made of it before; it stays as long as the card. Any thread.
  /// @param kernel  its name in the text
  CardFunction load(const std::string& ptx, const char* kernel);
  /// A super kernel stays on the card from now on, when it has something to do. Before the first load().
  /// @return an error's number
  int make_resident();
  /// It is this one, in place of the one before. @return its lanes; 0: the card does not take it
  std::int64_t load_super(const std::string& ptx);

  /// A batch that may run here some time: copies of the arrays that it reads stay until forget() was called as often.
  /// So the pieces of one launch, of which one follows the other, share them. Nobody changes or frees an array while a
  /// batch that reads it is under way: so long its address tells it from others.
  void expect(const vm::DeviceBatch& batch);
  void forget(const vm::DeviceBatch& batch);
  /// The same for large arrays that a call reads.
  void expect(const vm::DeviceCall& call);
  void forget(const vm::DeviceCall& call);
  /// Frees copies that nobody expects any more.
  void free_forgotten(void* stream);
  /// Runs it, as a launch of its own or by the super kernel. @param thread  below ResidentCard::most_threads, of each
  /// one at a time  @return made: of how many points  @error  the driver's number, or ResidentCard::lost
  std::expected<std::int64_t, int> run(const vm::DeviceBatch& batch, const CardFunction& code, void* stream,
                                       unsigned thread);
  /// Runs calls of one kernel, a warp for each, as a launch of its own; writes what they fill and their results.
  /// @return what each has returned, 0 if all is well  @error  the driver's number
  std::expected<std::vector<std::int64_t>, int> run(std::span<const vm::DeviceCall> calls, const CardFunction& code,
                                                    void* stream);

 private:
  Card(const CudaDriver& driver, int device, void* context) : driver_(driver), device_(device), context_(context) {}
  using Array = std::pair<std::int64_t, std::size_t>;  ///< address on the host, bytes
  struct Copy {
    std::uint64_t address = 0;  ///< on the card; 0: not made yet
    std::size_t uses = 0;
  };
  static Array array_of(const vm::DeviceBatch& batch, const vm::AddressedMemory& memory) {
    return {batch.words[memory.word], memory.size_bytes};
  }
  void forget(const Array& array);  ///< @pre copies_mutex_ is held
  std::expected<std::uint64_t, int> copy_of(const Array& array, void* stream);
  int copy_arrays(const vm::DeviceBatch& batch, std::vector<std::int64_t>& words, void* stream);
  CardFunction load_module(const std::string& ptx, const char* name);
  void unload_module(const std::string& ptx);
  void while_no_kernel_stays(const std::function<void()>& change);
  std::expected<std::int64_t, int> compute_by_launch(const CardFunction& code, std::vector<std::int64_t>& words,
                                                     std::uint64_t least, void* stream);
  int launch(const CardFunction& code, std::vector<std::int64_t>& words, std::int64_t count, void* stream);
  int take_results(const vm::DeviceBatch& batch, const std::vector<std::int64_t>& words, std::int64_t made,
                   void* stream);

  const CudaDriver& driver_;
  const int device_;
  void* const context_;
  vm::DeviceFacts facts_;
  unsigned multiprocessors_ = 0;
  std::mutex modules_mutex_;  ///< guards modules_, also while one is compiled
  struct Module {
    void* module = nullptr;
    CardFunction function;
  };
  std::map<std::string, Module> modules_;  ///< by text
  std::mutex copies_mutex_;                ///< guards copies_, also while one is made
  std::map<Array, Copy> copies_;
  std::vector<std::uint64_t> forgotten_;  ///< guarded likewise: addresses on the card
  std::string super_;                     ///< text of the super kernel; of who loads
  std::unique_ptr<ResidentCard> resident_;
};

}  // namespace raddle::gpu
