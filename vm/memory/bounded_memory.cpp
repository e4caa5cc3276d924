#include "vm/memory/bounded_memory.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <new>
#include <thread>

namespace raddle::vm {

namespace {

enum class PieceState : std::uint8_t {
  bare,     ///< addresses only
  open,     ///< in memory, not all of it is written
  in_file,  ///< the same, but in pages of the file
  kept,     ///< in memory; may go
  leaving,  ///< is being written to the file
  away,     ///< in the file alone
  coming,   ///< is being read
};

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + SpillFile::page_bytes - 1) / SpillFile::page_bytes * SpillFile::page_bytes;
}

std::string mebibytes(std::size_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

/// @return null: the system has none
std::byte* fresh_pages(std::size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
}

/// Of the process that are pages of files. Source: proc(5), statm
std::size_t file_pages_bytes() {
  std::size_t pages = 0;
  if (std::FILE* const status = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(status, "%*u %*u %zu", &pages) != 1) pages = 0;
    std::fclose(status);
  }
  return pages * SpillFile::page_bytes;
}

}  // namespace

struct BoundedMemory::Piece {
  std::byte* address = nullptr;
  std::size_t bytes = 0;               ///< whole pages
  std::atomic<std::size_t> unwritten;  ///< of the bytes that were asked for. acq_rel: who writes the last one, and so
                                       ///< closes the piece, sees what all others have written
  std::atomic<bool> is_begun{false};   ///< not bare any more. acquire, release: who sees it may write
  PieceState state = PieceState::bare;
  SpillFile::Slot slot = SpillFile::no_slot;  ///< the file has it
  Piece* older = nullptr;                     ///< in the order of use, if it is kept
  Piece* newer = nullptr;
};

class BoundedMemory::Block {
 public:
  Block(std::byte* address, std::size_t bytes) : address(address), bytes(bytes) {
    for (std::size_t offset = 0; offset < bytes; offset += piece_bytes) {
      Piece& piece = pieces.emplace_back();
      const std::size_t own = std::min(piece_bytes, bytes - offset);
      piece.address = address + offset;
      piece.bytes = whole_pages(own);
      piece.unwritten.store(own, std::memory_order_relaxed);
    }
  }
  std::byte* const address;
  const std::size_t bytes;  ///< that were asked for
  std::deque<Piece> pieces;
};

BoundedMemory* BoundedMemory::of_process_ = nullptr;

