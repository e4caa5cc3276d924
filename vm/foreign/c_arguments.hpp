#pragma once
// The arguments of one call as C has them, and the arrays that it fills.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vm/program/addressed_memory.hpp"
#include "vm/program/program.hpp"
#include "vm/value/buffer.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// int = int64_t, float = double, int32 = int32_t, float32 = float, string = const char*, boolean = bool, a growing
/// array = a pointer and an int64_t length, a dense array = a pointer and an int64_t for each extent. One thread; its
/// memory is kept from call to call.
class CArguments {
 public:
  /// How C gives what it gives.
  enum class Way : std::uint8_t {
    returns,        ///< an output that is no array is what it returns
    other_process,  ///< as above, and arrays are filled by another process, which is forked later
    fills,          ///< it gets an address for each output
  };
  /// Of a new call: its inputs, then memory for what C fills, all 0. Ends with take_outputs() or drop().
  /// @return what is wrong with them, or ""
  std::string set(const ForeignFunction& function, Way way, std::span<const Value> inputs);
  /// A word of 8 bytes for each: a number, a boolean (0 or 1), or an address; then what of C's outputs is no array if C
  /// fills it, of each its own. Until the next call of set().
  std::span<std::uint64_t> words() { return words_; }
  /// Where each of them lies; likewise.
  void** pointers();
  std::span<const AddressedMemory> read() const { return read_; }
  std::span<const AddressedMemory> filled() const { return filled_memory_; }
  /// Of read(): the same numbers are a part of another array, too, in whose place they are read.
  void read_in(std::size_t index, const AddressedMemory& whole, std::size_t first_byte);
  /// Lets go of what was to be filled.
  void drop();
  /// What C has filled. What it has returned is not touched.
  void take_outputs(const ForeignFunction& function, std::span<Value> outputs);

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(void* pages) const;
  };
  struct Filled {
    Buffer::Owner numbers;
    std::unique_ptr<void, Unmap> shared;  ///< what the other process writes to
  };
  /// Of the call, where memory has a limit.
  class Lent {
   public:
    Lent(Buffer& buffer, Value owner) : owner_(std::move(owner)), buffer_(&buffer) { buffer.lend(); }
    Lent(Lent&& other) noexcept : owner_(std::move(other.owner_)), buffer_(std::exchange(other.buffer_, nullptr)) {}
    Lent& operator=(Lent&&) = delete;
    ~Lent() {
      if (buffer_) buffer_->end_lending();
    }

   private:
    Value owner_;  ///< none: it is one of `filled_`
    Buffer* buffer_;
  };

  std::string add(const ForeignFunction& function, std::span<const Value> inputs);
  std::string add_input(const ForeignFormal& formal, const Value& value);
  std::string add_array(const ForeignFormal& formal, const Value& value);
  std::string add_filled(const ForeignFormal& formal, std::span<const Value> extents);
  void add_address(const void* address, std::size_t size_bytes, std::vector<AddressedMemory>& memory,
                   Buffer* buffer = nullptr);
  static Value take_array(Filled& filled);

  Way way_ = Way::returns;
  std::vector<std::uint64_t> words_;
  std::vector<AddressedMemory> read_, filled_memory_;
  std::vector<void*> pointers_;
  std::vector<Filled> filled_;
  std::vector<Lent> lent_;
};

}  // namespace raddle::vm
