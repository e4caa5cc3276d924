#pragma once
// Transfers of one direction in as few messages as can be.
#include <cstdint>
#include <span>
#include <vector>

#include "vm/transfer/launch_window.hpp"

namespace raddle::vm {

/// Data that are moved together, in the order in which they lie in memory on both sides.
struct Message {
  std::uint32_t slot = 0;
  std::vector<DataId> data;
};

/// The fewest messages. As each datum is moved once, and the order in memory is free as long as nobody has taken the
/// memory, any data whose slots have one in common may be moved together: so these are the fewest slots that meet all
/// intervals, which are found by their ends. Each datum goes with the last message that it may.
/// @param transfers  all uploads, or all downloads  @return by slot
std::vector<Message> fuse_transfers(std::span<const Transfer> transfers);

enum class Emission : std::uint8_t {
  greedy,  ///< a message takes what follows as long as there is a slot in common
  tight,   ///< leaves the next datum to one that follows it and is as urgent: such uploads take memory later
};

/// The published heuristic, which never needs fewer messages: one order of memory for all data that are connected by
/// common slots, a walk through them in depth, which is cut into messages.
/// Source: Kessler 2019. Where its slides leave it open: a walk begins with the least latest slot, of equal ones with
/// the last datum; neighbours are taken as data are numbered
std::vector<Message> fuse_along_paths(std::span<const Transfer> transfers, Emission emission);

}  // namespace raddle::vm
