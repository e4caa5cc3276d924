#include "vm/place/policy.hpp"

#include <algorithm>

#include "vm/place/darts.hpp"
#include "vm/place/eager.hpp"
#include "vm/place/local_queues.hpp"
#include "vm/place/model_queues.hpp"

namespace raddle::vm {

bool Policy::needs_first(DeviceId device, DataId data) const {
  const std::span<const TaskId> buffer = residency_.task_buffer(device);
  if (buffer.empty()) return false;
  const std::vector<DataId>& operands = task(buffer.front()).operands;
  return std::ranges::find(operands, data) != operands.end();
}

std::optional<DataId> Policy::victim(DeviceId device, LoadKind load) {
  for (DataId data = residency_.first_evictable(device); data != no_datum;
       data = residency_.next_evictable(device, data)) {
    const bool is_kept = load == LoadKind::demand ? needs_first(device, data) : residency_.is_requested(device, data);
    if (!is_kept) return data;
  }
  return std::nullopt;
}

namespace {

using Made = std::unique_ptr<Policy>;
using View = const PlacementView&;

constexpr PolicyName names[] = {
    {"eager", "tasks as they were released, to whoever asks",
     [](View view) -> Made { return std::make_unique<Eager>(view); }},
    {"lws", "to the device that has released them; idle devices steal",
     [](View view) -> Made { return std::make_unique<LocalQueues>(view); }},
    {"dmdar", "to where they end first; there the one that misses the fewest bytes",
     [](View view) -> Made { return std::make_unique<ModelQueues>(view, ModelQueues::Order::arrival); }},
    {"dmdas", "dmdar, among tasks of the highest priority, as StarPU does it",
     [](View view) -> Made { return std::make_unique<ModelQueues>(view, ModelQueues::Order::highest_only); }},
    {"dmdas-paper", "dmdar, of several the one of the highest priority, as the paper prints it",
     [](View view) -> Made { return std::make_unique<ModelQueues>(view, ModelQueues::Order::priority); }},
    {"darts", "data first: what frees most work for its transfer",
     [](View view) -> Made { return std::make_unique<Darts>(view, Candidates::Rank::ratio, Darts::Foresight::none); }},
    {"darts-count", "data first: what frees most tasks",
     [](View view) -> Made { return std::make_unique<Darts>(view, Candidates::Rank::count, Darts::Foresight::none); }},
    {"darts-order",
     "data first: what frees most tasks for its transfer; evicts first what no task will touch that is known, then "
     "what is "
     "touched last in the order of the program",
     [](View view) -> Made {
       return std::make_unique<Darts>(view, Candidates::Rank::time_per_task, Darts::Foresight::known_tasks);
     }},
};

}  // namespace

std::span<const PolicyName> policy_names() { return names; }

std::unique_ptr<Policy> make_policy(std::string_view name, const PlacementView& view) {
  const auto* const found = std::ranges::find(names, name, &PolicyName::name);
  return found == std::end(names) ? nullptr : found->make(view);
}

}  // namespace raddle::vm
