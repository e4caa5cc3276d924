#include "vm/external/program_queue.hpp"

#include <utility>

namespace raddle::vm {

void ProgramQueue::add(WaitingProgram program) {
  const std::int64_t priority = program.request.priority;
  waiting_.emplace(priority, std::move(program));
}

bool ProgramQueue::can_start() const {
  if (waiting_.empty()) return false;
  if (running_ == 0) return true;
  const ProcessRequest& first = waiting_.begin()->second.request;
  return !is_short_ && running_ < budget_.programs && first.cores <= budget_.cores - cores_used_ &&
         first.memory_bytes <= budget_.memory_bytes - memory_used_;
}

ProgramQueue::Taken ProgramQueue::take() {
  auto first = waiting_.extract(waiting_.begin());
  const ProcessRequest& request = first.mapped().request;
  const Place place{take_slot(), is_short_, request.cores, request.memory_bytes};
  ++running_;
  cores_used_ += place.cores;
  memory_used_ += place.memory_bytes;
  return {std::move(first.mapped()), place};
}

unsigned ProgramQueue::take_slot() {
  if (free_slots_.empty()) return ++slots_;
  const unsigned lowest = free_slots_.top();
  free_slots_.pop();
  return lowest;
}

void ProgramQueue::release(const Place& place) {
  free_slots_.push(place.slot);
  --running_;
  cores_used_ -= place.cores;
  memory_used_ = running_ == 0 ? 0 : memory_used_ - place.memory_bytes;
}

void ProgramQueue::put_back(WaitingProgram program) {
  is_short_ = true;
  const std::int64_t priority = program.request.priority;
  waiting_.emplace_hint(waiting_.lower_bound(priority), priority, std::move(program));
}

}  // namespace raddle::vm
