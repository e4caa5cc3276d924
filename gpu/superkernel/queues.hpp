#pragma once
// The queues of a super kernel, and what its warps do. One source for host threads and NVPTX; accesses.def says in
// which order it is read and written, and why.
//
//   host threads > ring in host memory > ingest warp > slots in device memory > worker warps > completions in host
//   memory
//
// An entry of the ring, and a slot, hold the lap of their position and the number of a descriptor: so who looks finds
// both whether it is there and what it is, in one read over PCIe for up to 32 tasks, and no count goes to the device or
// back. Ingest reads no descriptors: one read over PCIe after the other would hold it up.
// A task that k warps share has k entries. Warps take chunks of its points; the last of them to end completes it.
#include "gpu/superkernel/accesses.hpp"
#include "gpu/superkernel/warp.hpp"

namespace raddle::gpu::superkernel {

/// Points of one task. The host's until its number is in the ring, then the device's until its completion is read.
struct alignas(64) Descriptor {
  uint64_t function;  ///< what the dispatch knows it by
  uint64_t words;     ///< address of its arguments, in memory that the device reads
  uint64_t count;     ///< points
  uint64_t chunk;     ///< points that a warp takes at a time
  uint64_t shares;    ///< entries in the ring, that is, warps
  uint64_t unused[3];
};

/// Of a task in work. Before and after: as here.
struct alignas(32) Progress {
  uint64_t cursor = 0;            ///< chunks that were taken
  uint64_t done = 0;              ///< shares that have ended
  uint64_t least = ~uint64_t{0};  ///< number of a point that does not end well
  uint64_t unused = 0;
};

/// What one launch leaves to the next: written by ingest, plainly.
struct Place {
  uint64_t entry, position;  ///< the next one in the ring, in the slots
};

inline constexpr uint64_t no_failure = (uint64_t{1} << 63) - 1;  ///< in a completion

/// Addresses as the device sees them. Sizes are powers of two, given by their logarithms.
struct Queues {
  // host memory
  const uint64_t* ring;
  const uint64_t* stop;  ///< the launch with this number, and those before it, are to end
  uint64_t* beat;        ///< grows as long as ingest runs
  uint64_t* ended;       ///< number of the launch that reads the ring no more
  const Descriptor* descriptors;
  uint64_t* completions;  ///< pairs: lap's last bit and least point that does not end well; lap and descriptor
  // device memory
  uint64_t* slots;  ///< 0: empty
  uint64_t* ticket;
  uint64_t* completion_ticket;
  Progress* progress;  ///< by descriptor
  Place* place;
  // of this launch
  uint64_t launch;   ///< its number, from 1 on
  uint64_t idle_ns;  ///< with nothing to do for so long it ends by itself
  uint32_t workers;  ///< warps beside ingest
  uint32_t ring_log2, slots_log2, descriptors_log2;
};

inline constexpr uint64_t poison = 0xffffffff;  ///< in place of a descriptor

/// Laps have 31 bits, in which they begin anew, below one that is always set: an empty slot has none.
constexpr uint64_t lap_at(uint64_t position, unsigned size_log2) {
  return (((position >> size_log2) + 1) & 0x7fffffff) | 0x80000000;
}
constexpr uint64_t word_at(uint64_t position, unsigned size_log2, uint64_t what) {
  return lap_at(position, size_log2) << 32 | what;
}
constexpr uint64_t what_of(uint64_t word) { return word & 0xffffffff; }
template <typename T>
constexpr T* place_of(T* first, uint64_t position, unsigned size_log2) {
  return first + (position & ((uint64_t{1} << size_log2) - 1));
}

/// The ingest warp: takes what is in the ring as long as there are slots, until it is to end, or nothing has been under
/// way for some time.
inline void ingest(const Queues& queues, const Warp& warp) {
  constexpr unsigned rounds_of_beat = 1024;
  Place next = *queues.place;
  uint64_t beats = 0, idle_since = 0;
  unsigned rounds = 0;
  Lanes<uint64_t> entries;
  Pause pause;
  const auto is_free = [&](uint64_t position) {
    return load<Access::slot_looked_at>(place_of(queues.slots, position, queues.slots_log2)) == 0 ||
           is_left_out(Step::slot_is_empty);
  };
  const auto fill = [&](uint64_t position, uint64_t what) {
    store<Access::slot_filled>(place_of(queues.slots, position, queues.slots_log2),
                               word_at(position, queues.slots_log2, what));
  };
  const auto beat = [&] { store<Access::beat_written>(queues.beat, queues.launch << 40 | ++beats); };
  const auto is_to_end = [&] { return load<Access::stop_read>(queues.stop) >= queues.launch; };
  const auto all_wait = [&] {
    return load<Access::ticket_read>(queues.ticket) == next.position + queues.workers ||
           is_left_out(Step::all_workers_wait);
  };
  while (true) {
    const unsigned count = warp.leading([&](unsigned lane) {
      if (lane >> queues.slots_log2 != 0 || !is_free(next.position + lane)) return false;
      const uint64_t* const entry = place_of(queues.ring, next.entry + lane, queues.ring_log2);
      entries[lane] = load<Access::entry_read>(entry);
      if (is_left_out(Step::lap_of_entry) ? entries[lane] == 0
                                          : entries[lane] >> 32 != lap_at(next.entry + lane, queues.ring_log2))
        return false;
      own_to_read(entry);
      return true;
    });
    warp.each([&](unsigned lane) {
      if (lane < count) fill(next.position + lane, what_of(entries[lane]));
    });
    next.entry += count;
    next.position += count;
    if (count != 0) {
      pause.begin_anew();
      idle_since = 0;
      if (++rounds % rounds_of_beat != 0 || warp.first([&] { return beat(), uint64_t{is_to_end()}; }) == 0) continue;
      break;
    }
    const uint64_t ends = warp.first([&]() -> uint64_t {
      beat();
      if (is_to_end()) return 1;
      if (!all_wait()) return idle_since = 0;
      const uint64_t now = now_ns();
      if (idle_since == 0) idle_since = now;
      return now - idle_since >= queues.idle_ns;
    });
    if (ends != 0) break;
    pause.wait();
  }
  warp.first([&]() -> uint64_t {
    store<Access::ended_written>(queues.ended, queues.launch);
    const uint64_t last = next.position + queues.workers - is_left_out(Step::poison_for_each);
    for (; next.position < last; ++next.position) {
      for (; !is_free(next.position); pause.wait()) beat();
      fill(next.position, poison);
    }
    if (!is_left_out(Step::place_is_kept)) *queues.place = next;
    return 0;
  });
}

/// One worker warp, until it takes poison.
/// @param dispatch  (function, words, first, step, end): computes the points first, first + step, ... below end
///                  @return the number of the first one that does not end well, behind which it computes none; else
///                  `end` or more
template <typename Dispatch>
inline void work(const Queues& queues, const Warp& warp, const Dispatch& dispatch) {
  while (true) {
    const uint64_t what = warp.first([&] {
      const uint64_t ticket = add<Access::ticket_added>(queues.ticket, 1), lap = lap_at(ticket, queues.slots_log2);
      uint64_t* const slot = place_of(queues.slots, ticket, queues.slots_log2);
      Pause pause;
      while (is_left_out(Step::lap_of_slot) ? load<Access::slot_looked_at>(slot) == 0
                                            : load<Access::slot_looked_at>(slot) >> 32 != lap)
        pause.wait();
      const uint64_t taken = what_of(load<Access::slot_taken>(slot));
      store<Access::slot_emptied>(slot, 0);
      return taken;
    });
    if (what == poison) return;
    const Descriptor task = queues.descriptors[what];
    Progress& progress = queues.progress[what];
    const auto* const words = reinterpret_cast<const int64_t*>(task.words);
    while (true) {
      const uint64_t begin = warp.first([&] { return add<Access::cursor_added>(&progress.cursor, 1); }) * task.chunk;
      if (begin >= task.count) break;
      const uint64_t end = begin + task.chunk < task.count ? begin + task.chunk : task.count;
      warp.each([&](unsigned lane) {
        if (begin + lane >= end) return;
        const uint64_t made = dispatch(task.function, words, begin + lane, uint64_t{lane_count}, end);
        if (made < end) lower<Access::least_lowered>(&progress.least, made);
      });
      if (task.shares == 1 && end == task.count) break;
    }
    warp.meet();
    warp.first([&]() -> uint64_t {
      const uint64_t shares = is_left_out(Step::last_of_shares) ? 1 : task.shares;
      if (task.shares != 1 && add<Access::done_added>(&progress.done, 1) + 1 != shares) return 0;
      const uint64_t least = load<Access::least_read>(&progress.least);
      store<Access::progress_reset>(&progress.cursor, 0);
      store<Access::progress_reset>(&progress.done, 0);
      store<Access::progress_reset>(&progress.least, ~uint64_t{0});
      const uint64_t ticket = add<Access::completion_ticket_added>(queues.completion_ticket, 1);
      uint64_t* const pair = queues.completions + 2 * (ticket & ((uint64_t{1} << queues.descriptors_log2) - 1));
      const uint64_t word = word_at(ticket, queues.descriptors_log2, what);
      own_to_write(pair);
      store_pair<Access::completion_written>(pair, (word >> 32) << 63 | (least & no_failure), word);
      return 0;
    });
  }
}

}  // namespace raddle::gpu::superkernel
