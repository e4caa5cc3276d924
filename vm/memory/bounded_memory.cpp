#include "vm/memory/bounded_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "vm/memory/memory_pieces.hpp"
#include "vm/memory/page_faults.hpp"

namespace raddle::vm {

namespace {

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + SpillFile::page_bytes - 1) / SpillFile::page_bytes * SpillFile::page_bytes;
}

std::string mebibytes(std::size_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

}  // namespace

BoundedMemory::Block::Block(std::byte* address, std::size_t bytes) : address(address), bytes(bytes) {
  for (std::size_t offset = 0; offset < bytes; offset += piece_bytes) {
    Piece& piece = pieces.emplace_back();
    const std::size_t own = std::min(piece_bytes, bytes - offset);
    piece.block = this;
    piece.address = address + offset;
    piece.bytes = whole_pages(own);
    piece.unwritten.store(own, std::memory_order_relaxed);
  }
}

thread_local std::uint64_t BoundedMemory::bytes_made_here_ = 0;

BoundedMemory* BoundedMemory::of_process_ = nullptr;

std::atomic<BoundedMemory*> BoundedMemory::serving_{nullptr};

BoundedMemory::BoundedMemory(Settings settings, std::unique_ptr<SpillFile> file)
    : settings_(std::move(settings)),
      file_(std::move(file)),
      kept_(std::make_unique<Order>()),
      spare_(std::make_unique<Order>()),
      wanted_(std::make_unique<Order>()),
      windows_(std::make_unique_for_overwrite<Window[]>(most_windows)) {}

std::expected<std::unique_ptr<BoundedMemory>, std::string> BoundedMemory::make(const Settings& settings) {
  auto file = SpillFile::open(settings.spill_folder, piece_bytes);
  if (!file) return std::unexpected(file.error());
  serve_page_faults_by(serve);
  std::unique_ptr<BoundedMemory> made(new BoundedMemory(settings, std::move(*file)));
  serving_.store(made.get(), std::memory_order_release);
  made->start_movers();
  return made;
}

BoundedMemory::~BoundedMemory() { serving_.store(nullptr, std::memory_order_release); }

std::expected<void, std::string> BoundedMemory::begin(const Settings& settings) {
  auto made = make(settings);
  if (!made) return std::unexpected(made.error());
  of_process_ = made->release();
  return {};
}

std::byte* BoundedMemory::address_of(Block& block) { return block.address; }

std::size_t BoundedMemory::bytes_of(const Block& block) { return whole_pages(block.bytes); }

std::size_t BoundedMemory::taken() const {
  return used_bytes_ + counted_windows() +
         static_cast<std::size_t>(std::max<std::ptrdiff_t>(small_bytes_.load(std::memory_order_relaxed), 0));
}

BoundedMemory::Counters BoundedMemory::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

// ---------------------------------------------------------------- taking and giving back

