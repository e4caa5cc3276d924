#include "vm/transfer/fuse_transfers.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <utility>

namespace raddle::vm {

namespace {

bool have_common_slot(const Transfer& left, const Transfer& right) {
  return std::max(left.earliest, right.earliest) <= std::min(left.latest, right.latest);
}

/// Data that are connected by common slots, one order for each such component.
class Paths {
 public:
  explicit Paths(std::span<const Transfer> transfers) : left_(transfers.begin(), transfers.end()) {
    left_.sort([](const Transfer& one, const Transfer& other) { return one.data < other.data; });
  }
  /// @return empty: there are no more
  std::vector<Transfer> next() {
    std::vector<Transfer> path;
    if (!left_.empty()) visit(first(), path);
    return path;
  }

 private:
  using Left = std::list<Transfer>;
  Left::iterator first() {
    auto found = left_.begin();
    for (auto other = left_.begin(); other != left_.end(); ++other)
      if (other->latest <= found->latest) found = other;
    return found;
  }
  /// All that can be reached from it, in depth; a stack of our own, as components are as long as the window.
  void visit(Left::iterator start, std::vector<Transfer>& path) {
    std::vector<Transfer> stack;
    for (auto next = start; !stack.empty() || next != left_.end();) {
      if (next == left_.end()) {
        stack.pop_back();
      } else {
        path.push_back(*next);
        stack.push_back(*next);
        left_.erase(next);
      }
      next = stack.empty() ? left_.end() : std::ranges::find_if(left_, [&](const Transfer& other) {
        return have_common_slot(stack.back(), other);
      });
    }
  }

  Left left_;  ///< by datum
};

/// The datum at `i` goes with the one behind it rather than with the message before.
bool belongs_to_next(std::span<const Transfer> path, std::size_t i, std::uint32_t latest_of_message) {
  return i + 1 < path.size() && path[i + 1].latest == path[i].latest && path[i].latest != latest_of_message &&
         have_common_slot(path[i], path[i + 1]);
}

void emit(std::span<const Transfer> path, Emission emission, std::vector<Message>& messages) {
  for (std::size_t i = 0; i < path.size();) {
    Transfer common = path[i];
    Message message{.slot = 0, .data = {path[i].data}};
    for (++i; i < path.size() && have_common_slot(common, path[i]); ++i) {
      if (emission == Emission::tight && belongs_to_next(path, i, common.latest)) break;
      common.earliest = std::max(common.earliest, path[i].earliest);
      common.latest = std::min(common.latest, path[i].latest);
      message.data.push_back(path[i].data);
    }
    message.slot = common.latest;
    messages.push_back(std::move(message));
  }
}

}  // namespace

std::vector<Message> fuse_transfers(std::span<const Transfer> transfers) {
  std::vector<Transfer> by_end(transfers.begin(), transfers.end());
  std::ranges::sort(by_end, {}, [](const Transfer& transfer) { return std::pair(transfer.latest, transfer.data); });
  std::vector<Message> messages;
  for (const Transfer& transfer : by_end)
    if (messages.empty() || messages.back().slot < transfer.earliest)
      messages.push_back({.slot = transfer.latest, .data = {}});
  for (const Transfer& transfer : by_end) {
    const auto behind = std::ranges::upper_bound(messages, transfer.latest, {}, &Message::slot);
    std::prev(behind)->data.push_back(transfer.data);
  }
  return messages;
}

std::vector<Message> fuse_along_paths(std::span<const Transfer> transfers, Emission emission) {
  std::vector<Message> messages;
  Paths paths(transfers);
  for (std::vector<Transfer> path = paths.next(); !path.empty(); path = paths.next()) emit(path, emission, messages);
  return messages;
}

}  // namespace raddle::vm
