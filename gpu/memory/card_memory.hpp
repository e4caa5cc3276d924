#pragma once
// What lies in the memory of one card.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gpu/memory/arena.hpp"
#include "gpu/memory/copy_engine.hpp"
#include "vm/device/devices.hpp"
#include "vm/place/policy.hpp"
#include "vm/value/freed_buffers.hpp"

namespace raddle::gpu {

/// Memory of the host that a batch reads, or that gets what it computes.
struct Operand {
  const void* host = nullptr;
  std::size_t bytes = 0;
  std::uint64_t buffer = 0;  ///< Buffer::number(): its bytes stay what they are as long as it lives; 0: nobody knows
  std::size_t offset = 0;    ///< in the buffer
  vm::Place array{};         ///< AddressedMemory::array
};

/// Bytes of a buffer.
struct BufferPart {
  std::uint64_t buffer = 0;
  std::size_t begin = 0, end = 0;
  auto operator<=>(const BufferPart&) const = default;
};

/// Bytes that are to be copied to a card.
struct MissingBytes {
  std::size_t of_host = 0, of_cards = 0;  ///< that only the host has, that another card has
};

/// @param copies  that nobody holds, at least one, the least recently used first
/// @return the number of the one that goes; none, of a prefetch only: none of them for that
using ChooseVictim = std::function<std::optional<std::size_t>(std::span<const BufferPart> copies, vm::LoadKind load)>;

/// Note [resident copies]. A *copy* is on the card what some bytes of a buffer are on the host. It stays when the batch
/// is over for which it was made: buffers are written once, so it is right as long as the buffer lives. Results are
/// copies, too, from the moment on when the host has them. So there is nothing on the card that the host has not:
/// to *evict* a copy is to forget it. No copy that can be found lies within another one: so of those of one buffer, in
/// the order of their beginnings, the ends are in order, too, and the last one that begins in time is the only one that
/// may have all of some bytes.
///
/// A batch gets all the memory that it needs or none, and holds it until it is over. If there is not enough, the card
/// is asked for another chunk, up to the limit; then copies that no batch holds are evicted, the least recently used
/// one first, or as choose_victims_by() has it; then the batch waits for batches that hold some, and all that come
/// later wait behind it, so that a large one is not overtaken for ever. Nobody who holds memory asks for more, so
/// somebody always ends.
///
/// Threads: any. One mutex guards all that is known; nobody has those of two cards at once; a card is asked for memory,
/// and copies are made, without it: no more than one asks at a time, whose turn it is to be admitted. A copy that is
/// being made can be found: who needs it, too, waits for it after having made those that are his own, so that no two
/// wait for each other.
class CardMemory {
 public:
  static constexpr int no_room = -2;  ///< the error of a batch that would not fit if it were alone; no driver's number

  /// @param limit  bytes, in all  @param chunk  what the card is asked for at once, or more if a batch needs more
  CardMemory(std::size_t limit, std::size_t chunk);
  CardMemory(const CardMemory&) = delete;
  CardMemory& operator=(const CardMemory&) = delete;
  ~CardMemory();  ///< @pre nothing is held, and the card has nothing more of it

  struct Copy;
  /// What one batch holds: ended by release().
  struct Hold {
    std::vector<std::uint64_t> reads, results;  ///< where they lie on the card; 0 of those without bytes
    vm::DeviceTraffic traffic;
    std::int64_t ready_ns = 0;  ///< when all that is read is there, if the card is a model with a clock of its own
    // what follows is CardMemory's own
    bool is_ahead = false;
    std::int64_t begin_ns =
        0;  ///< when what was evicted for it had been used, and what it is put together of was there
    std::vector<Operand> results_on_host;
    std::vector<Arena::Block*> blocks_of_results;  ///< null: none
    std::vector<Arena::Block*> blocks;             ///< others that are only of this batch
    std::vector<Copy*> copies;                     ///< that must stay
  };