BoundedMemory::Block& BoundedMemory::take(std::size_t bytes) {
  void* const pages = mmap(nullptr, whole_pages(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  auto* const block = new Block(static_cast<std::byte*>(pages), bytes);
  bytes_made_here_ += bytes;
  const std::lock_guard lock(mutex_);
  blocks_.emplace(block->address, block);
  return *block;
}

void BoundedMemory::give_back(Block& block) {
  {
    Lock lock(mutex_);
    blocks_.erase(block.address);
    if (block.watch) {
      block.watch->given_back.push_back(block.number);
      forget_watch(block);
    }
    for (Piece& piece : block.pieces) {
      forget_wanted(piece);
      await_moved(lock, piece);
      close_windows(piece);
      if (piece.state == PieceState::kept) order_of(piece).remove(piece);
      if (piece.state == PieceState::kept || piece.state == PieceState::open) used_bytes_ -= piece.bytes;
      if (piece.slot != SpillFile::no_slot) file_->give_back(piece.slot);
    }
  }
  munmap(block.address, whole_pages(block.bytes));
  delete &block;
}

void BoundedMemory::lend(Block& block) {
  Lock lock(mutex_);
  if (block.lendings++ != 0) return;
  for (Piece& piece : block.pieces) {
    await_moved(lock, piece);
    piece.is_lent = true;
    close_windows(piece);
    if (piece.state == PieceState::away || piece.state == PieceState::in_file) map({&piece, 0, piece.bytes});
  }
}

void BoundedMemory::end_lending(Block& block) {
  Lock lock(mutex_);
  if (--block.lendings != 0) return;
  for (Piece& piece : block.pieces) {
    await_moved(lock, piece);
    piece.is_lent = false;
    if (piece.state == PieceState::away || piece.state == PieceState::in_file) conceal({&piece, 0, piece.bytes});
  }
}

void BoundedMemory::add(std::size_t bytes) {
  used_bytes_ += bytes;
  counters_.peak_bytes = std::max(counters_.peak_bytes, taken());
  if (lacks_room()) to_do_.notify_one();
}

void BoundedMemory::count_small(std::ptrdiff_t change) {
  if (change < 0) {
    small_bytes_.fetch_add(change, std::memory_order_relaxed);
    return;
  }
  Lock lock(mutex_);
  make_room(lock, static_cast<std::size_t>(change));
  const std::ptrdiff_t small = small_bytes_.fetch_add(change, std::memory_order_relaxed) + change;
  if (small > static_cast<std::ptrdiff_t>(settings_.limit_bytes)) end_for_limit();
  add(0);
}

/// @return false: there is none, as nothing may go
bool BoundedMemory::make_room(Lock& lock, std::size_t bytes) {
  while (taken() + bytes > settings_.limit_bytes) {
    is_crowded_ = true;
    const std::size_t windows = counted_windows();  // they go if they are the larger part
    if (windows > used_bytes_ || (windows > 0 && !next_to_go() && leaving_ == 0))
      close_oldest_window();
    else if (Piece* const piece = next_to_go())
      send_away(lock, *piece);
    else if (leaving_ > 0)
      moved_.wait(lock);
    else
      return false;
  }
  return true;
}

// ---------------------------------------------------------------- writing

void BoundedMemory::begin_write(Block& block) { begin_write(block, 0, block.bytes); }

void BoundedMemory::begin_write(Block& block, std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return;
  for (std::size_t i = offset / piece_bytes; i <= (offset + bytes - 1) / piece_bytes; ++i) {
    Piece& piece = block.pieces[i];
    if (piece.is_begun.load(std::memory_order_acquire)) continue;
    Lock lock(mutex_);
    begin(lock, piece);
  }
}

void BoundedMemory::begin(Lock& lock, Piece& piece) {
  const bool has_room = make_room(lock, piece.bytes);
  if (piece.state != PieceState::bare) return;  // another writer has come first
  if (has_room && mprotect(piece.address, piece.bytes, PROT_READ | PROT_WRITE) == 0) {
    piece.state = PieceState::open;
    add(piece.bytes);
  } else {
    piece.slot = file_->take_slot();
    if (const int error = file_->reserve(piece.slot, piece.bytes)) end_for_disk(error, "written to");
    piece.state = PieceState::in_file;
    counters_.bytes_out += piece.bytes;
    const std::int64_t now_ns = steady_ns();
    note_move(*piece.block,
              {.is_out = true, .start_ns = now_ns, .end_ns = now_ns, .bytes = piece.bytes, .used_bytes = used_bytes_});
    if (piece.is_lent)
      map({&piece, 0, piece.bytes});
    else
      open_window({&piece, 0, piece.bytes}, window_bytes);
  }
  piece.is_begun.store(true, std::memory_order_release);
}

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
  Lock lock(mutex_);
  if (piece.state == PieceState::bare) begin(lock, piece);
  if (piece.state == PieceState::in_file) {
    piece.state = PieceState::away;
    close_windows(piece);  // it is not to be written any more
    if (piece.is_lent) map({&piece, 0, piece.bytes});
    return;
  }
  piece.state = PieceState::kept;
  order_of(piece).add(piece);
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
