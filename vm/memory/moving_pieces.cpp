// Pieces go to the file and come back: because they are used, or as somebody has touched them.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "vm/memory/memory_pieces.hpp"

namespace raddle::vm {

static constexpr std::ptrdiff_t piece_pages = BoundedMemory::piece_bytes / SpillFile::page_bytes;

void BoundedMemory::use(Block& block) { use(block, 0, block.bytes); }

void BoundedMemory::use(Block& block, std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return;
  Lock lock(mutex_);
  for (std::size_t i = offset / piece_bytes; i <= (offset + bytes - 1) / piece_bytes; ++i) {
    Piece& piece = block.pieces[i];
    if (piece.state == PieceState::away || piece.state == PieceState::coming)
      want(block, block.walk_to_piece(static_cast<std::ptrdiff_t>(i), most_ahead()));
    await_moved(lock, piece);
    if (piece.state == PieceState::away) {
      bring(lock, piece);
    } else if (piece.state == PieceState::kept) {
      order_of(piece).remove(piece);
      order_of(piece).add(piece);
    }
  }
}

void BoundedMemory::announce(Block& block) {
  constexpr std::size_t most_wanted = 32, share = 8;  // what is wanted too early goes again before it is used
  const Lock lock(mutex_);
  if (wanted_count_ < most_wanted && block.bytes <= settings_.limit_bytes / share)
    want(block, {.first = 0, .step = 1, .count = std::ssize(block.pieces)});
}

void BoundedMemory::await_moved(Lock& lock, const Piece& piece) {
  while (piece.state == PieceState::leaving || piece.state == PieceState::coming) moved_.wait(lock);
}

BoundedMemory::Ahead BoundedMemory::Block::go_on(Walk& walk, std::ptrdiff_t page, std::ptrdiff_t most) {
  const std::ptrdiff_t piece = page / piece_pages, end = std::ssize(pieces);
  const std::ptrdiff_t reach = std::clamp<std::ptrdiff_t>(piece + walk.step * most, 0, end - 1);
  const std::ptrdiff_t first = walk.reach + walk.step, count = (reach - walk.reach) * walk.step;
  walk.page = page;
  if (count > 0) walk.reach = reach;
  return {first, walk.step, std::max<std::ptrdiff_t>(0, count)};
}

std::optional<BoundedMemory::Ahead> BoundedMemory::Block::walk_to(std::ptrdiff_t page, std::ptrdiff_t most) {
  const std::ptrdiff_t piece = page / piece_pages;
  for (Walk& walk : walks_) {
    if (walk.step == 0 && (page == walk.page + 1 || page == walk.page - 1)) {
      walk.step = page - walk.page;
      walk.reach = piece;
      return go_on(walk, page, most);
    }
    const bool goes_up = walk.step == 1 && page > walk.page && piece <= walk.reach + 1 && page % piece_pages == 0;
    const bool goes_down =
        walk.step == -1 && page < walk.page && piece >= walk.reach - 1 && (page + 1) % piece_pages == 0;
    if (goes_up || goes_down) return go_on(walk, page, most);
  }
  walks_[next_walk_++ % walks_.size()] = {.step = 0, .page = page, .reach = piece};
  return std::nullopt;
}

BoundedMemory::Ahead BoundedMemory::Block::walk_to_piece(std::ptrdiff_t piece, std::ptrdiff_t most) {
  for (Walk& walk : walks_) {
    const std::ptrdiff_t from = walk.page / piece_pages;
    const bool is_near = walk.step == 0
                             ? piece == from + 1 || piece == from - 1
                             : (piece - from) * walk.step > 0 && (walk.reach + walk.step - piece) * walk.step >= 0;
    if (walk.page < 0 || !is_near) continue;
    if (walk.step == 0) walk.step = piece - from;
    if ((piece - walk.reach) * walk.step > 0) walk.reach = piece;
    return go_on(walk, piece * piece_pages, most);
  }
  walks_[next_walk_++ % walks_.size()] = {.step = 0, .page = piece * piece_pages, .reach = piece};
  return {};
}

/// That they come is of use only if they stay until they are read.
std::ptrdiff_t BoundedMemory::most_ahead() const {
  constexpr std::size_t most = 8, share = 16;
  return static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(settings_.limit_bytes / piece_bytes / share, 1, most));
}

