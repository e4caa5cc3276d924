#include "vm/interpret/deep_wait.hpp"

#include "vm/value/borrow.hpp"

namespace raddle::vm {

namespace {

bool is_plain(const Future& future) { return future.is_resolved() && future.kind() < ValueKind::array; }

}  // namespace

Depth depth_of(const Future& future, AwaitMode mode) {
  if (!future.is_resolved()) return Depth::unset;
  if (is_plain(future)) return Depth::set;
  if (future.is_failed()) return Depth::failed;
  if (const Future* closing = closing_of(future)) {
    if (!closing->is_resolved()) return Depth::unset;
    if (closing->is_failed()) return Depth::failed;
  }
  Depth depth = Depth::set;
  for_each_inner(future, mode, [&depth, mode](Future& inner) {
    if (depth == Depth::unset || is_plain(inner)) return;
    const Depth own = depth_of(inner, mode);
    if (own != Depth::set) depth = own;
  });
  return depth;
}

bool DeepWait::advance() {
  while (!todo_.empty()) {
    Future& future = *todo_.back();
    if (!future.is_resolved()) {
      if (future.enlist(*this)) return true;
      continue;
    }
    Future* closing = closing_of(future);
    if (closing && !closing->is_resolved()) {
      if (closing->enlist(*this)) return true;
      continue;
    }
    todo_.pop_back();
    for_each_inner(future, mode_, [this](Future& inner) {
      if (!is_plain(inner)) todo_.push_back(&inner);
    });
  }
  return false;
}

}  // namespace raddle::vm