  /// Finds room for all, and sees to it that the card has what is read: then the engine's stream may use it, and once
  /// wait() has returned any. May wait for other batches.
  /// @error  no_room, or the engine's number
  std::expected<Hold, int> admit(std::span<const Operand> reads, std::span<const Operand> results, CopyEngine& engine);
  /// Copies there what a batch will read, as far as there is room for it that is free or may go: it waits for nobody's
  /// memory. The copies stay, as long as nothing else needs their room.
  /// @return what it cost  @error  no_room, or the engine's number
  std::expected<vm::DeviceTraffic, int> load_ahead(std::span<const Operand> reads, CopyEngine& engine);
  /// @param made  bytes of each result, from its first one on, that the host has by now
  /// @param until_ns  when it was used, for Hold::ready_ns of those who get its memory
  void release(Hold&& hold, std::span<const std::size_t> made, std::int64_t until_ns = 0);
  /// What one of them has comes from there in place of the host, if it is in one copy. Before the first admission.
  /// @param others  that outlive this
  void take_from(std::vector<CardMemory*> others) { others_ = std::move(others); }
  /// From now on. It is asked on any thread, which holds the mutex: so it must not ask this for anything.
  void choose_victims_by(ChooseVictim choose);
  /// How much of it would be copied to the card now, as far as one can say before. Waits for no card.
  MissingBytes missing_bytes(std::span<const Operand> reads);
  /// Whether all of it is there, or on its way. Waits for no card.
  bool has(const BufferPart& part);
  /// The card gets back its chunks. @pre nothing is held
  void give_back_chunks(CopyEngine& engine);

  std::size_t limit() const { return limit_; }

 private:
  using Place = std::pair<std::uint64_t, std::size_t>;  ///< buffer, where the copy begins in it
  /// Bytes of a buffer that a batch needs, and lacks, or its own.
  struct Part {
    std::uint64_t buffer = 0;
    std::size_t begin = 0, end = 0;
    const std::byte* host = nullptr;
    vm::Place array{};  ///< of several operands that of the first one
    Copy* copy = nullptr;
    Arena::Block* block = nullptr;
  };
  struct Step {
    std::uint64_t to = 0;
    const void* host = nullptr;  ///< null: from the card
    std::uint64_t from = 0;
    std::size_t bytes = 0;
    BufferPart part{};  ///< of the host's, if it is known
  };
  /// A copy that another card is to take: it stays until release().
  std::optional<Hold> lend(const BufferPart& part);

  static std::vector<Part> parts_of(std::span<const Operand> reads);
  Copy* find(const Part& part);
  void add_gaps(const Part& part, std::vector<BufferPart>& gaps) const;
  void pin(Copy& copy, Hold& hold);
  void let_go(Copy& copy);
  void hide(Copy& copy);
  void make_findable(Copy& copy);
  void free_unused(Copy& copy);
  bool evict_one(Hold& hold);
  void forget_freed();
  int take(Arena::Block*& block, std::size_t bytes, CopyEngine& engine, Hold& hold, std::unique_lock<std::mutex>& lock);
  int grow(std::size_t bytes, CopyEngine& engine, std::unique_lock<std::mutex>& lock);
  int shrink(CopyEngine& engine, std::unique_lock<std::mutex>& lock);
  int take_all(std::span<Part> parts, std::span<const Operand> reads, Hold& hold, CopyEngine& engine,
               std::unique_lock<std::mutex>& lock);
  std::vector<Step> steps_for(std::span<Part> parts, Hold& hold);
  bool take_from_other(const Step& step, std::vector<std::pair<CardMemory*, Hold>>& lent);
  int make_copies(std::span<const Step> steps, std::span<Part> parts, Hold& hold, CopyEngine& engine);
  std::expected<Hold, int> admit(std::span<const Operand> reads, std::span<const Operand> results, CopyEngine& engine,
                                 bool is_ahead);
  void drop(Hold& hold);

  const std::size_t limit_;
  const std::size_t chunk_;
  std::vector<CardMemory*> others_;  ///< none after the first admission comes or goes
  vm::FreedBuffers freed_;
  std::mutex mutex_;  ///< guards all below, and what is in copies
  std::condition_variable changed_;
  Arena arena_;
  std::size_t taken_from_card_ = 0;
  ChooseVictim choose_victim_;  ///< none: the least recently used one
  std::list<Copy> copies_;
  std::map<Place, Copy*> findable_;
  std::list<Copy*> unused_;  ///< findable ones that nobody holds, the least recently used first
  std::size_t holds_ = 0;
  std::uint64_t next_ticket_ = 0, served_ticket_ = 0;  ///< of admissions, which come in their order
};

struct CardMemory::Copy {
  std::uint64_t buffer = 0;
  std::size_t begin = 0, end = 0;
  Arena::Block* block = nullptr;
  vm::Place array{};
  std::list<Copy>::iterator self{};
  std::list<Copy*>::iterator place_of_unused{};  ///< if it is findable and nobody holds it
  std::size_t holders = 0;
  bool is_findable = false;
  bool is_made = false;
  int error = 0;                   ///< it could not be made
  std::int64_t ready_ns = 0;       ///< when it was made, by a model's clock
  std::int64_t used_until_ns = 0;  ///< as release() was told
};

}  // namespace raddle::gpu
