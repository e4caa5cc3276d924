#include "compiler/tool/space/cursor.hpp"

#include <algorithm>

namespace raddle::sweep {
namespace {

constexpr std::size_t largest_block = 1024;  // that the filter is asked about at once; the first ones are small

}  // namespace

Cursor::Cursor(const Space& space, const CursorOptions& options) : space_(space), options_(options) {
  if (!options.numbers.empty()) {
    size_ = options.numbers.size();
  } else if (options.shard <= space.size()) {
    size_ = (space.size() - options.shard) / options.shard_count + 1;
  }
  if (options.order_seed) order_.emplace(size_, *options.order_seed);
}

std::uint64_t Cursor::number_at(std::uint64_t position) const {
  if (order_) position = order_->at(position);
  return options_.numbers.empty() ? position * options_.shard_count + options_.shard : options_.numbers[position];
}

std::optional<Point> Cursor::next() {
  const std::optional<std::uint64_t> number = next_number();
  if (!number) return std::nullopt;
  return space_.point(*number);
}

std::optional<std::uint64_t> Cursor::next_number() {
  if (!options_.filter) {
    if (position_ == size_) return std::nullopt;
    return number_at(position_++);
  }
  while (kept_.empty() && position_ < size_ && error_.empty()) refill();
  if (kept_.empty()) return std::nullopt;
  const std::uint64_t number = kept_.front();
  kept_.pop_front();
  return number;
}

void Cursor::refill() {
  std::vector<Point> block;
  for (; block.size() < block_size_ && position_ < size_; ++position_)
    block.push_back(space_.point(number_at(position_)));
  block_size_ = std::min(block_size_ * 2, largest_block);
  const auto keep = options_.filter(block);
  if (!keep) {
    error_ = keep.error();
    return;
  }
  for (std::size_t i = 0; i < block.size(); ++i)
    if ((*keep)[i]) kept_.push_back(block[i].number);
}

}  // namespace raddle::sweep
