// What goes first, and what is told of it, where somebody knows which blocks will be read.
#include <algorithm>
#include <array>
#include <utility>

#include "vm/memory/memory_pieces.hpp"

namespace raddle::vm {

bool BoundedMemory::begin_watch(Watch& watch, Block& block, std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  block.watch = &watch;
  block.number = number;
  if (watch.went.capacity() < ++watch.count) watch.went.reserve(2 * watch.count);
  return std::ranges::all_of(block.pieces, [](const Piece& piece) {
    return piece.state == PieceState::kept || piece.state == PieceState::open || piece.state == PieceState::coming;
  });
}

void BoundedMemory::end_watch(Block& block) {
  const std::lock_guard lock(mutex_);
  forget_watch(block);
  for (Piece& piece : block.pieces) set_spare(piece, true);
}

void BoundedMemory::forget_watch(Block& block) {
  Watch* const watch = std::exchange(block.watch, nullptr);
  --watch->count;
  if (std::exchange(block.is_noted, false)) std::erase(watch->went, &block);
}

std::vector<std::uint32_t> BoundedMemory::went(Watch& watch) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> numbers;
  for (Block* const block : watch.went) {
    block->is_noted = false;
    numbers.push_back(block->number);
  }
  watch.went.clear();
  return numbers;
}

std::vector<std::uint32_t> BoundedMemory::given_back(Watch& watch) {
  const std::lock_guard lock(mutex_);
  return std::exchange(watch.given_back, {});
}

void BoundedMemory::note_gone(Block& block) {
  if (!block.watch || block.is_noted) return;
  block.is_noted = true;
  block.watch->went.push_back(&block);
}

void BoundedMemory::keep(Block& block) {
  const std::lock_guard lock(mutex_);
  for (Piece& piece : block.pieces) {
    set_spare(piece, false);
    if (piece.state != PieceState::kept) continue;
    kept_->remove(piece);
    kept_->add(piece);
  }
}

void BoundedMemory::spare(Block& block) {
  const std::lock_guard lock(mutex_);
  for (Piece& piece : block.pieces) {
    forget_wanted(piece);
    set_spare(piece, true);
  }
}

void BoundedMemory::fetch(Block& block) {
  const std::lock_guard lock(mutex_);
  want(block, {.first = 0, .step = 1, .count = std::ssize(block.pieces)});
}

std::size_t BoundedMemory::room_bytes() const {
  const std::lock_guard lock(mutex_);
  const std::size_t others = taken() - kept_->bytes - spare_->bytes - moving_bytes_;
  const std::size_t ahead =
      static_cast<std::size_t>(most_ahead() + 1) * piece_bytes;  // movers keep nearly as much free
  return settings_.limit_bytes - std::min(settings_.limit_bytes, others + ahead);
}

void BoundedMemory::set_name(Block& block, std::uint32_t name) {
  const std::lock_guard lock(mutex_);
  if (traffic_.size() <= name) traffic_.resize(name + 1);
  block.name = name;
}

void BoundedMemory::keep_moves(std::size_t most) {
  const std::lock_guard lock(mutex_);
  moves_.reserve(most);
}

/// Two one after the other that go the same way become one.
static void join_moves(std::vector<BoundedMemory::Move>& moves) {
  std::array<BoundedMemory::Move*, 2> alone{};
  std::size_t kept = 0;
  for (const BoundedMemory::Move& move : moves) {
    BoundedMemory::Move*& before = alone[move.is_out ? 1 : 0];
    if (before == nullptr) {
      before = &(moves[kept++] = move);
      continue;
    }
    before->end_ns = std::max(before->end_ns, move.end_ns);
    before->bytes += move.bytes;
    before->used_bytes = std::max(before->used_bytes, move.used_bytes);
    before = nullptr;
  }
  moves.resize(kept);
}

/// What left memory without being written is no move.
void BoundedMemory::note_move(const Block& block, const Move& move) {
  Traffic& traffic = traffic_[block.name];
  (move.is_out ? traffic.write_backs : traffic.loads) += 1;
  (move.is_out ? traffic.bytes_out : traffic.bytes_in) += move.bytes;
  if (moves_.capacity() == 0) return;
  if (moves_.size() == moves_.capacity()) join_moves(moves_);
  moves_.push_back(move);
}

std::vector<BoundedMemory::Traffic> BoundedMemory::traffic_by_name() const {
  const std::lock_guard lock(mutex_);
  return traffic_;
}

std::vector<BoundedMemory::Move> BoundedMemory::moves() const {
  const std::lock_guard lock(mutex_);
  return moves_;
}

BoundedMemory::Piece* BoundedMemory::next_to_go() const { return spare_->oldest ? spare_->oldest : kept_->oldest; }

BoundedMemory::Order& BoundedMemory::order_of(const Piece& piece) { return piece.is_spare ? *spare_ : *kept_; }

void BoundedMemory::set_spare(Piece& piece, bool is_spare) {
  if (piece.is_spare == is_spare) return;
  if (piece.state == PieceState::kept) order_of(piece).remove(piece);
  piece.is_spare = is_spare;
  if (piece.state == PieceState::kept) order_of(piece).add(piece);
}

}  // namespace raddle::vm