void BoundedMemory::want(Block& block, const Ahead& ahead) {
  for (std::ptrdiff_t i = 0; i < ahead.count; ++i) {
    Piece& piece = block.pieces[static_cast<std::size_t>(ahead.first + i * ahead.step)];
    if (piece.state != PieceState::away || piece.is_wanted) continue;
    piece.is_wanted = true;
    ++wanted_count_;
    wanted_->add(piece);
  }
  if (wanted_->oldest) to_do_.notify_all();
}

void BoundedMemory::forget_wanted(Piece& piece) {
  if (!piece.is_wanted) return;
  piece.is_wanted = false;
  --wanted_count_;
  wanted_->remove(piece);
}

// ---------------------------------------------------------------- movers

void BoundedMemory::start_movers() {
  constexpr int count = 2;  // one waits for the disk while another one sets pages up
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new threads inherit it: signals are for others
  for (int i = 0; i < count; ++i) movers_.emplace_back([this](const std::stop_token& stop) { move_pieces(stop); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// What is wanted comes; and where there is no room left, something goes before others wait for it.
void BoundedMemory::move_pieces(const std::stop_token& stop) {
  Lock lock(mutex_);
  for (;;) {
    to_do_.wait(lock, stop, [&] { return wanted_->oldest || lacks_room(); });
    if (stop.stop_requested()) return;
    if (wanted_->oldest)
      bring(lock, *wanted_->oldest);
    else
      send_away(lock, *next_to_go());
  }
}

bool BoundedMemory::lacks_room() const {
  const std::size_t spare = static_cast<std::size_t>(most_ahead()) * piece_bytes;
  return is_crowded_ && next_to_go() && taken() > settings_.limit_bytes - spare;
}

// ---------------------------------------------------------------- to the file and back

/// Between two calls others may have come: nothing that was looked at before holds any more.
void BoundedMemory::send_away(Lock& lock, Piece& piece) {
  order_of(piece).remove(piece);
  piece.state = PieceState::leaving;
  moving_bytes_ += piece.bytes;
  const bool is_in_file = piece.slot != SpillFile::no_slot;
  const std::int64_t begun_ns = steady_ns();
  if (!is_in_file) {
    ++leaving_;
    lock.unlock();
    const SpillFile::Slot slot = file_->take_slot();
    int error = mprotect(piece.address, piece.bytes, PROT_READ) == 0 ? 0 : errno;  // who writes now is told so
    if (error == 0) error = file_->write(slot, piece.address, piece.bytes);
    lock.lock();
    if (error != 0) end_for_disk(error, "written to");
    piece.slot = slot;
    --leaving_;
  }
  piece.state = PieceState::away;
  if (piece.is_lent)
    map({&piece, 0, piece.bytes});
  else
    conceal({&piece, 0, piece.bytes});
  used_bytes_ -= piece.bytes;
  moving_bytes_ -= piece.bytes;
  note_gone(*piece.block);
  (is_in_file ? counters_.dropped_bytes : counters_.bytes_out) += piece.bytes;
  ++traffic_[piece.block->name].evictions;
  if (!is_in_file)
    note_move(
        *piece.block,
        {.is_out = true, .start_ns = begun_ns, .end_ns = steady_ns(), .bytes = piece.bytes, .used_bytes = used_bytes_});
  moved_.notify_all();
}

/// Where there is no room it stays away.
void BoundedMemory::bring(Lock& lock, Piece& piece) {
  close_windows(piece);
  forget_wanted(piece);
  piece.state = PieceState::coming;
  void* pages = MAP_FAILED;
  if (make_room(lock, piece.bytes))
    pages = mmap(nullptr, piece.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    piece.state = PieceState::away;
    return moved_.notify_all();
  }
  add(piece.bytes);
  moving_bytes_ += piece.bytes;
  counters_.bytes_in += piece.bytes;
  const std::int64_t begun_ns = steady_ns();
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
  note_move(
      *piece.block,
      {.is_out = false, .start_ns = begun_ns, .end_ns = steady_ns(), .bytes = piece.bytes, .used_bytes = used_bytes_});
  moving_bytes_ -= piece.bytes;
  order_of(piece).add(piece);
  moved_.notify_all();
}

// ---------------------------------------------------------------- read or written in the file

std::size_t BoundedMemory::counted_windows() const {
  return windows_bytes_ > window_bytes ? windows_bytes_ - window_bytes : 0;
}

void BoundedMemory::open_window(const Window& window, std::size_t most_bytes) {
  if (window.bytes == window.piece->bytes) close_windows(*window.piece);
  while (window_count_ == most_windows || (windows_bytes_ != 0 && windows_bytes_ + window.bytes > most_bytes))
    close_oldest_window();
  map(window);
  ++window.piece->windows;
  windows_[(first_window_ + window_count_++) % most_windows] = window;
  windows_bytes_ += window.bytes;
  counters_.window_bytes += window.bytes;
  add(0);
}

void BoundedMemory::close_oldest_window() {
  const Window window = windows_[first_window_];
  first_window_ = (first_window_ + 1) % most_windows;
  --window_count_;
  if (!window.piece) return;
  conceal(window);
  --window.piece->windows;
  windows_bytes_ -= window.bytes;
}

void BoundedMemory::close_windows(Piece& piece) {
  for (std::size_t i = 0; i < window_count_ && piece.windows != 0; ++i) {
    Window& window = windows_[(first_window_ + i) % most_windows];
    if (window.piece != &piece) continue;
    conceal(window);
    --piece.windows;
    windows_bytes_ -= window.bytes;
    window.piece = nullptr;
  }
}

/// The system keeps what has been written there.
void BoundedMemory::map(const Window& window) {
  const Piece& piece = *window.piece;
  const bool writes = piece.state == PieceState::in_file;
  if (const int error =
          file_->map(piece.slot, window.first_byte, piece.address + window.first_byte, window.bytes, writes))
    end_for_disk(error, "read from");
}

/// There are addresses only. Not by mmap(): see SpillFile::map().
void BoundedMemory::conceal(const Window& window) {
  if (syscall(SYS_mmap, window.piece->address + window.first_byte, window.bytes, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == -1)
    end_for_disk(errno, "written to");
}

// ---------------------------------------------------------------- what somebody has touched

bool BoundedMemory::serve(std::byte* address, bool is_write) {
  BoundedMemory* const memory = serving_.load(std::memory_order_acquire);
  if (!memory) return false;
  Lock lock(memory->mutex_);
  const auto after = memory->blocks_.upper_bound(address);
  if (after == memory->blocks_.begin()) return false;
  Block& block = *std::prev(after)->second;
  const auto offset = static_cast<std::size_t>(address - block.address);
  const Piece& last = block.pieces.back();
  return address < last.address + last.bytes && memory->serve(lock, block, offset, is_write);
}

/// @return true: the thread is to try again. It comes back if others were faster meanwhile.
bool BoundedMemory::serve(Lock& lock, Block& block, std::size_t offset, bool is_write) {
  Piece& piece = block.pieces[offset / piece_bytes];
  std::optional<Ahead> ahead;
  if (piece.state != PieceState::bare && piece.state != PieceState::open && piece.state != PieceState::kept)
    ahead = block.walk_to(static_cast<std::ptrdiff_t>(offset / SpillFile::page_bytes), most_ahead());
  if (ahead) want(block, *ahead);
  await_moved(lock, piece);
  const bool is_in_file = piece.state == PieceState::in_file || piece.state == PieceState::away;
  if (is_in_file && !piece.is_lent) {
    if (piece.state == PieceState::away) {
      if (is_write) return false;
      if (ahead) bring(lock, piece);
      if (piece.state != PieceState::away) return true;
    }
    const std::size_t page = offset % piece_bytes / SpillFile::page_bytes * SpillFile::page_bytes;
    const Window window = ahead ? Window{&piece, 0, piece.bytes} : Window{&piece, page, SpillFile::page_bytes};
    const bool has_room = windows_bytes_ + window.bytes <= window_bytes || make_room(lock, window.bytes);
    const std::size_t most = std::clamp(settings_.limit_bytes / 8 * 7, window_bytes, most_windows_bytes);
    if (piece.state == PieceState::in_file || piece.state == PieceState::away)
      open_window(window, has_room ? most : window_bytes);
    return true;
  }
  if (piece.state == PieceState::bare) begin(lock, piece);
  return !is_write || piece.state == PieceState::open || piece.state == PieceState::in_file;
}

}  // namespace raddle::vm