std::expected<std::unique_ptr<BoundedMemory>, std::string> BoundedMemory::make(const Settings& settings) {
  auto file = SpillFile::open(settings.spill_folder, piece_bytes);
  if (!file) return std::unexpected(file.error());
  std::unique_ptr<BoundedMemory> made(new BoundedMemory(settings, std::move(*file)));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits it: signals are for others
  made->watch_ = std::jthread([memory = made.get()](const std::stop_token& stop) { memory->watch_strays(stop); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

std::expected<void, std::string> BoundedMemory::begin(const Settings& settings) {
  auto made = make(settings);
  if (!made) return std::unexpected(made.error());
  of_process_ = made->release();
  return {};
}

std::byte* BoundedMemory::address_of(Block& block) { return block.address; }

std::size_t BoundedMemory::taken() const {
  return used_bytes_ +
         static_cast<std::size_t>(std::max<std::ptrdiff_t>(small_bytes_.load(std::memory_order_relaxed), 0));
}

BoundedMemory::Counters BoundedMemory::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

// ---------------------------------------------------------------- taking and giving back

BoundedMemory::Block& BoundedMemory::take(std::size_t bytes) {
  std::byte* const pages = fresh_pages(whole_pages(bytes));
  if (!pages) throw std::bad_alloc();
  auto* const block = new Block(pages, bytes);
  const std::lock_guard lock(mutex_);
  blocks_.insert(block);
  return *block;
}

void BoundedMemory::begin_write(Block& block) { begin_write(block, 0, block.bytes); }

void BoundedMemory::begin_write(Block& block, std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return;
  for (std::size_t i = offset / piece_bytes; i <= (offset + bytes - 1) / piece_bytes; ++i) {
    Piece& piece = block.pieces[i];
    if (piece.is_begun.load(std::memory_order_acquire)) continue;
    Lock lock(mutex_);
    const bool has_room = make_room(lock, piece.bytes);
    if (piece.state != PieceState::bare) continue;  // another writer has come first
    if (has_room) {
      piece.state = PieceState::open;
      add(piece.bytes);
    } else {
      begin_in_file(piece);
    }
    piece.is_begun.store(true, std::memory_order_release);
  }
}

/// Rare: under the lock, as others must not write before.
void BoundedMemory::begin_in_file(Piece& piece) {
  piece.slot = file_->take_slot();
  if (const int error = file_->map_to_write(piece.slot, piece.address, piece.bytes)) end_for_disk(error, "written to");
  piece.state = PieceState::in_file;
  counters_.bytes_out += piece.bytes;
}

void BoundedMemory::give_back(Block& block) {
  {
    Lock lock(mutex_);
    blocks_.erase(&block);
    for (Piece& piece : block.pieces) {
      while (piece.state == PieceState::leaving || piece.state == PieceState::coming) moved_.wait(lock);
      if (piece.state == PieceState::kept) unlist(piece);
      if (piece.state == PieceState::kept || piece.state == PieceState::open) used_bytes_ -= piece.bytes;
      if (piece.slot != SpillFile::no_slot) file_->give_back(piece.slot);
    }
  }
  munmap(block.address, whole_pages(block.bytes));
  delete &block;
}

void BoundedMemory::add(std::size_t bytes) {
  used_bytes_ += bytes;
  counters_.peak_bytes = std::max(counters_.peak_bytes, taken());
}

void BoundedMemory::count_small(std::ptrdiff_t change) {
  const std::ptrdiff_t small = small_bytes_.fetch_add(change, std::memory_order_relaxed) + change;
  if (change < 0) return;
  if (small > static_cast<std::ptrdiff_t>(settings_.limit_bytes)) end_for_limit();
  Lock lock(mutex_);
  make_room(lock, 0);
  add(0);
}

/// @return false: there is none, as nothing may go
bool BoundedMemory::make_room(Lock& lock, std::size_t bytes) {
  while (taken() + bytes > settings_.limit_bytes) {
    if (oldest_)
      send_away(lock, *oldest_);
    else if (leaving_ > 0)
      moved_.wait(lock);
    else
      return false;
  }
  return true;
}

// ---------------------------------------------------------------- pieces

void BoundedMemory::wrote(Block& block, std::size_t offset, std::size_t bytes) {
  for (const std::size_t end = offset + bytes; offset < end;) {
    Piece& piece = block.pieces[offset / piece_bytes];
    const std::size_t here = std::min(end, (offset / piece_bytes + 1) * piece_bytes) - offset;
    if (piece.unwritten.fetch_sub(here, std::memory_order_acq_rel) == here) set_closed(piece);
    offset += here;
  }
}

void BoundedMemory::close(Block& block) {
  for (Piece& piece : block.pieces)
    if (piece.unwritten.exchange(0, std::memory_order_acq_rel) != 0) set_closed(piece);
}

void BoundedMemory::set_closed(Piece& piece) {
  const std::lock_guard lock(mutex_);
  if (piece.state == PieceState::in_file) {
    if (const int error = file_->map(piece.slot, piece.address, piece.bytes)) end_for_disk(error, "read from");
    piece.state = PieceState::away;
    return;
  }
  if (piece.state == PieceState::bare) add(piece.bytes);
  piece.state = PieceState::kept;
  list(piece);
}

void BoundedMemory::use(Block& block) { use(block, 0, block.bytes); }

void BoundedMemory::use(Block& block, std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return;
  Lock lock(mutex_);
  for (std::size_t i = offset / piece_bytes; i <= (offset + bytes - 1) / piece_bytes; ++i) {
    Piece& piece = block.pieces[i];
    while (piece.state == PieceState::leaving || piece.state == PieceState::coming) moved_.wait(lock);
    if (piece.state == PieceState::away) {
      bring(lock, piece);
    } else if (piece.state == PieceState::kept) {
      unlist(piece);
      list(piece);
    }
  }
}

/// Between two calls others may have come: nothing that was looked at before holds any more.
void BoundedMemory::send_away(Lock& lock, Piece& piece) {
  unlist(piece);
  piece.state = PieceState::leaving;
  ++leaving_;
  const bool is_in_file = piece.slot != SpillFile::no_slot;
  lock.unlock();
  const SpillFile::Slot slot = is_in_file ? piece.slot : file_->take_slot();
  int error = 0;
  if (!is_in_file) {
    error = mprotect(piece.address, piece.bytes, PROT_READ) == 0 ? 0 : errno;  // who writes now is told so
    if (error == 0) error = file_->write(slot, piece.address, piece.bytes);
  }
  if (error == 0) error = file_->map(slot, piece.address, piece.bytes);
  lock.lock();
  if (error != 0) end_for_disk(error, "written to");
  piece.slot = slot;
  piece.state = PieceState::away;
  --leaving_;
  used_bytes_ -= piece.bytes;
  (is_in_file ? counters_.dropped_bytes : counters_.bytes_out) += piece.bytes;
  moved_.notify_all();
}

void BoundedMemory::bring(Lock& lock, Piece& piece) {
  piece.state = PieceState::coming;
  const bool has_room = make_room(lock, piece.bytes);
  std::byte* const pages = has_room ? fresh_pages(piece.bytes) : nullptr;
  if (!pages) {
    piece.state = PieceState::away;  // it is read from there
    return moved_.notify_all();
  }
  add(piece.bytes);
  counters_.bytes_in += piece.bytes;
  lock.unlock();
  int error = file_->read(piece.slot, pages, piece.bytes);
  // at once, as in SpillFile::map()
  if (error == 0 &&
      (mprotect(pages, piece.bytes, PROT_READ) != 0 ||
       mremap(pages, piece.bytes, piece.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, piece.address) == MAP_FAILED))
    error = errno;
  if (error == 0) file_->forget(piece.slot, piece.bytes);
  lock.lock();
  if (error != 0) end_for_disk(error, "read from");
  piece.state = PieceState::kept;
  list(piece);
  moved_.notify_all();
}

void BoundedMemory::list(Piece& piece) {
  piece.older = newest_;
  piece.newer = nullptr;
  (newest_ ? newest_->newer : oldest_) = &piece;
  newest_ = &piece;
}

void BoundedMemory::unlist(Piece& piece) {
  (piece.older ? piece.older->newer : oldest_) = piece.newer;
  (piece.newer ? piece.newer->older : newest_) = piece.older;
}

// ---------------------------------------------------------------- what is read from the file's pages

void BoundedMemory::watch_strays(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds interval{10};
  std::size_t before = file_pages_bytes();
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(interval);
    if (file_pages_bytes() < before + settings_.limit_bytes / 16) continue;
    drop_strays();
    before = file_pages_bytes();
  }
}

/// Pages of pieces that are in the file alone: the system reads them again when they are touched, and keeps what was
/// written there. While the lock is held no such piece comes; pages of one that is in memory would be lost.
void BoundedMemory::drop_strays() {
  const std::lock_guard lock(mutex_);
  for (Block* const block : blocks_) {
    std::byte* first = nullptr;
    std::size_t bytes = 0;
    const auto drop = [&] {
      if (bytes != 0) madvise(first, bytes, MADV_DONTNEED);
      bytes = 0;
    };
    for (const Piece& piece : block->pieces) {
      if (piece.state != PieceState::away && piece.state != PieceState::in_file) {
        drop();
        continue;
      }
      if (bytes == 0) first = piece.address;
      bytes += piece.bytes;
    }
    drop();
  }
}

// ---------------------------------------------------------------- no memory

double BoundedMemory::space_bytes() const { return static_cast<double>(settings_.limit_bytes) + file_->free_bytes(); }

std::string BoundedMemory::no_space_text(const std::string& what, double bytes) const {
  constexpr double gib = 1U << 30;
  return fmt::format("{} needs {:.3g} GiB: more than --memory {} and the disk of the folder `{}` have", what,
                     bytes / gib, mebibytes(settings_.limit_bytes), file_->folder());
}

void BoundedMemory::end_for_limit() {
  settings_.end(
      fmt::format("--memory {} is too little: elements of arrays that lie apart, which can not go to the file, "
                  "take more",
                  mebibytes(settings_.limit_bytes)));
  std::abort();
}

void BoundedMemory::end_for_disk(int error, const char* action) {
  settings_.end(fmt::format("what does not fit into --memory {} can not be {} the folder `{}`: {}",
                            mebibytes(settings_.limit_bytes), action, file_->folder(), std::strerror(error)));
  std::abort();
}

}  // namespace raddle::vm
