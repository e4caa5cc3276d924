// Calls of AppKernels on one GPU. A bundle of them is one launch. What its calls read, but for large arrays, lies side
// by side on the card with their words, and what they fill with their results. Nobody waits between the kernel and the
// copies back: so to whoever looks at the times these take as long as the kernel.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "gpu/call_operands.hpp"
#include "gpu/cuda/card.hpp"
#include "gpu/cuda/stream_copies.hpp"
#include "gpu/memory/host_clocks.hpp"

namespace raddle::gpu {

namespace {

constexpr unsigned lanes_of_call = 32;
constexpr std::size_t piece_alignment = 64;  ///< of each array in a bundle
constexpr int wrong_value = 1;               ///< CUDA_ERROR_INVALID_VALUE

/// Where things lie that follow each other.
class Layout {
 public:
  std::size_t add(std::size_t size_bytes) {
    const std::size_t place = size_;
    size_ += (size_bytes + piece_alignment - 1) / piece_alignment * piece_alignment;
    return place;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

using Array = std::pair<std::uint64_t, std::size_t>;  ///< address on the host, bytes
Array array_of(const vm::DeviceCall& call, const vm::AddressedMemory& memory) {
  return {call.words[memory.word], memory.size_bytes};
}

/// Of a bundle: what calls read, their words, what they return, what they fill.
struct BundleLayout {
  explicit BundleLayout(std::span<const vm::DeviceCall> calls) {
    Layout layout;
    for (const vm::DeviceCall& call : calls)
      for (const vm::AddressedMemory& memory : call.read)
        if (const Array array = array_of(call, memory); !is_large(memory) && !read.contains(array))
          read[array] = layout.add(memory.size_bytes);
    words = layout.add(calls.size() * calls.front().words.size() * sizeof(std::uint64_t));
    statuses = layout.add(calls.size() * sizeof(std::int64_t));
    filled_begin = layout.size();
    for (const vm::DeviceCall& call : calls)
      for (const vm::AddressedMemory& memory : call.filled)
        filled.push_back(is_large(memory) ? 0 : layout.add(memory.size_bytes));
    size = layout.size();
  }

  std::map<Array, std::size_t> read;  ///< one that several calls read is there once
  std::size_t words = 0, statuses = 0, filled_begin = 0, size = 0;
  std::vector<std::size_t> filled;  ///< call by call; of large ones nothing
};

/// Copies many small arrays that follow each other on the card by way of memory of its own, which holds so many of them
/// as fit: so a bundle is not on the host twice. They are added in their order on the card.
class GatheredCopies {
 public:
  enum class Direction : std::uint8_t { in, out };
  GatheredCopies(Direction direction, std::uint64_t base, CopyEngine& engine)
      : direction_(direction), base_(base), engine_(engine) {}

  /// @param place  on the card, behind the base  @return an error's number
  int add(std::size_t place, void* host, std::size_t bytes) {
    if (bytes == 0) return 0;
    if (!waiting_.empty() && place + bytes - waiting_.front().place > most_bytes)
      if (const int error = flush()) return error;
    waiting_.push_back({place, static_cast<std::byte*>(host), bytes});
    return 0;
  }
  int flush() {
    if (waiting_.empty()) return 0;
    int error = ask();
    const int error_of_wait = engine_.wait();  // after an error, too: the memory is used anew
    if (error == 0) error = error_of_wait;
    if (error == 0 && direction_ == Direction::out)
      for (const Piece& piece : waiting_)
        std::memcpy(piece.host, &staged_[piece.place - waiting_.front().place], piece.bytes);
    waiting_.clear();
    return error;
  }
  /// Asks for what is left to go in: no more is added, and this lives until the engine was waited for.
  int ask_for_rest() { return waiting_.empty() ? 0 : ask(); }

 private:
  int ask() {
    const std::size_t first = waiting_.front().place, size = waiting_.back().place + waiting_.back().bytes - first;
    staged_.resize(std::max(staged_.size(), size));
    if (direction_ == Direction::out) return engine_.copy_out(staged_.data(), base_ + first, size);
    for (const Piece& piece : waiting_) std::memcpy(&staged_[piece.place - first], piece.host, piece.bytes);
    return engine_.copy_in(base_ + first, staged_.data(), size);
  }

  static constexpr std::size_t most_bytes = std::size_t{8} << 20;
  struct Piece {
    std::size_t place = 0;
    std::byte* host = nullptr;
    std::size_t bytes = 0;
  };
  const Direction direction_;
  const std::uint64_t base_;
  CopyEngine& engine_;
  std::vector<Piece> waiting_;
  std::vector<std::byte> staged_;
};

/// A bundle that is on the card, or about to be.
class Bundle {
 public:
  explicit Bundle(std::span<const vm::DeviceCall> calls)
      : calls_(calls),
        words_each_(calls.front().words.size()),
        layout_(calls),
        reads_(large_operands(calls, &vm::DeviceCall::read)),
        results_(large_operands(calls, &vm::DeviceCall::filled)),
        statuses_(calls.size()) {
    results_.push_back({.bytes = layout_.size});
  }
  std::span<const Operand> reads() const { return reads_; }
  std::span<const Operand> results() const { return results_; }
  const std::vector<std::int64_t>& statuses() const { return statuses_; }
  /// Of each result, if all is well.
  std::vector<std::size_t> made() const {
    std::vector<std::size_t> bytes;
    for (const Operand& result : results_) bytes.push_back(std::ranges::all_of(statuses_, is_zero) ? result.bytes : 0);
    return bytes;
  }
  std::vector<std::int64_t> parameters(std::uint64_t base) const {
    return {static_cast<std::int64_t>(base + layout_.words), static_cast<std::int64_t>(words_each_),
            static_cast<std::int64_t>(calls_.size()), static_cast<std::int64_t>(base + layout_.statuses)};
  }

  /// @pre this lives until the engine was waited for
  int copy_in(const CardMemory::Hold& hold, const CudaDriver& driver, void* stream, CopyEngine& engine) {
    const std::uint64_t base = hold.results.back();
    find_words(hold);
    GatheredCopies& copies = going_in_.emplace(GatheredCopies::Direction::in, base, engine);
    std::vector<std::pair<std::size_t, Array>> read;
    for (const auto& [array, place] : layout_.read) read.emplace_back(place, array);
    std::ranges::sort(read);
    for (const auto& [place, array] : read)
      if (const int error = copies.add(place, reinterpret_cast<void*>(array.first), array.second)) return error;
    if (const int error = copies.add(layout_.words, words_.data(), words_.size() * sizeof(std::uint64_t))) return error;
    if (const int error = copies.ask_for_rest()) return error;
    for (std::size_t i = 0; i + 1 < results_.size(); ++i)
      if (const int error = driver.set_bytes(hold.results[i], 0, results_[i].bytes, stream)) return error;
    const std::size_t filled = layout_.size - layout_.filled_begin;
    return filled == 0 ? 0 : driver.set_bytes(base + layout_.filled_begin, 0, filled, stream);
  }
  std::size_t bytes_in() const { return layout_.statuses; }
  void note_bytes_out(vm::DeviceTraffic& traffic) const {
    traffic.bytes_down += layout_.size - layout_.words;
    const std::span<const Operand> large = results().first(results_.size() - 1);
    std::vector<std::size_t> bytes;
    for (const Operand& result : large) bytes.push_back(result.bytes);
    note_results(large, bytes, traffic);
  }

  /// Waits for all that was asked for, unless there is an error.
  int copy_out(const CardMemory::Hold& hold, CopyEngine& engine) {
    const std::uint64_t base = hold.results.back();
    GatheredCopies copies(GatheredCopies::Direction::out, base, engine);
    std::vector<std::uint64_t> words(words_.size());
    if (const int error = copies.add(layout_.words, words.data(), words.size() * sizeof(std::uint64_t))) return error;
    if (const int error = copies.add(layout_.statuses, statuses_.data(), statuses_.size() * sizeof(std::int64_t)))
      return error;
    std::size_t next = 0, next_large = 0;
    for (const vm::DeviceCall& call : calls_)
      for (const vm::AddressedMemory& memory : call.filled) {
        const std::size_t place = layout_.filled[next++];
        auto* const to = reinterpret_cast<void*>(call.words[memory.word]);
        const int error = is_large(memory) ? engine.copy_out(to, hold.results[next_large++], memory.size_bytes)
                                           : copies.add(place, to, memory.size_bytes);
        if (error != 0) return error;
      }
    if (const int error = copies.flush()) return error;
    for (std::size_t i = 0; i < calls_.size(); ++i) take_words(calls_[i], &words[i * words_each_]);
    return 0;
  }

 private:
  static bool is_zero(std::int64_t status) { return status == 0; }

  /// The calls' words, with addresses on the card.
  void find_words(const CardMemory::Hold& hold) {
    const std::uint64_t base = hold.results.back();
    std::size_t next_read = 0, next_filled = 0, next_large = 0;
    for (const vm::DeviceCall& call : calls_) {
      std::vector<std::uint64_t> words(call.words.begin(), call.words.end());
      for (const vm::AddressedMemory& memory : call.read)
        words[memory.word] =
            is_large(memory) ? hold.reads[next_read++] : base + layout_.read.at(array_of(call, memory));
      for (const vm::AddressedMemory& memory : call.filled) {
        const std::size_t place = layout_.filled[next_filled++];
        words[memory.word] = is_large(memory) ? hold.results[next_large++] : base + place;
      }
      words_.insert(words_.end(), words.begin(), words.end());
    }
  }

  /// Those that are no addresses.
  void take_words(const vm::DeviceCall& call, const std::uint64_t* words) const {
    std::vector<bool> is_address(words_each_);
    for (const vm::AddressedMemory& memory : call.read) is_address[memory.word] = true;
    for (const vm::AddressedMemory& memory : call.filled) is_address[memory.word] = true;
    for (std::size_t word = 0; word < words_each_; ++word)
      if (!is_address[word]) call.words[word] = words[word];
  }

  const std::span<const vm::DeviceCall> calls_;
  const std::size_t words_each_;
  const BundleLayout layout_;
  std::vector<Operand> reads_, results_;  ///< of results the last one is all that lies side by side
  std::vector<std::uint64_t> words_;
  std::vector<std::int64_t> statuses_;
  std::optional<GatheredCopies> going_in_;
};

}  // namespace

std::expected<std::vector<std::int64_t>, int> Card::run(std::span<const vm::DeviceCall> calls, const CardFunction& code,
                                                        void* stream, vm::DeviceOutcome& outcome) {
  if (code.function == nullptr) return std::unexpected(wrong_value);
  StreamCopies engine(driver_, stream);
  Bundle bundle(calls);
  auto hold = memory_->admit(bundle.reads(), bundle.results(), engine);
  if (!hold) return std::unexpected(hold.error());
  outcome.traffic += hold->traffic;
  std::vector<std::int64_t> parameters = bundle.parameters(hold->results.back());
  int error = bundle.copy_in(*hold, driver_, stream, engine);
  const std::int64_t begun_ns = steady_ns();
  if (error == 0) error = launch(code, parameters, static_cast<std::int64_t>(calls.size() * lanes_of_call), stream);
  if (error == 0) error = bundle.copy_out(*hold, engine);
  outcome.transfers = engine.take_transfers();
  if (error != 0) engine.wait();  // what was asked for before it uses memory of the calls
  memory_->release(std::move(*hold), error == 0 ? bundle.made() : std::vector<std::size_t>{});
  if (error != 0) return std::unexpected(error);
  if (outcome.computing_ns == 0) outcome.computing_start_ns = begun_ns;  // else it is a part
  outcome.computing_ns = steady_ns() - outcome.computing_start_ns;
  outcome.traffic.bytes_up += bundle.bytes_in();
  bundle.note_bytes_out(outcome.traffic);
  return bundle.statuses();
}

}  // namespace raddle::gpu
